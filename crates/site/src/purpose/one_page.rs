//! A page of a copy as one file: what it embeds becomes `data:` URLs (RFC 2397), and its other links become absolute.
//!
//! ```
//! use baselink_site::purpose::one_page::OnePage;
//! let copy = tempfile::tempdir()?;
//! std::fs::write(copy.path().join("x.css"), "p{}")?;
//! let urls = [(b"y.html".to_vec(), "http://a/y".to_owned())].into();
//! std::fs::write(copy.path().join("x.html"), "<link rel=stylesheet href=x.css><a href=y.html#z>")?;
//! let made = OnePage::new(copy.path(), urls, None).make(b"x.html", 0).unwrap();
//! assert_eq!(made, b"<link rel=stylesheet href=data:text/css;base64,cHt9><a href=http://a/y#z>");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Deliberately absent: references that browsers do not follow into a `data:` URL, those of `use` (SVG 2, 5.6) and imports of modules.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    io::Read,
    path::{Path, PathBuf},
};

use baselink_files::walk::open_below;
use baselink_rewrite::{
    Choice, Destination, Lack, LinkReport, LocalCopies, Options, rewrite_links,
};
use baselink_scan::{Against, Role};
use baselink_text::{
    Format,
    format::{extensions, media_type_of},
};
use data_encoding::BASE64;

use crate::collection::{
    folder::path_of,
    fragment_of,
    origin::{RootUrl, is_assumed, names},
    split_name, url_below,
};

/// The number of documents in each other that are embedded.
const DEEPEST: usize = 16;

/// The sum of the lengths of `data:` URLs, in bytes. Links to more files stay absolute.
const MOST: usize = 256 << 20;

/// A copy, one of whose pages becomes one file.
#[derive(Debug)]
pub struct OnePage {
    folder: PathBuf,
    place: RootUrl,
    /// The URLs of files, by their paths in the copy.
    urls: HashMap<Vec<u8>, String>,
    /// The URL below which other files have their paths.
    root: Option<String>,
    /// The `data:` URLs of files; `None` for those that have none, and those that are being made.
    data: RefCell<HashMap<Vec<u8>, Option<String>>>,
    length: Cell<usize>,
    /// The number of links to files of the copy that now lead nowhere.
    pub lost: Cell<usize>,
}

impl OnePage {
    /// The copy in `folder`, whose files have these `urls`, or their paths below `root`.
    pub fn new(folder: &Path, urls: HashMap<Vec<u8>, String>, root: Option<&str>) -> Self {
        Self {
            folder: folder.to_owned(),
            place: RootUrl::nowhere(),
            urls,
            root: root.filter(|root| !is_assumed(root)).map(str::to_owned),
            data: RefCell::default(),
            length: Cell::default(),
            lost: Cell::default(),
        }
    }

    /// The file at the path `name` in the copy, in `depth` documents, without links to other files of the copy; `None` if there is no
    /// such file.
    pub fn make(&self, name: &[u8], depth: usize) -> Option<Vec<u8>> {
        let (mut file, mut bytes) = (open_below(&self.folder, &path_of(name)?).ok()?, Vec::new());
        file.read_to_end(&mut bytes).ok()?;
        let format = Format::detect(str::from_utf8(name).ok(), &bytes);
        let Some(url) = url_below(&self.place, name).filter(|_| format.is_read()) else {
            return Some(bytes);
        };
        let mut options = Options {
            format,
            local_copies: LocalCopies::Rewrite,
            ..Options::at(&url)
        };
        options.scan.groups.insert_loaded();
        let document = Embedding {
            page: self,
            name,
            depth,
        };
        let made = rewrite_links(&bytes, &options, &document);
        Some(made.output().to_vec())
    }

    /// The URL of the file at `path`.
    fn url(&self, path: &[u8]) -> Option<String> {
        let below = || Some(self.root.clone()? + &names::encoded(path)?);
        self.urls.get(path).cloned().or_else(below)
    }

    /// The `data:` URL of the file at `path`, for a document in `depth` others.
    fn data(&self, path: &[u8], depth: usize) -> Option<String> {
        if let Some(known) = self.data.borrow().get(path) {
            return known.clone();
        }
        self.data.borrow_mut().insert(path.to_vec(), None);
        let bytes = self.make(path, depth + 1)?;
        let media_type = media_type_of(&bytes).or_else(|| media_type_by_name(path));
        let media_type = media_type.unwrap_or(Format::Other.media_type());
        let data = format!("data:{media_type};base64,{}", BASE64.encode(&bytes));
        self.data
            .borrow_mut()
            .insert(path.to_vec(), Some(data.clone()));
        Some(data)
    }
}

/// The media type of a file with this name.
fn media_type_by_name(path: &[u8]) -> Option<&'static str> {
    let name = str::from_utf8(split_name(path).1).ok()?;
    let (_, own) = name.rsplit_once('.')?;
    let is_own = |one: &str| one.eq_ignore_ascii_case(own);
    let mut known = extensions().filter(|(_, all)| all.split(' ').any(is_own));
    match Format::detect(Some(name), b"") {
        Format::Other => known.next()?.0.split(' ').next(),
        format => Some(format.media_type()),
    }
}

/// A document that becomes a part of one file.
#[derive(Debug)]
struct Embedding<'a> {
    page: &'a OnePage,
    name: &'a [u8],
    depth: usize,
}

impl Destination for Embedding<'_> {
    fn choose(&self, link: &LinkReport, _: &Against) -> (Choice, Option<Lack>) {
        let target = link.target.as_deref().unwrap_or_default();
        let Some(file) = self.page.place.below(target) else {
            return (Choice::Kept, None);
        };
        let fragment = fragment_of(target).map_or_else(String::new, |name| format!("#{name}"));
        if file.path == self.name && !fragment.is_empty() {
            return (Choice::Reference(fragment), None);
        }
        let is_embedded =
            link.role == Role::Embedded && link.element.rsplit(':').next() != Some("use");
        let has_room = self.depth < DEEPEST && self.page.length.get() < MOST;
        let data = || self.page.data(&file.path, self.depth);
        let url = match (is_embedded && has_room).then(data).flatten() {
            Some(data) => {
                self.page.length.update(|length| length + data.len());
                Some(data)
            }
            None => self.page.url(&file.path),
        };
        let Some(url) = url else {
            self.page.lost.update(|lost| lost + 1);
            return (Choice::Kept, None);
        };
        (Choice::Reference(url + &fragment), None)
    }

    fn embeds(&self) -> bool {
        true
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn made(files: &[(&str, &[u8])]) -> String {
        let copy = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            std::fs::write(copy.path().join(name), bytes).unwrap();
        }
        let page = OnePage::new(copy.path(), HashMap::new(), None);
        String::from_utf8(page.make(files[0].0.as_bytes(), 0).unwrap()).unwrap()
    }

    /// A short style sheet may embed a long image.
    #[test]
    fn what_is_embedded_may_be_many_times_as_long() {
        let image = [b"\x89PNG\r\n\x1a\n".to_vec(), vec![0; 300_000]].concat();
        let style = made(&[("a.css", b"p{background:url(i.png)}"), ("i.png", &image)]);
        let data = BASE64.encode(&image);
        let expected = format!("p{{background:url(data:image/png;base64,{data})}}");
        assert!(style == expected, "{}", &style[..100]);
    }

    /// Documents that embed each other end: the frame of the frame shows the page, whose frame stays as it is.
    #[test]
    fn circles_and_chains_end() {
        let page = "<iframe src=\"b.html\">";
        let frame = "<iframe src=\"a.html\">";
        let circle = made(&[("a.html", page.as_bytes()), ("b.html", frame.as_bytes())]);
        let with = |inner: &str| {
            let data = BASE64.encode(inner.as_bytes());
            format!("<iframe src=\"data:text/html;base64,{data}\">")
        };
        assert_eq!(circle, with(&with(page)));
        let sheets: Vec<_> = (0..100)
            .map(|number| {
                (
                    format!("{number}.css"),
                    format!("@import '{}.css';", number + 1),
                )
            })
            .collect();
        let sheets: Vec<_> = sheets
            .iter()
            .map(|(name, text)| (&**name, text.as_bytes()))
            .collect();
        assert!(made(&sheets).len() < 100_000);
    }
}
