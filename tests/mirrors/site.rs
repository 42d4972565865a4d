//! The site of `fixtures/mirror/site.txt`: the response for each of its URLs, and the target of each link. A proxy serves
//! the site, so its hosts need no DNS entries.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::thread;

use url::Url;

/// The response for a URL.
#[derive(Debug)]
pub(crate) struct Resource {
    pub(crate) status: u16,
    /// The value of `Content-Type`, or of `Location` for a redirect.
    pub(crate) header_value: String,
    pub(crate) body: String,
    /// Each link of the body: the reference, and its target.
    pub(crate) links: Vec<(String, String)>,
}

impl Resource {
    /// The mark that identifies the body; `None` for a redirect.
    pub(crate) fn mark(&self) -> Option<&str> {
        mark(&self.body)
    }

    fn answer(&self) -> String {
        let Self {
            status,
            header_value,
            body,
            ..
        } = self;
        let field = if *status == 200 {
            "Content-Type"
        } else {
            "Location"
        };
        let length = body.len();
        format!(
            "HTTP/1.1 {status} It\r\n{field}: {header_value}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
    }
}

/// The mark in a body.
pub(crate) fn mark(body: &str) -> Option<&str> {
    let rest = &body[body.find("mark:")? + "mark:".len()..];
    rest.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-')
        .next()
}

#[derive(Debug)]
pub(crate) struct Site {
    resources: BTreeMap<String, Resource>,
}

impl Site {
    pub(crate) fn read() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/mirror/site.txt");
        let text = fs::read_to_string(path).unwrap();
        let records = text.split("\n@ ").skip(1);
        let resources = records.map(|record| {
            let (head, rest) = record.split_once('\n').unwrap();
            let (url, rest_of_head) = head.split_once(' ').unwrap();
            let (status, header_value) = rest_of_head.split_once(' ').unwrap();
            let (body, links) = rest.split_once("\n->\n").unwrap_or((rest.trim_end(), ""));
            let links = links.lines().filter_map(|line| line.rsplit_once(" -> "));
            let links = links.map(|(reference, target)| (reference.into(), target.into()));
            let (status, header_value) = (status.parse().unwrap(), header_value.to_owned());
            let (body, links) = (body.trim_end().to_owned(), links.collect());
            (
                url.to_owned(),
                Resource {
                    status,
                    header_value,
                    body,
                    links,
                },
            )
        });
        Self {
            resources: resources.collect(),
        }
    }

    pub(crate) fn resources(&self) -> impl Iterator<Item = (&str, &Resource)> {
        self.resources
            .iter()
            .map(|(url, resource)| (url.as_str(), resource))
    }

    /// The response for `url`. Servers decode paths, except for characters with a meaning in URLs.
    fn get(&self, url: &str) -> Option<&Resource> {
        let url = Url::parse(url).ok()?;
        let mut path = String::new();
        let mut rest = url.path();
        while let Some((before, escape)) = rest.split_once('%') {
            let byte = u8::from_str_radix(escape.get(..2)?, 16).ok()?;
            let is_decoded = byte.is_ascii_graphic() && !br#"%/?#"<>\^`{|}"#.contains(&byte);
            path.push_str(before);
            path.push_str(&if is_decoded {
                char::from(byte).into()
            } else {
                format!("%{byte:02X}")
            });
            rest = &escape[2..];
        }
        let mut url = url.clone();
        url.set_path(&(path + rest));
        self.resources.get(url.as_str())
    }

    /// The response for `url` after all redirects, and the resulting fragment.
    pub(crate) fn follow(&self, url: &str) -> (Option<&Resource>, Option<String>) {
        let (mut url, fragment) = match url.split_once('#') {
            Some((url, fragment)) => (url, Some(fragment.to_owned())),
            None => (url, None),
        };
        while let Some(resource) = self.get(url) {
            if resource.status == 200 {
                return (Some(resource), fragment);
            }
            url = &resource.header_value;
        }
        (None, fragment)
    }

    /// The resource whose body has this `mark`.
    pub(crate) fn of_mark(&self, mark: &str) -> Option<&Resource> {
        self.resources
            .values()
            .find(|resource| resource.mark() == Some(mark))
    }

    /// Serves the site as a proxy. Returns the host and port of the proxy.
    pub(crate) fn serve(self: &Arc<Self>) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let site = Arc::clone(self);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let site = Arc::clone(&site);
                // Clients may disconnect, so the result is ignored.
                thread::spawn(move || site.answer(stream));
            }
        });
        address
    }

    fn answer(&self, stream: TcpStream) -> Option<()> {
        let mut lines = BufReader::new(&stream).lines();
        let request = lines.next()?.ok()?;
        lines.find(|line| line.as_ref().is_ok_and(String::is_empty));
        let mut words = request.split(' ');
        let (method, url) = (words.next()?, words.next()?);
        let not_found =
            "HTTP/1.1 404 It\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_owned();
        let answer = self.get(url).map_or(not_found, Resource::answer);
        let end = if method == "HEAD" {
            answer.find("\r\n\r\n")? + 4
        } else {
            answer.len()
        };
        (&stream).write_all(&answer.as_bytes()[..end]).ok()
    }
}
