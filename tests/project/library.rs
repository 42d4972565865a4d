//! The library as its documentation presents it: the public interface, and the programs in `examples/`.

use std::borrow::Cow;
use std::error::Error as _;
use std::io::{self, Cursor, ErrorKind as System, Read};
use std::ops::ControlFlow;
use std::path::Path;

use baselink::{
    Charset, Choice, Edits, ErrorKind, Groups, Messages, Outcome, Place, Reason, Rewriter, Span,
};
use baselink_text::format::Format;
use baselink_url::Resolver;

use crate::case_file::Case;
use crate::folder::files;

/// Two messages; the second has a base of its own. The body of the first begins with a quoted `From `.
const MAILBOX: &[u8] = b"From a@b Sat Jan  3 01:05:34 1996\nContent-Type: text/html\n\n>From <a href=x>\n\n\
    From c@d Sat Jan  3 01:05:34 1996\nBase: <URL:http://e/f/>\nContent-Type: text/html\n\n<a href=x>\n";

const REWRITTEN: &[u8] =
    b"From a@b Sat Jan  3 01:05:34 1996\nContent-Type: text/html\n\n>From <a href=http://a/x>\n\n\
    From c@d Sat Jan  3 01:05:34 1996\nBase: <URL:http://e/f/>\nContent-Type: text/html\n\n<a href=http://e/f/x>\n";

fn at(url: &str) -> Rewriter {
    Rewriter::builder().url(url).build().unwrap()
}

/// Checks a rewrite in memory and its proof, a rewrite of a stream, the edits, and the list of links.
fn check(rewriter: &Rewriter, input: &[u8], output: &[u8]) {
    let rewritten = rewriter.rewrite(input);
    assert_eq!(rewritten.verify(), Ok(()));
    let links = rewritten.report.links.len();
    assert_eq!(
        rewritten.into_output().escape_ascii().to_string(),
        output.escape_ascii().to_string()
    );
    let mut of_stream = Vec::new();
    let to_stream = rewriter.rewrite_to(input, &mut of_stream).unwrap();
    let (edits, counted) = rewriter.edits(input);
    for (out, totals) in [(of_stream, to_stream), (edits.apply(input), counted)] {
        assert_eq!(
            out.escape_ascii().to_string(),
            output.escape_ascii().to_string()
        );
        assert_eq!((totals.links(), totals.changed), (links, input != output));
    }
    let (mut visited, lines) = (Vec::new(), rewriter.rewrite(input).lines());
    rewriter.links(input, |found| {
        visited.push(((found.line, found.column), found.link.span));
        ControlFlow::Continue(())
    });
    assert_eq!(visited.len(), links);
    assert!(
        visited
            .iter()
            .all(|(place, span)| lines.place(span.start) == *place)
    );
}

#[test]
fn a_chosen_text_that_is_already_present_is_kept() {
    let choose = |choice: Choice| {
        let rewritten = at("http://a/").rewrite_links(b"<a href=x>", |_| choice.clone());
        let link = &rewritten.report.links[0];
        (link.outcome, link.reason)
    };
    assert_eq!(
        choose(Choice::Reference("x".into())),
        (Outcome::Left, Some(Reason::Chosen))
    );
    assert_eq!(
        choose(Choice::Reference("y".into())),
        (Outcome::Rewritten, None)
    );
    assert_eq!(choose(Choice::Kept), (Outcome::Left, Some(Reason::Kept)));
}

/// bug 362: the library read text first as no document, and said nothing.
#[test]
fn html_that_begins_with_text_is_rewritten_and_what_is_not_read_is_reported() {
    let rewriter = at("http://a/");
    for start in [
        "hello ",
        "&nbsp;",
        "\u{1f600}",
        "# Markdown\n\n",
        "From here ",
        "{} ",
    ] {
        let [input, output] = ["x", "http://a/x"].map(|link| format!("{start}<a href={link}>"));
        check(&rewriter, input.as_bytes(), output.as_bytes());
    }
    let feed =
        b"{\"version\": \"https://jsonfeed.org/version/1.1\", \"home_page_url\": \"<a href=x>\"}";
    for (bytes, sentence) in [
        (
            &b"a\0<a href=x>"[..],
            "the format is unknown, so no link was read",
        ),
        (
            b"%PDF-1.7 <a href=x>",
            "the format is unknown, so no link was read",
        ),
        (
            b"WARC/1.1\r\n",
            "a web archive holds many documents, and none was read",
        ),
        (
            b"filedesc://a.arc",
            "a web archive holds many documents, and none was read",
        ),
        (
            feed,
            "a JSON Feed is read only if the group 'manifest' is enabled",
        ),
    ] {
        check(&rewriter, bytes, bytes);
        let [found] = &rewriter.edits(bytes).1.diagnostics[..] else {
            panic!("{}", bytes.escape_ascii())
        };
        assert_eq!(
            (found.code.name(), &*found.message),
            ("format-unread", sentence)
        );
    }
    // Only a text has an encoding.
    let rewriter = Rewriter::builder().url("http://a/").charset(Charset::UTF_8);
    check(
        &rewriter.build().unwrap(),
        b"a\0<a href=x>",
        b"a\0<a href=http://a/x>",
    );
}

/// bug 363: the target of an absolute link was its reference under every resolver.
#[test]
fn a_target_of_the_url_standard_is_what_a_browser_serializes() {
    let page = "<a href='HTTP://A.example:80/b c'></a><a href='http://a.example'></a><a href='http://[bad'></a>\
        <a href='http://a.example/b'></a><a href='MAILTO:a@b'></a><a href='http://a.example/%7e?b|c'></a>";
    let targets = |rewriter: Rewriter| {
        let mut found = Vec::new();
        check(&rewriter, page.as_bytes(), page.as_bytes());
        rewriter.links(page.as_bytes(), |one| {
            found.push(one.link);
            ControlFlow::Continue(())
        });
        found
    };
    let expected = [
        Some("http://a.example/b%20c"),
        Some("http://a.example/"),
        None,
        Some("http://a.example/b"),
        Some("mailto:a@b"),
        Some("http://a.example/%7e?b|c"),
    ];
    for builder in [Rewriter::builder(), Rewriter::builder().url("http://a/")] {
        let found = targets(builder.clone().resolver(Resolver::Whatwg).build().unwrap());
        let shown: Vec<_> = found.iter().map(|link| link.target.as_deref()).collect();
        assert_eq!(shown, expected);
        assert_eq!(
            (found[2].outcome, found[2].reason),
            (Outcome::Left, Some(Reason::Unresolvable))
        );
        for link in targets(builder.build().unwrap()) {
            assert_eq!(link.target, Some(link.reference));
        }
    }
}

/// A `&`, a long tag or a decoded value leaves the fast path, with the same result.
#[test]
fn a_link_has_a_kind_and_the_text_of_rel() {
    let of = |page: &str, format: Format| {
        let rewriter = Rewriter::builder().url("http://a/").format(format).build();
        let mut found = Vec::new();
        rewriter.unwrap().links(page.as_bytes(), |one| {
            let rel = one.link.rel.as_deref().unwrap_or("-");
            found.push(format!("{} {rel}", one.link.kind));
            ControlFlow::Continue(())
        });
        found
    };
    for (tag, expected) in [
        ("<a href={} rel=next>", "document next"),
        ("<a REL='&quot;' href={}>", "document \""),
        (
            "<link rel=\"alternate stylesheet\" href={}>",
            "style alternate stylesheet",
        ),
        ("<link rel=ICON href={}>", "image ICON"),
        ("<link rel=modulepreload href={}>", "script modulepreload"),
        ("<link rel=canonical href={}>", "other canonical"),
        ("<link rel=preload imagesrcset='{}'>", "image preload"),
        ("<form rel=help action={}>", "document help"),
        ("<img rel=x src={}>", "image -"),
        ("<img srcset='{}'>", "image -"),
        ("<video poster={}>", "image -"),
        ("<source src={}>", "media -"),
        ("<source srcset='{}'>", "image -"),
        ("<script src={}></script>", "script -"),
        ("<iframe src={}></iframe>", "frame -"),
        ("<embed src={}>", "object -"),
        ("<p style='background:url({})'>", "other -"),
        ("<svg><image href={}></svg>", "image -"),
    ] {
        for reference in ["x", "&#120;", "x&lt"] {
            let page = tag.replace("{}", reference);
            assert_eq!(of(&page, Format::Html), [expected], "{page}");
        }
    }
    let feed = "<feed xmlns='http://www.w3.org/2005/Atom'><link rel='self' href='x'/><link href='y'/></feed>";
    assert_eq!(of(feed, Format::Xml), ["other self", "document -"]);
    let page = "<html xmlns='http://www.w3.org/1999/xhtml'><a rel='next' href='x'/></html>";
    assert_eq!(of(page, Format::Xhtml), ["document next"]);
}

#[test]
fn a_visit_of_links_ends_on_request() {
    let page = "<a href=x>".repeat(3);
    let mailbox = format!("From a\nContent-Type: text/html\n\n{page}\n\n").repeat(2);
    for (document, links) in [(&page, 3), (&mailbox, 6)] {
        let mut found = 0;
        let totals = at("http://a/").links(document.as_bytes(), |_| {
            found += 1;
            match found {
                2 => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            }
        });
        assert_eq!((found, totals.links()), (2, links));
    }
}

#[test]
fn a_string_gives_a_string() {
    let rewriter = at("http://a/\u{e9}/");
    assert!(matches!(
        rewriter.rewrite_str("<a href=mailto:b>"),
        Cow::Borrowed(_)
    ));
    assert_eq!(
        rewriter.rewrite_str("\u{e9} <a href=\u{e9}>"),
        "\u{e9} <a href=http://a/%C3%A9/\u{e9}>"
    );
    let error = rewriter.at("b").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Url);
    let error = io::Error::from(error);
    assert_eq!(
        (error.kind(), error.to_string().starts_with("'b'")),
        (System::InvalidInput, true)
    );
}

#[test]
fn messages_of_a_mailbox_are_read_one_by_one() {
    let messages: baselink::Result<Vec<_>> = Messages::new(MAILBOX).collect();
    let messages = messages.unwrap();
    assert_eq!(messages.len(), 2);
    assert!(messages[1].starts_with(b"Base: <URL:http://e/f/>"));
}

#[test]
fn links_of_a_mailbox_have_the_lines_of_the_mailbox() {
    let html = "Content-Type: text/html\n\n<a href=x>\n";
    let mailbox = format!("From a\n{html}\nFrom b\n{html}");
    let mut places = Vec::new();
    at("http://a/").links(mailbox.as_bytes(), |found| {
        places.push((found.line, found.column, found.link.span.start));
        ControlFlow::Continue(())
    });
    // Each message has five lines and 44 bytes. Its link is on the fourth line, after 40 bytes.
    assert_eq!(places, [(4, 9, 40), (9, 9, 84)]);
}

/// RFC 1808, 5.2, keeps a `..` above the root; RFC 3986, 5.4.2, removes it.
#[test]
fn the_totals_of_a_mailbox_are_sums() {
    let message = |html: &str| format!("From a\nContent-Type: text/html\n\n{html}\n\n");
    let first = "<a href=../g><a href=h>";
    let second = "<a href=../../i><a href=../j><a href=#k><a href=http://l/>";
    let mailbox = message(first) + &message(second);
    let rewriter = at("http://a/");
    let totals = [
        rewriter.edits(mailbox.as_bytes()).1,
        rewriter
            .rewrite_to(mailbox.as_bytes(), &mut Vec::new())
            .unwrap(),
        rewriter.links(mailbox.as_bytes(), |_| ControlFlow::Break(())),
    ];
    for totals in totals {
        let count = |outcome| totals.count(outcome);
        assert_eq!(
            (count(Outcome::Rewritten), count(Outcome::Absolute)),
            (5, 1)
        );
        assert_eq!(
            (totals.differing, totals.fragments, totals.entities),
            (3, 1, 2)
        );
    }
}

#[test]
fn formats_are_detected_by_the_first_bytes() {
    let rewriter = at("http://a/b/c");
    check(&rewriter, b"<a href=../d>", b"<a href=http://a/d>");
    check(
        &rewriter,
        b"@charset \"utf-8\"; p { background: url(d) }",
        b"@charset \"utf-8\"; p { background: url(http://a/b/d) }",
    );
    check(&rewriter, b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'><a href='d'/></svg>", b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'><a href='http://a/b/d'/></svg>");
    check(
        &rewriter,
        b"Subject: x\nContent-Type: text/html\n\n<a href=d>",
        b"Subject: x\nContent-Type: text/html\n\n<a href=http://a/b/d>",
    );
    check(&rewriter, b"no markup, href=d", b"no markup, href=d");
    check(&rewriter, b"", b"");
}

#[test]
fn a_mailbox_is_rewritten_message_by_message() {
    let rewriter = at("http://a/");
    check(&rewriter, MAILBOX, REWRITTEN);
    check(&rewriter, REWRITTEN, REWRITTEN);
    let rewritten = rewriter.rewrite(MAILBOX);
    for link in &rewritten.report.links {
        assert_eq!(&MAILBOX[link.span.range()], b"x");
    }
    let entities = rewritten.report.links.iter().map(|link| &*link.entity);
    assert!(entities.eq(["1", "2"]));
    assert_eq!(rewriter.base(MAILBOX).base.as_deref(), Some("http://a/"));
    // The proof fails for edits that do not belong to the messages.
    let mut wrong = rewritten;
    wrong.edits = Edits::default();
    assert!(!wrong.verify().unwrap_err().to_string().is_empty());
}

#[test]
fn a_choice_borrows_and_is_proven() {
    let mut targets = Vec::new();
    let rewritten = at("http://a/").rewrite_links(MAILBOX, |link| {
        targets.push(link.target.clone().unwrap());
        Choice::Reference(format!("/{}?a&b", targets.len()))
    });
    assert_eq!(rewritten.verify(), Ok(()));
    let output = String::from_utf8(rewritten.output()).unwrap();
    let expected = str::from_utf8(MAILBOX)
        .unwrap()
        .replacen("href=x", "href=/1?a&amp;b", 1)
        .replacen("href=x", "href=/2?a&amp;b", 1);
    assert_eq!(output, expected);
    // The proof fails if an edit is outside of the messages, or differs from the report.
    let mut outside = rewritten.clone();
    outside.edits = Edits::default();
    outside.edits.push(Span::new(0, 4), "from").unwrap();
    outside.edits.append(&rewritten.edits, 0).unwrap();
    assert!(outside.verify().is_err());
    let mut other = rewritten;
    other.report.links[1].reference = "y".into();
    other.report.links[1].written = Some("/3".into());
    assert!(other.verify().is_err());
    assert_eq!(targets, ["http://a/x", "http://e/f/x"]);
}

/// `base` of HTML does not scan the links; the report of `rewrite` does.
#[test]
fn the_base_is_that_of_the_report() {
    let mut compared = 0;
    let folders = ["css", "feed", "html", "http", "message", "svg", "xhtml"];
    let cases = folders.into_iter().flat_map(|folder| Case::all(folder, 1));
    let saves = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/saves");
    let documents = cases.flat_map(|case| case.sections).map(|(_, bytes)| bytes);
    for bytes in documents.chain(files(&saves).into_values()) {
        for rewriter in [at("http://a/b/c"), Rewriter::builder().build().unwrap()] {
            let reported = rewriter.rewrite(&bytes).report.entities.into_iter().next();
            let Some(reported) = reported else { continue };
            assert_eq!(rewriter.base(&bytes), reported.chain);
            compared += 1;
        }
    }
    assert!(compared > 500, "{compared}");
    for format in Format::ALL {
        let rewriter = Rewriter::builder()
            .url("http://a/b/c")
            .format(format)
            .build()
            .unwrap();
        assert_eq!(
            rewriter.base(b"").base.as_deref(),
            Some("http://a/b/c"),
            "{format:?}"
        );
    }
}

#[test]
fn unchanged_documents_are_not_copied() {
    let page = b"<a href=http://a/>";
    assert!(
        matches!(at("http://b/").rewrite(page).into_output(), Cow::Borrowed(same) if same == page)
    );
    let page = b"<a href=a>";
    let unknown = Rewriter::builder().build().unwrap();
    assert!(matches!(unknown.rewrite(page).into_output(), Cow::Borrowed(same) if same == page));
    assert_eq!(unknown.rewrite(page).report.count(Outcome::NoBase), 1);
    assert_eq!(unknown.base(page).rule.section(), "3.4");
}

#[test]
fn errors_have_a_kind_and_a_source() {
    let kind = |builder: baselink::RewriterBuilder| builder.build().unwrap_err().kind();
    assert_eq!(kind(Rewriter::builder().url("a/b")), ErrorKind::Url);
    assert_eq!(
        kind(Rewriter::builder().assume_scheme("mailto")),
        ErrorKind::Argument
    );
    assert_eq!(
        kind(Rewriter::builder().assume_scheme("https:")),
        ErrorKind::Argument
    );
    assert_eq!(
        "x".parse::<Charset>().unwrap_err().kind(),
        ErrorKind::Argument
    );
    assert_eq!(
        "x".parse::<Groups>().unwrap_err().kind(),
        ErrorKind::Argument
    );
    assert_eq!(
        "x".parse::<Place>().unwrap_err().kind(),
        ErrorKind::Argument
    );
    assert_eq!(
        "x".parse::<Resolver>().unwrap_err().kind(),
        ErrorKind::Argument
    );

    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(System::ConnectionReset.into())
        }
    }
    let rewriter = at("http://a/");
    let error = rewriter.rewrite_to(Broken, io::sink()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Read);
    let source = error.source().unwrap().downcast_ref::<io::Error>().unwrap();
    assert_eq!(source.kind(), System::ConnectionReset);
    assert_eq!(
        error.to_string(),
        "the document could not be read: connection reset"
    );
    let page = Cursor::new(b"<a href=x>");
    let full = rewriter.rewrite_to(page, &mut [0u8; 4][..]).unwrap_err();
    assert!(
        full.to_string()
            .starts_with("the output could not be written: "),
        "{full}"
    );
}

#[test]
fn public_types_are_send_and_sync() {
    fn check<T: Send + Sync + 'static>() {}
    check::<Rewriter>();
    check::<baselink::RewriterBuilder>();
    check::<baselink::Error>();
    check::<baselink::Rewritten<'static>>();
    check::<baselink::Totals>();
    check::<baselink_url::Base>();
}

/// The output of the program `name` in `examples/`, given `input`: standard output, and standard error.
fn example(name: &str, arguments: &[&str], input: &str) -> [String; 2] {
    use std::io::Write;
    use std::process::{Command, Stdio};

    let mut command = Command::new(env!("CARGO"));
    command
        .args(["run", "--quiet", "--locked", "--example", name, "--"])
        .args(arguments);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(output.status.success(), "{name}: {stderr}");
    [stdout, stderr]
}

/// The archive has a page with a link to another host, and a style sheet.
#[test]
fn examples_print_their_documented_output() {
    let feed = "<!-- a --><rss><channel><link>b</link></channel></rss>\n";
    let [stdout, stderr] = example("feed", &["http://a/feed"], feed);
    assert_eq!(
        stdout,
        "<!-- a --><rss><channel><link>http://a/b</link></channel></rss>\n"
    );
    assert_eq!(stderr, "1 of 1 links rewritten\n");

    let page = std::env::temp_dir().join(format!("baselink-example-{}", std::process::id()));
    std::fs::write(&page, "<a href='b c'><a href=#d>").unwrap();
    let [stdout, _] = example(
        "markdown",
        &["http://a/", page.to_str().unwrap(), "cat"],
        "",
    );
    std::fs::remove_file(&page).unwrap();
    assert_eq!(stdout, "<a href='http://a/b%20c'><a href=#d>");

    let message = "Subject: x\nContent-Base: http://a/\nContent-Type: text/html\n\n<a href=b>";
    let [stdout, stderr] = example("mail", &[], message);
    assert_eq!(stdout, message.replace("=b", "=http://a/b"));
    assert_eq!(
        stderr,
        "'' text/html: http://a/ (3.1 embedded in the content)\n"
    );

    let archive = "fixtures/archive/site.warc";
    let page = "https://www.example.org/docs/";
    let css = "https://www.example.org/style.css";
    let links = [
        (page, "https://www.example.org/docs/en/"),
        (page, "https://www.example.org/style.css"),
        (page, "https://www.example.org/docs/en/next.html#top"),
        (page, "https://example.net/"),
        (css, "https://www.example.org/print.css"),
        (css, "https://www.example.org/img/bg.png"),
    ];
    let lines = links.map(|(url, target)| format!("{url}\t{target}\n"));
    assert_eq!(example("archive", &[archive], "")[0], lines.concat());
    assert_eq!(
        example("crawl", &[archive, archive], "")[0],
        "www.example.org\texample.net\t2\n"
    );
}

/// The keys that the help of `command` promises for `--json` in the list that begins after `start`.
fn promised(command: &str, start: &str) -> Vec<String> {
    let help = include_str!("../../src/cli/args/help.rs").replace("\\\n", "");
    let of_command = help
        .split_once(&format!("baselink {command} --json"))
        .unwrap()
        .0;
    let list = &of_command[of_command.rfind(start).unwrap() + start.len()..];
    let (mut keys, mut depth) = (String::new(), 0);
    for character in list.chars() {
        match character {
            '(' => depth += 1,
            ')' if depth == 0 => break,
            ')' => depth -= 1,
            ';' | '.' if depth == 0 => break,
            _ if depth == 0 => keys.push(character),
            _ => {}
        }
    }
    keys.split(',')
        .map(|key| key.trim().to_owned())
        .filter(|key| key != "path")
        .collect()
}

/// A serialized report has the keys that the help promises for `--json`.
#[test]
fn reports_have_the_keys_of_json() {
    let rewriter = Rewriter::builder().url("http://a/").build().unwrap();
    let page = b"<p>\n<a href=x>";
    let has = |value: &serde_json::Value, keys: Vec<String>| {
        assert!(keys.len() > 3, "{keys:?}");
        let lacks = keys.into_iter().filter(|key| value.get(key).is_none());
        assert_eq!(lacks.collect::<Vec<_>>(), [""; 0], "{value}");
    };
    rewriter.links(page, |found| {
        let link = serde_json::to_value(&found).unwrap();
        has(&link, promised("links", "an object for each link: "));
        assert_eq!(
            (&link["line"], &link["start"], &link["end"]),
            (&2.into(), &12.into(), &13.into())
        );
        assert_eq!(
            (&link["rule"], &link["outcome"]),
            (&"3.3".into(), &"rewritten".into())
        );
        ControlFlow::Continue(())
    });
    let report = rewriter.rewrite(b"<base href=../x><a href=y>").report;
    let report = serde_json::to_value(&report).unwrap();
    let entity = &report["entities"][0];
    has(
        entity,
        promised("base", "an object for each document or entity: "),
    );
    has(
        &entity["chain"][0],
        promised("base", "chain is an array of "),
    );
    assert_eq!(entity["chain"][0]["status"], "taken");
    has(
        &report["diagnostics"][0],
        ["code", "start", "end", "message"]
            .map(str::to_owned)
            .to_vec(),
    );
}
