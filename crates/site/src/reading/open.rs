//! Input: files and standard input, each a document, a mailbox or an archive.
//!
//! ```text
//! page.html  -->  bytes, html
//! inbox.mbox -->  message 1, message 2, …  each with its bytes, one at a time
//! -          -->  bytes, html unless it clearly is something else
//! ```
//!
//! A file of another kind, such as an image, is not a document ([`NonDocument`]). A file to which standard output is
//! redirected is rejected.
//!
//! Deliberately absent: reading a document piece by piece. A `<base>` also applies to links before it, so a document
//! is in memory whole. A mailbox is read message by message.

use std::{
    fs::{self, Metadata},
    io::{self, ErrorKind, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use baselink_files::{
    head_of, maildir,
    results::FileResult,
    walk::{EntryKind, TreeEntry, open_file},
    write::{Original, is_usual_backup},
};
use baselink_rewrite::{Options, Retrieval, archive::is_archive, container::units};
use baselink_scan::{ScanOptions, group_of, html::saved::HEAD, is_read};
use baselink_text::{Error, Format, Result};

use super::{
    foreign::{ZIP, kind_of, sentence, utf_16},
    hosts,
    inputs::{Archives, Inputs, Reading},
};
use crate::{
    archive::{Contents, Wacz, Wanted, has_har},
    collection::origin::canonical,
};

/// The number of bytes from which a format is detected.
pub const FORMAT_HEAD: usize = 4_096;

/// The size of the buffer through which a file is copied.
const COPY_BUFFER: usize = 1 << 20;

/// An open file with documents.
pub struct File<'a> {
    /// The path as it was named or found; `-` is standard input.
    pub path: &'a Path,
    /// The format in which the file is read.
    pub format: Format,
    /// A message for each recorded URL that is not valid.
    pub passed_over: Vec<String>,
    /// The folder that `--layout host` takes for its host, if the name of the folder has no dot.
    pub dotless_host: Option<&'a Path>,
    /// The metadata of the file; `None` for standard input and for a file to be replaced.
    pub metadata: Option<Metadata>,
    /// The library's options for its documents, without those that differ for each document.
    pub options: Options,
    /// The number of threads.
    pub jobs: usize,
    /// The entries that are wanted from an archive.
    pub wanted: Wanted,
    /// The contents.
    pub contents: Contents,
}

/// A file that is not a document.
pub struct NonDocument {
    /// The reason; `None` if the file just does not look like a document.
    why: Option<String>,
    /// True if its format is that of a document, although its contents are not.
    has_document_format: bool,
    /// True if the file is an archive that the command skips.
    pub is_archive: bool,
    /// The bytes that have been read.
    head: Vec<u8>,
    rest: Box<dyn Read>,
}

impl NonDocument {
    /// The message about a file that was found in a folder and whose format promised a document.
    pub fn remark(&self) -> Option<&str> {
        self.why.as_deref().filter(|_| self.has_document_format)
    }

    /// The error for the named file `path`.
    pub fn error(&self, path: &Path) -> Error {
        if let Some(why) = &self.why {
            return Error::new(why.clone());
        }
        let format =
            Format::opt_in(&path.to_string_lossy()).unwrap_or(Format::detect(None, &self.head));
        let why = match group_of(format) {
            Some(group) => format!("{} is read only with --enable {group}", format.noun()),
            None => format!(
                "not recognized as a document; if it is one, give its format with --format: {}",
                Format::NAMES.join(", ")
            ),
        };
        Error::file(path, &why)
    }

    /// The first megabyte of the file `path`, or 64 MiB if it `is_needed` as a whole; empty if a zero byte near the start shows that the
    /// file is not text. The flag is true if it is the whole text of the file.
    pub fn text(&mut self, path: &Path, is_needed: bool) -> Result<(&[u8], bool)> {
        if self.head.iter().take(FORMAT_HEAD).any(|&byte| byte == 0) {
            return Ok((b"", false));
        }
        let most = if is_needed { 64 << 20 } else { COPY_BUFFER };
        let rest = most.saturating_sub(self.head.len());
        self.head.extend(head_of(&mut self.rest, path, rest)?);
        let is_text = memchr::memchr(0, &self.head).is_none() && !self.head.starts_with(b"%PDF-");
        Ok((&self.head, is_text && self.head.len() < most))
    }

    /// Copies the whole file `path` to `out`.
    pub fn copy_to(&mut self, path: &Path, out: &mut dyn Write) -> FileResult<()> {
        out.write_all(&self.head)?;
        let mut buffer = vec![0; COPY_BUFFER];
        loop {
            match self.rest.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(length) => out.write_all(&buffer[..length])?,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io(path)(error).into()),
            }
        }
    }
}

impl<'a> File<'a> {
    /// Opens `entry` in the format from `inputs`, or else in the detected format. `original` is the file to be
    /// replaced, if any.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is an archive that the command does not accept, or standard output is redirected to
    /// it.
    pub fn open(
        entry: &'a TreeEntry,
        inputs: &Inputs,
        original: Option<&Original>,
    ) -> Result<std::result::Result<Self, NonDocument>> {
        let path = &*entry.path;
        let reading = &inputs.reading;
        let failed = Error::io(path);
        let is_standard = entry.is_standard_input();
        let (file, metadata) = match original {
            Some(original) => (Some(original.open()?), None),
            None if is_standard => (None, None),
            None => {
                let (file, metadata) = entry.open(inputs.selection.follow)?;
                (Some(file), Some(metadata))
            }
        };
        reject_standard_output(path, metadata.as_ref())?;
        let again = file.as_ref().and_then(|file| file.try_clone().ok());
        let mut reader = match file {
            Some(file) => Box::new(file) as Box<dyn Read>,
            None => Box::new(io::stdin().lock()),
        };
        // With one spare byte, the end of a small file is found without growing the buffer.
        let mut bytes = Vec::new();
        let size = usize::try_from(entry.size).unwrap_or(0);
        bytes.reserve(size.min(HEAD) + 1);
        let head = head_length(reading);
        reader
            .by_ref()
            .take(head as u64)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        let scan = &reading.options.scan;
        let known = reading.format.or_else(|| inputs.learned_format(path));
        let detected = || with_archives(detect(entry, &bytes, scan), again.as_ref(), &bytes);
        let mut format = known.unwrap_or_else(detected);
        let is_site = matches!(inputs.archives, Archives::None | Archives::Site);
        let is_source = format.is_archive() || (is_site && is_source(format, path));
        let is_skipped_archive = is_source && is_archive_skipped(entry, inputs, original)?;
        let foreign = if format.is_archive() {
            None
        } else {
            kind_of(&bytes).or_else(|| utf_16(&bytes).filter(|_| scan.charset.is_none()))
        };
        let has_document_format =
            !is_skipped_archive && (format.is_read() || is_read(format, scan));
        // A browser that opens a copy from disk takes these formats from its name, whatever the first bytes are.
        let by_name = Format::detect(Some(&path.to_string_lossy()), b"");
        let is_read_by_name = inputs.opens_from_disk
            && original.is_none()
            && (by_name.is_page() || by_name == Format::Css);
        if is_read_by_name && (is_skipped_archive || foreign.is_some()) {
            format = by_name;
        } else if !has_document_format || foreign.is_some() {
            let why = foreign.map(|foreign| sentence(foreign, path, format));
            return Ok(Err(NonDocument {
                why,
                has_document_format: has_document_format && !scan.is_probed(format),
                is_archive: is_skipped_archive,
                head: bytes,
                rest: reader,
            }));
        }
        let origins = &reading.origins;
        let seen = inputs.below_settings_folder(entry);
        let seen = seen.as_ref().unwrap_or(entry);
        let (retrieval, passed_over) = origins.of(entry, seen, format, &bytes);
        let dotless_host = hosts::without_dot(entry, seen, retrieval.as_ref());
        let dotless_host = dotless_host.filter(|_| origins.has_hosts);
        let beside = (!is_standard).then(|| origins.beside(entry, seen));
        let options = if format.is_archive() {
            reading.options.clone()
        } else {
            Options {
                format,
                retrieval,
                beside,
                ..reading.options.clone()
            }
        };
        let is_document = !(format.is_archive() || format.holds_many());
        if is_document && bytes.len() >= head {
            // The size from the file system may be wrong, so a failed allocation is not an error.
            let _ = bytes.try_reserve_exact(size.saturating_sub(bytes.len()) + 1);
            reader.read_to_end(&mut bytes).map_err(failed)?;
        }
        Ok(Ok(Self {
            path,
            format,
            passed_over,
            dotless_host,
            metadata,
            options,
            jobs: inputs.jobs,
            wanted: Wanted::Documents,
            contents: Contents::new(path, format, bytes, reader, again)?,
        }))
    }

    /// True for a mailbox of several messages (RFC 4155) that is read as one document, because its name or an option says so.
    /// A file of a Maildir is one message, whatever it contains.
    pub fn is_mailbox_read_as_one(&self) -> bool {
        matches!(
            &self.contents,
            Contents::Document(bytes) if bytes.starts_with(b"From ")
                && !maildir::is_message(self.path)
                && units(Format::Mbox, bytes).nth(1).is_some()
        )
    }

    /// The file as one that is not a document: it was read only for links to resources of the site, and has none.
    pub fn into_other(self) -> NonDocument {
        NonDocument {
            why: None,
            has_document_format: false,
            is_archive: false,
            head: match self.contents {
                Contents::Document(bytes) => bytes,
                _ => Vec::new(),
            },
            rest: Box::new(io::empty()),
        }
    }
}

/// True if the file at `path` is an archive, or has the name of a page that a browser saved in one file.
pub fn is_source(format: Format, path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    let is_mhtml = ["mhtml", "mht"]
        .iter()
        .any(|one| extension.eq_ignore_ascii_case(one));
    format.is_archive() || (format == Format::Message && is_mhtml)
}

/// True if the command skips the archive.
///
/// # Errors
///
/// The archive was named on the command line, but the command does not read it, or would alter it.
fn is_archive_skipped(
    entry: &TreeEntry,
    inputs: &Inputs,
    original: Option<&Original>,
) -> Result<bool> {
    let why = match inputs.archives {
        archives if !entry.is_named() => return Ok(archives != Archives::All),
        Archives::None => "an archive; use rewrite, links or base",
        _ if original.is_some() => {
            "an archive is never altered; -o DIR writes its documents as files"
        }
        Archives::Site | Archives::Named | Archives::All => return Ok(false),
    };
    Err(Error::file(&entry.path, why))
}

/// The number of bytes in which a page may record its URL.
fn head_length(reading: &Reading) -> usize {
    if reading.origins.canonical {
        canonical::HEAD
    } else {
        HEAD
    }
}

/// The retrieval URL of the file `entry`. The file is opened only if its head may give a URL that precedes those of
/// other sources.
///
/// # Errors
///
/// The file cannot be read.
pub fn retrieval(entry: &TreeEntry, inputs: &Inputs) -> Result<Option<Retrieval>> {
    let (reading, seen) = (&inputs.reading, inputs.below_settings_folder(entry));
    let of_head = |format, head: &[u8]| {
        reading
            .origins
            .of(entry, seen.as_ref().unwrap_or(entry), format, head)
            .0
    };
    let known = of_head(Format::Other, b"");
    let origins = &reading.origins;
    if !origins.asks_page(known.as_ref()) || entry.kind != EntryKind::File {
        return Ok(known);
    }
    let (file, _) = entry.open(inputs.selection.follow)?;
    let head = head_of(file, &entry.path, head_length(reading))?;
    Ok(of_head(
        reading
            .format
            .unwrap_or_else(|| detect(entry, &head, &reading.options.scan)),
        &head,
    ))
}

/// Rejects the file `path` if standard output is redirected to it: the program would read its own output, or
/// overwrite unread input. `seen` is the metadata of the file; without it, only standard input is checked.
fn reject_standard_output(path: &Path, seen: Option<&Metadata>) -> Result<()> {
    let Some(length) = length_if_standard_output(path, seen) else {
        return Ok(());
    };
    let emptied = if length == 0 {
        ", which the shell has emptied"
    } else {
        ""
    };
    let why = format!(
        "standard output is redirected to this file{emptied}; write to another file, or use `rewrite --in-place`"
    );
    Err(Error::file(path, &why))
}

/// The length of the file, if standard output is redirected to it.
#[cfg(unix)]
fn length_if_standard_output(path: &Path, seen: Option<&Metadata>) -> Option<u64> {
    use std::os::fd::{AsFd, BorrowedFd};
    use std::os::unix::fs::MetadataExt;
    use std::sync::OnceLock;

    static STANDARD: OnceLock<Option<(u64, u64)>> = OnceLock::new();
    let of = |stream: BorrowedFd<'_>| {
        fs::File::from(stream.try_clone_to_owned().ok()?)
            .metadata()
            .ok()
            .filter(Metadata::is_file)
    };
    let identity = |file: &Metadata| (file.dev(), file.ino());
    let standard = STANDARD
        .get_or_init(|| of(io::stdout().as_fd()).as_ref().map(identity))
        .as_ref()?;
    let is_it = |seen: &Metadata| (identity(seen) == *standard).then_some(seen.len());
    match seen {
        Some(seen) => is_it(seen),
        None if baselink_files::is_standard_input(path) => is_it(&of(io::stdin().as_fd())?),
        None => None,
    }
}

#[cfg(not(unix))]
fn length_if_standard_output(_: &Path, _: Option<&Metadata>) -> Option<u64> {
    None
}

/// The format of the file at `path`, detected from its name and first bytes; `None` if it is not a regular file.
pub fn format_of_file(path: &Path) -> Option<Format> {
    // Opening a pipe, even just to look, would break it for its writer.
    let is_file = path.metadata().is_ok_and(|found| found.is_file());
    let file = is_file.then(|| open_file(path).ok().flatten()).flatten()?;
    let head = head_of(&file, path, FORMAT_HEAD).ok()?;
    let detected = Format::detect(Some(&path.to_string_lossy()), &head);
    Some(with_archives(detected, Some(&file), &head))
}

impl Inputs {
    /// The format in which the file at `path` is read; `None` if it is not a regular file.
    pub fn format_of(&self, path: &Path) -> Option<Format> {
        format_of_file(path).map(|detected| self.reading.format.unwrap_or(detected))
    }

    /// True if the file at `path` is in a format that is read, such as HTML, but is neither an archive nor mail.
    pub fn is_page(&self, path: &Path) -> bool {
        self.format_of(path)
            .is_some_and(|one| one.is_read() && !may_hold_resources(one))
    }

    /// True if the file at `path` is an archive, a message or a mailbox.
    pub fn holds_resources(&self, path: &Path) -> bool {
        self.format_of(path).is_some_and(may_hold_resources)
    }

    /// True if the file at `path` [holds resources](Self::holds_resources). The names of most documents tell that they need not be opened.
    pub fn is_source(&self, path: &Path) -> bool {
        let named = Format::detect(Some(&path.to_string_lossy()), b"");
        (may_hold_resources(named) || !named.is_read()) && self.holds_resources(path)
    }

    /// True if all named files are archives.
    pub fn are_all_archives(&self) -> bool {
        let is_archive = |path: &PathBuf| self.format_of(path).is_some_and(Format::is_archive);
        self.paths.iter().all(is_archive)
    }
}

/// True for archives, and for messages and mailboxes, whose parts are resources.
pub fn may_hold_resources(format: Format) -> bool {
    format.is_archive() || matches!(format, Format::Message | Format::Mbox)
}

/// The format of a file that begins with `head`, which is `detected` unless it is an archive. A ZIP archive has that of the names in
/// it; the position in `file` remains.
pub fn with_archives(detected: Format, file: Option<&fs::File>, head: &[u8]) -> Format {
    match (detected, file) {
        _ if is_archive(head) => Format::Warc,
        (Format::Other, Some(mut file)) if head.starts_with(ZIP[0]) => {
            let format = match Wacz::open(file) {
                Ok(_) => Format::Wacz,
                Err(_) if has_har(file) => Format::Har,
                Err(_) => Format::Other,
            };
            let again = file.seek(SeekFrom::Start(head.len() as u64));
            again.map_or(Format::Other, |_| format)
        }
        _ => detected,
    }
}

/// True if `head` begins a JSON object or array (RFC 8259, 2). Text, or a placeholder of a template, may begin with a bracket, too.
fn begins_json(head: &[u8]) -> bool {
    let mut marks = head.iter().filter(|byte| !byte.is_ascii_whitespace());
    matches!(
        (marks.next(), marks.next()),
        (Some(b'{'), Some(b'"' | b'}')) | (Some(b'['), Some(b'{' | b'"'))
    )
}

/// The format of a file that begins with `head`.
fn detect(entry: &TreeEntry, head: &[u8], scan: &ScanOptions) -> Format {
    if entry.is_standard_input() {
        let format = Format::detect(None, head);
        // Text in an unknown format is read as HTML.
        let is_known = format.is_read() || is_read(format, scan) || begins_json(head);
        return if is_known { format } else { Format::Html };
    }
    let name = entry.path.to_string_lossy();
    if let Some(format) = Format::opt_in(&name).filter(|format| is_read(*format, scan)) {
        return format;
    }
    let head = &head[..head.len().min(FORMAT_HEAD)];
    match Format::detect(Some(&name), head) {
        _ if !entry.is_named() && is_usual_backup(&entry.path) => Format::Other,
        // The format of a message in a Maildir follows from its folder, not from its name.
        Format::Other | Format::Mbox | Format::Script | Format::Manifest
            if maildir::is_message(&entry.path) =>
        {
            Format::Message
        }
        // A named empty file is a document, too.
        Format::Other if head.is_empty() && entry.relative.is_empty() => Format::Html,
        format => format,
    }
}
