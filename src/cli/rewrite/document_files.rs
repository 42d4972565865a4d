//! Files for the documents of an archive, named after host and path, as `--layout host` reads them.
//!
//! ```text
//! http://a.example/b/?c=d   -->   DIR/a.example/b/index.html?c=d
//! ```
//!
//! If a URL was captured more than once, the first capture wins.
//!
//! Deliberately absent: rewriting ([`super::archive`]).

use std::collections::HashSet;
use std::mem;
use std::path::{Path, PathBuf};

use baselink::collection::origin::{FolderLayout, Origins};
use baselink::error::{Result, name};
use baselink::files::mirror::Mirror;
use baselink::files::write::{self, Replacement};

use crate::cli::input::Input;
use crate::cli::output::{Output, count};

/// The documents of one archive, each a file under host and path, as `--layout host` reads them.
pub(in crate::cli) struct DocumentFiles {
    mirror: Mirror,
    out: PathBuf,
    origins: Origins,
    /// The paths of files so far.
    taken: HashSet<PathBuf>,
    /// Files that are written together.
    pending: Vec<Replacement>,
    /// The number of documents without a file: their URL has one already, or cannot be a path.
    again: usize,
    nameless: usize,
}

/// The number of files that are committed together.
const TOGETHER: usize = 64;

impl DocumentFiles {
    /// Prepares to write files to the folder `out`.
    pub(super) fn new(out: &Path) -> Result<Self> {
        let (layout, index) = (Some(FolderLayout::Host), Some("index.html".into()));
        Ok(Self {
            mirror: Mirror::new(out)?,
            out: out.to_owned(),
            origins: Origins { layout, index, ..Origins::default() },
            taken: HashSet::new(),
            pending: Vec::new(),
            again: 0,
            nameless: 0,
        })
    }

    /// Writes the document `input`, whose new contents are `made`.
    pub(super) fn add(&mut self, input: &Input<'_>, made: &[u8]) -> Result<()> {
        let url = input.name.record.and_then(|record| record.url.as_deref());
        let Some(to) = url.and_then(|url| self.origins.paths(url).into_iter().next()) else {
            self.nameless += 1;
            return Ok(());
        };
        if !self.taken.insert(to.clone()) {
            self.again += 1;
            return Ok(());
        }
        let mut new = self.mirror.begin_new(Path::new(""), &to)?;
        new.write(|out| out.write_all(made))?;
        self.pending.push(new);
        if self.pending.len() < TOGETHER { Ok(()) } else { self.commit() }
    }

    /// Gives the files their names.
    pub(in crate::cli) fn commit(&mut self) -> Result<()> {
        let written = write::commit_all(mem::take(&mut self.pending));
        written.into_iter().try_for_each(|file| file.map(drop))
    }

    /// The folder of all files.
    pub(in crate::cli) fn out(&self) -> &Path {
        &self.out
    }

    /// Reports the documents without a file.
    pub(super) fn say(&self, path: &Path, output: &mut Output) {
        let name = name(path);
        if self.again > 0 {
            let again = count(self.again, "later capture", "later captures");
            output.notice(&format_args!("{name}: {again} of the same URLs left out"));
        }
        if self.nameless > 0 {
            let nameless = count(self.nameless, "document has", "documents have");
            output.caution(&format_args!("{name}: {nameless} no URL that can be a path; left out"));
        }
    }
}
