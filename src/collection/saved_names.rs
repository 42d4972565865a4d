//! File lookup by the names that programs use when they save pages.
//!
//! ```text
//! page?x=1  -->  page?x=1, page@x=1.html, page%3Fx=1, pagea255.html
//! ```
//!
//! Deliberately absent: names that depend on other saved files (`page.1`).

use super::index::{Collection, FoundFile};
use super::normal::without_query;
use super::origin::names;
use super::path::{names_folder, split_name, stem};
use baselink_text::layer::digest::first_of_md5;
use baselink_url::reference::{Grammar, Reference};

/// The extensions that programs append to the names of saved files.
const ADDED: [&[u8]; 4] = [b"", b".html", b".htm", b".css"];

impl Collection {
    /// The file that was saved for `url`: the result of [`find`](Self::find), or a file with a name under which a
    /// program would save the URL.
    ///
    /// | URL | name | program |
    /// |---|---|---|
    /// | `page?x=1` | `page?x=1` | wget |
    /// | | `page@x=1` | wget for Windows |
    /// | | `page%3Fx=1` | browsers, and others that escape |
    /// | | `pagea255.html`, with the first four digits of the query's MD5 | HTTrack |
    /// | `page`, and all of these | with `.html`, `.htm` or `.css` appended | wget with `--adjust-extension`, HTTrack |
    ///
    /// If no file name contains the query, it is ignored for images, style sheets and scripts, where it is usually a
    /// version number. A page with a query is a different page.
    #[must_use]
    pub fn find_saved(&self, url: &str) -> Option<FoundFile> {
        let found = self.find(url).file();
        let query = Reference::split(Grammar::Rfc3986, url).query();
        let is_beyond = |found| self.path_beyond_link(found, url, None).is_some();
        let is_exact = |file: FoundFile| file.query_counts || query.is_none() || is_beyond(file);
        if self.only_urls || found.is_some_and(is_exact) {
            return found;
        }
        let path = self.path_below(None, without_query(url))?;
        if let Some(query) = query {
            let number = self.saved_with_query(&path, query);
            let saved = number.map(|number| FoundFile {
                number,
                query_counts: true,
            });
            return saved.or_else(|| found.filter(|found| !self.is_page(found.number)));
        }
        if names_folder(&path) {
            return None;
        }
        let mut extensions = ADDED[1..].iter();
        let number = extensions.find_map(|added| self.file_at(&[&path, *added].concat())?.ok());
        // Servers redirect requests for a folder without `/` to the folder with `/`.
        let number = number.or_else(|| self.index_of(&path)?.ok())?;
        Some(FoundFile {
            number,
            query_counts: false,
        })
    }

    /// The file whose name contains both `path` and `query`.
    fn saved_with_query(&self, path: &[u8], query: &str) -> Option<usize> {
        let mut names = match names_folder(path) {
            true => self
                .names
                .iter()
                .map(|name| [path, names::bytes(name)].concat())
                .collect(),
            false => vec![path.to_vec()],
        };
        // If the root has a URL, the file `page?x=1` has the URL `page%3Fx=1`. A link `?x=2` in it refers to the file
        // `page?x=2`. The same link in `page.php.html` refers to the file `page.php?x=2.html`.
        let (_, name) = split_name(path);
        let stem_end = memchr::memchr(b'?', name).map(|at| path.len() - name.len() + at);
        names.extend(stem_end.map(|end| path[..end].to_vec()));
        names.extend(path.strip_suffix(b".html").map(<[u8]>::to_vec));
        // A name cannot contain a `/`.
        let named = |query: &[u8]| names::escape_where(query, |byte| byte == b'/');
        let queries = [named(query.as_bytes()), named(&names::decode(query))];
        let saved = |parts: [&[u8]; 4]| self.file_at(&parts.concat())?.ok();
        for added in ADDED {
            for name in &names {
                for query in &queries {
                    let mut marks = [&b"?"[..], b"@", b"%3F"].into_iter();
                    if let Some(number) = marks.find_map(|mark| saved([name, mark, query, added])) {
                        return Some(number);
                    }
                }
            }
        }
        // HTTrack puts the first digits of the query's MD5 before the extension.
        let digits = first_of_md5(query.as_bytes(), 2).into_bytes();
        names.iter().find_map(|path| {
            let (_, name) = split_name(path);
            let (path, extension) = path.split_at(path.len() - name.len() + stem(name).len());
            saved([path, &digits, extension, b""]).or_else(|| saved([path, &digits, b".html", b""]))
        })
    }
}
