//! What is made of the documents of an archive: a record of each that changed, in another archive; or files.
//!
//! ```text
//! crawl.warc.gz, a response from http://a/b.html  --> out.warc.gz, a conversion record of it
//!                                                 --> DIR/a/b.html
//! ```
//!
//! ISO 28500, 6.7: a conversion record "shall contain an alternative version of another record's content that was created
//! as the result of an archival process". No record of what a server answered is ever written anew.
//!
//! Deliberately absent: which documents there are ([`crate::cli::archive`]), and how a record is written.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use baselink::Options;
use baselink::archive::{WarcWriter, Warcinfo};
use baselink::error::{Error, name};
use baselink::format::Format;
use baselink::rewrite::record::payload;
use baselink::scan::is_read;

use super::examined::examined;
use super::summary::FileSummary;
use super::target::FileSink;
use super::work::Work;
use crate::cli::archive;
use crate::cli::archived::ArchiveContents;
use crate::cli::diff::DiffProgress;
use crate::cli::failure::FileResult;
use crate::cli::input::{Archive, Input};
use crate::cli::output::Output;
use crate::cli::request::{Origin, Rewrite};

/// Rewrites the documents of `archive` on several threads.
pub(super) fn rewrite(
    (asked, work): (&Rewrite, &Work),
    origin: &Origin,
    archive: Archive<'_>,
    sink: &mut FileSink<'_>,
    output: &mut Output,
) -> FileResult<FileSummary> {
    let path = archive.path;
    let why = match archive.contents {
        ArchiveContents::Warc(_) => None,
        ArchiveContents::Wacz(_) => {
            Some("; to rewrite what is in it, take the WARC files out of it")
        }
        ArchiveContents::Har(_) => Some(", and nothing rewrites it"),
    };
    if let Some(why) = why {
        return Err(Error::new(format!("{}: links and base read it{why}", name(path))).into());
    }
    let to = sink.path();
    let is_compressed = match &to {
        Some(to) => to.as_os_str().as_encoded_bytes().ends_with(b".gz"),
        None => archive.is_compressed,
    };
    let filename = to.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy());
    let software = concat!("baselink/", env!("CARGO_PKG_VERSION"));
    let date = now();
    let info = Warcinfo { software, date, filename: filename.as_deref(), is_part_of: None };
    let writer = WarcWriter::new(&info, is_compressed);
    let form = match sink {
        FileSink::Documents(_) => ResultForm::File,
        FileSink::Diff(_) | FileSink::Nowhere => ResultForm::Nothing,
        _ => ResultForm::Record,
    };
    if form == ResultForm::Record {
        let mut first = Vec::new();
        writer.warcinfo(&mut first)?;
        sink.write_bytes(path, &first, output)?;
    }
    let work_on = |input: &Input<'_>, options: &Options, output: &mut Output| {
        let mut summary = FileSummary::default();
        let options = work.options(origin, options);
        let examined = examined((asked, work), input, &options, &mut summary, output);
        // What becomes a record of the new archive, or a file.
        let made = match form {
            ResultForm::Nothing => None,
            // Of a response without one only the header fields were looked at.
            _ if !examined.is_proved || !has_document(input, &options) => None,
            ResultForm::Record if examined.edits.is_empty() => None,
            ResultForm::Record | ResultForm::File => {
                let whole = examined.edits.apply(input.bytes);
                payload(&whole, input.format).map(std::borrow::Cow::into_owned)
            }
        };
        Ok((summary, examined, made))
    };
    let mut summary = FileSummary::default();
    archive::each(archive, output, work_on, |done, (input, archived), output| {
        let (of_document, examined, made) = done;
        summary.merge(of_document);
        match (&mut *sink, made, archived.record()) {
            (FileSink::Diff(progress), ..) if examined.is_proved => {
                // Its lines are counted from its own start.
                *progress = DiffProgress::default();
                sink.write(input, &examined.edits, output)
            }
            (FileSink::Documents(files), Some(made), _) => Ok(files.add(input, &made)?),
            (_, Some(made), Some(record)) => {
                let mut bytes = Vec::with_capacity(made.len() / 2 + 512);
                let content_type = &archived.content_type;
                writer.conversion(&mut bytes, record, content_type, &made)?;
                sink.write_bytes(path, &bytes, output)
            }
            _ => Ok(()),
        }
    })?;
    if let FileSink::Documents(files) = sink {
        files.say(path, output);
    }
    Ok(summary)
}

/// Whether the media type of `input` is that of a document that is read.
fn has_document(input: &Input<'_>, options: &Options) -> bool {
    let media_type = input.name.record.and_then(|record| record.media_type.split_once('/'));
    let format = media_type.map_or(Format::Other, |(one, two)| Format::of_media_type(one, two));
    format.has_headings() || is_read(format, &options.scan)
}

/// What is made of a document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ResultForm {
    Record,
    File,
    Nothing,
}

/// The time that is written: that of `SOURCE_DATE_EPOCH` where somebody says it, to have the same bytes again
/// (<https://reproducible-builds.org/specs/source-date-epoch/>).
fn now() -> u64 {
    let said = std::env::var("SOURCE_DATE_EPOCH").ok().and_then(|said| said.parse().ok());
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    said.unwrap_or_else(now)
}
