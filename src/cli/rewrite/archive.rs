//! The documents of an archive, rewritten and written as files.
//!
//! ```text
//! crawl.warc.gz, a response from http://a/b.html  --> DIR/a/b.html
//! ```
//!
//! Deliberately absent: reading archives ([`crate::cli::archive`]), naming files ([`super::document_files`]), and altering an
//! archive.

use baselink::Options;
use baselink::format::Format;
use baselink::rewrite::record::payload;
use baselink::scan::is_read;

use super::examined::examined;
use super::summary::FileSummary;
use super::target::FileSink;
use super::work::Work;
use crate::cli::archive;
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
    let is_written = matches!(sink, FileSink::Documents(_));
    let work_on = |input: &Input<'_>, options: &Options, output: &mut Output| {
        let mut summary = FileSummary::default();
        let options = work.options(origin, options);
        let examined = examined((asked, work), input, &options, &mut summary, output);
        // A response without a document has links in its header fields only.
        let made = match is_written && examined.is_proved && has_document(input, &options) {
            true => {
                let whole = examined.edits.apply(input.bytes);
                payload(&whole, input.format).map(std::borrow::Cow::into_owned)
            }
            false => None,
        };
        Ok((summary, examined, made))
    };
    let mut summary = FileSummary::default();
    archive::each(archive, output, work_on, |done, (input, _), output| {
        let (of_document, examined, made) = done;
        summary.merge(of_document);
        match (&mut *sink, made) {
            (FileSink::Diff(progress), _) if examined.is_proved => {
                // Its lines are counted from its own start.
                *progress = DiffProgress::default();
                sink.write(input, &examined.edits, output)
            }
            (FileSink::Documents(files), Some(made)) => Ok(files.add(input, &made)?),
            _ => Ok(()),
        }
    })?;
    if let FileSink::Documents(files) = sink {
        files.say(path, output);
    }
    Ok(summary)
}

/// True if `input` has the media type of a document.
fn has_document(input: &Input<'_>, options: &Options) -> bool {
    let media_type = input.name.record.and_then(|record| record.media_type.split_once('/'));
    let format = media_type.map_or(Format::Other, |(one, two)| Format::of_media_type(one, two));
    format.has_headings() || is_read(format, &options.scan)
}
