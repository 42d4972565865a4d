//! Slow and obvious transcriptions of the specifications: RFC 1808 section 4 on strings, step by step, and RFC 3986
//! section 5.2 with its input and output buffers. Tests compare the fast code with them.
//!
//! Deliberately absent: every shortcut. Comments mark where the interpretations A1, A4, A7, A8, A22 and A24 of
//! `crates/url/src/rfc1808.rs` apply.

/// RFC 1808 section 2.4.
#[derive(Clone, Default, Debug)]
struct Url1808 {
    scheme: Option<String>,
    net_loc: Option<String>,
    path: String,
    params: Option<String>,
    query: Option<String>,
    fragment: Option<String>,
}

fn parse1808(url: &str) -> Url1808 {
    let mut parsed = Url1808::default();
    let mut parse_string = url.to_owned();
    // 2.4.1
    if let Some((before, after)) = parse_string.clone().split_once('#') {
        parsed.fragment = Some(after.to_owned());
        parse_string = before.to_owned();
    }
    // 2.4.2
    if let Some((before, after)) = parse_string.clone().split_once(':') {
        let scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        if !before.is_empty() && before.chars().all(scheme) {
            parsed.scheme = Some(before.to_owned());
            parse_string = after.to_owned();
        }
    }
    // 2.4.3
    if let Some(after) = parse_string.clone().strip_prefix("//") {
        let end = after.find(['/', '?']).unwrap_or(after.len()); // A4
        parsed.net_loc = Some(after[..end].to_owned());
        parse_string = after[end..].to_owned();
    }
    // 2.4.4
    if let Some((before, after)) = parse_string.clone().split_once('?') {
        parsed.query = Some(after.to_owned());
        parse_string = before.to_owned();
    }
    // 2.4.5
    if let Some((before, after)) = parse_string.clone().split_once(';') {
        parsed.params = Some(after.to_owned());
        parse_string = before.to_owned();
    }
    // 2.4.6
    parsed.path = parse_string;
    parsed
}

fn is_written(component: &Option<String>) -> bool {
    component.as_ref().is_some_and(|text| !text.is_empty())
}

/// RFC 1808 section 4; `None` if the base is unusable (A22).
pub(crate) fn rfc1808(base_url: &str, embedded_url: &str) -> Option<String> {
    let base = parse1808(base_url);
    let mut url = parse1808(embedded_url);
    // Step 2b comes first, because an absolute URL needs no base.
    if url.scheme.is_some() {
        return Some(embedded_url.to_owned());
    }
    // Step 1 and A22.
    let scheme = base.scheme.clone()?.to_ascii_lowercase();
    let without_relative_form = [
        "data",
        "javascript",
        "mailto",
        "news",
        "telnet",
        "cid",
        "mid",
        "about",
        "blob",
        "urn",
    ];
    if without_relative_form.contains(&scheme.as_str())
        || base_url.contains(['\t', '\n', '\r'])
        || base_url.ends_with(|last| last <= ' ')
        || (base.net_loc.is_none() && !base.path.is_empty() && !base.path.starts_with('/'))
    {
        return None;
    }
    // Step 2a.
    if embedded_url.is_empty() {
        return Some(base_url.to_owned());
    }
    // Step 2c.
    url.scheme = base.scheme;
    'step_7: {
        // Step 3.
        if is_written(&url.net_loc) {
            break 'step_7;
        }
        url.net_loc = base.net_loc;
        // Step 4.
        if url.path.starts_with('/') {
            break 'step_7;
        }
        // Step 5.
        if url.path.is_empty() {
            url.path = base.path;
            // Step 5a.
            if is_written(&url.params) {
                break 'step_7;
            }
            url.params = base.params;
            // Step 5b.
            if is_written(&url.query) {
                break 'step_7;
            }
            url.query = base.query;
            break 'step_7;
        }
        // Step 6. A8: a leading slash is not part of the path here.
        let (slash, base_path) = match base.path.strip_prefix('/') {
            Some(base_path) => ("/", base_path),
            None => ("", base.path.as_str()),
        };
        let keep = base_path.rfind('/').map_or(0, |at| at + 1);
        url.path = format!(
            "{slash}{}",
            step_6(&format!("{}{}", &base_path[..keep], url.path))
        );
    }
    // Step 7.
    let mut result = format!("{}:", url.scheme?);
    if let Some(net_loc) = &url.net_loc {
        result += &format!("//{net_loc}");
        if !url.path.is_empty() && !url.path.starts_with('/') {
            result += "/"; // A7
        }
    } else if url.path.starts_with("//") {
        result += "/."; // A24
    }
    result += &url.path;
    // A1: a component that is present but empty keeps its delimiter.
    if let Some(params) = url.params {
        result += &format!(";{params}");
    }
    if let Some(query) = url.query {
        result += &format!("?{query}");
    }
    if let Some(fragment) = url.fragment {
        result += &format!("#{fragment}");
    }
    Some(result)
}

/// Steps 6a to 6d, each as a change of the list of segments.
fn step_6(path: &str) -> String {
    let mut segments: Vec<&str> = path.split('/').collect();
    // a) All occurrences of "./", where "." is a complete path segment, are removed.
    while let Some(at) = segments[..segments.len() - 1]
        .iter()
        .position(|segment| *segment == ".")
    {
        segments.remove(at);
    }
    // b) If the path ends with "." as a complete path segment, that "." is removed.
    if segments.last() == Some(&".") {
        *segments.last_mut().unwrap() = "";
    }
    // c) All occurrences of "<segment>/../", where <segment> is a complete path segment not equal
    //    to "..", are removed, iteratively, the leftmost matching pattern on each iteration.
    while let Some(at) = (0..segments.len().saturating_sub(2))
        .find(|&at| segments[at] != ".." && segments[at + 1] == "..")
    {
        segments.drain(at..at + 2);
    }
    // d) If the path ends with "<segment>/..", where <segment> is a complete path segment not equal
    //    to "..", that "<segment>/.." is removed.
    if let [.., segment, ".."] = segments.as_slice()
        && *segment != ".."
    {
        segments.truncate(segments.len() - 2);
        segments.push("");
    }
    segments.join("/")
}

/// RFC 3986 appendix B.
#[derive(Clone, Default, Debug)]
struct Uri {
    scheme: Option<String>,
    authority: Option<String>,
    path: String,
    query: Option<String>,
    fragment: Option<String>,
}

fn parse3986(text: &str) -> Uri {
    let mut uri = Uri::default();
    let mut rest = text.to_owned();
    if let Some((before, after)) = rest.clone().split_once('#') {
        (rest, uri.fragment) = (before.to_owned(), Some(after.to_owned()));
    }
    if let Some((before, after)) = rest.clone().split_once('?') {
        (rest, uri.query) = (before.to_owned(), Some(after.to_owned()));
    }
    if let Some((before, after)) = rest.clone().split_once(':') {
        let scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        if before.starts_with(|c: char| c.is_ascii_alphabetic()) && before.chars().all(scheme) {
            (rest, uri.scheme) = (after.to_owned(), Some(before.to_owned()));
        }
    }
    if let Some(after) = rest.clone().strip_prefix("//") {
        let end = after.find('/').unwrap_or(after.len());
        (rest, uri.authority) = (after[end..].to_owned(), Some(after[..end].to_owned()));
    }
    uri.path = rest;
    uri
}

/// RFC 3986 section 5.2.2 and 5.3; `None` if the base is not an absolute URL, or contains characters that browsers
/// drop (A22).
pub(crate) fn rfc3986(base_url: &str, reference: &str) -> Option<String> {
    let base = parse3986(base_url);
    let r = parse3986(reference);
    let mut t = Uri::default();
    if r.scheme.is_some() {
        t.scheme = r.scheme;
        t.authority = r.authority;
        t.path = remove_dot_segments(&r.path);
        t.query = r.query;
    } else {
        base.scheme.as_ref()?;
        if base_url.contains(['\t', '\n', '\r']) || base_url.ends_with(|last| last <= ' ') {
            return None;
        }
        if r.authority.is_some() {
            t.authority = r.authority;
            t.path = remove_dot_segments(&r.path);
            t.query = r.query;
        } else {
            if r.path.is_empty() {
                t.path = base.path;
                t.query = if r.query.is_some() {
                    r.query
                } else {
                    base.query
                };
            } else {
                if r.path.starts_with('/') {
                    t.path = remove_dot_segments(&r.path);
                } else {
                    // 5.2.3
                    let merged = if base.authority.is_some() && base.path.is_empty() {
                        format!("/{}", r.path)
                    } else {
                        let keep = base.path.rfind('/').map_or(0, |at| at + 1);
                        format!("{}{}", &base.path[..keep], r.path)
                    };
                    t.path = remove_dot_segments(&merged);
                }
                t.query = r.query;
            }
            t.authority = base.authority;
        }
        t.scheme = base.scheme;
    }
    t.fragment = r.fragment;
    // 5.3
    let mut result = format!("{}:", t.scheme?);
    if let Some(authority) = &t.authority {
        result += &format!("//{authority}");
    } else if t.path.starts_with("//") {
        result += "/."; // A24
    }
    result += &t.path;
    if let Some(query) = t.query {
        result += &format!("?{query}");
    }
    if let Some(fragment) = t.fragment {
        result += &format!("#{fragment}");
    }
    Some(result)
}

/// RFC 3986 section 5.2.4.
fn remove_dot_segments(path: &str) -> String {
    // 1.
    let mut input = path.to_owned();
    let mut output = String::new();
    let remove_last_segment = |output: &mut String| {
        output.truncate(output.rfind('/').unwrap_or(0));
    };
    // 2.
    while !input.is_empty() {
        if input.starts_with("../") || input.starts_with("./") {
            // 2A.
            input = input[input.find('/').unwrap() + 1..].to_owned();
        } else if input.starts_with("/./") || input == "/." {
            // 2B.
            input = format!("/{}", input.get(3..).unwrap_or(""));
        } else if input.starts_with("/../") || input == "/.." {
            // 2C.
            input = format!("/{}", input.get(4..).unwrap_or(""));
            remove_last_segment(&mut output);
        } else if input == "." || input == ".." {
            // 2D.
            input.clear();
        } else {
            // 2E.
            let slash = usize::from(input.starts_with('/'));
            let end = input[slash..]
                .find('/')
                .map_or(input.len(), |at| at + slash);
            output += &input[..end];
            input = input[end..].to_owned();
        }
    }
    // 3.
    output
}
