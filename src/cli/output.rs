//! Printing: results go to standard output, everything else to standard error.
//!
//! ```text
//! page.html:3:9: warning[base-relative]: the href of this base element is relative …
//! page.html: base http://a/b/ (3.1 base-element); 12 links: 9 rewritten, 2 absolute, 1 left (placeholder)
//! ```
//!
//! Text from documents is shown with its control characters escaped, so that it can neither break a line nor control
//! the terminal. On standard error, the marks of GitHub's workflow commands are escaped, too. Errors while writing to
//! standard error are ignored.
//!
//! Deliberately absent: deciding what to report, which the commands do.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fmt::{self, Display},
    io::{self, BufWriter, ErrorKind, IsTerminal, Stdout, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use anstream::AutoStream;
use anstyle::{AnsiColor, Style};
use baselink_rewrite::{Lack, LinkReport, Outcome, Reason, Report};
pub use baselink_text::count;
use baselink_text::{Code, Diagnostic, Error, layer::escape::percent_encode, name, visible};
use clap::ColorChoice;
use serde::Serialize;

use super::{
    advice::sentence,
    json_records::append_json,
    progress::Progress,
    request::{Verbosity, is_standard_input},
    status::{ExitStatus, Failure, FileResult},
};
use baselink_files::write::{NewContents, write_file};
use baselink_site::{
    collection::origin::without_assumed_hosts,
    purpose::rewriting::StrictViolations,
    reading::{File, FilePlaces, Input, Listener},
};

/// The level that gave the base.
pub const TAKEN: Style = AnsiColor::Green.on_default().bold();
/// An invalid value.
pub const INVALID: Style = AnsiColor::Red.on_default();
/// An added line of a diff.
pub const ADDED: Style = AnsiColor::Green.on_default();
/// A removed line of a diff.
pub const REMOVED: Style = AnsiColor::Red.on_default();
/// A heading.
pub const HEADING: Style = Style::new().bold();
/// Secondary text, such as the place `page.html:3:9` in a file.
pub const FAINT: Style = Style::new().dimmed();
const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();

/// The style of an outcome.
pub fn style_of(outcome: Outcome) -> Style {
    match outcome {
        Outcome::Rewritten => AnsiColor::Green.on_default(),
        Outcome::Absolute => Style::new(),
        Outcome::Left => AnsiColor::Cyan.on_default(),
        Outcome::NoBase | Outcome::NotEditable => AnsiColor::Red.on_default(),
    }
}

/// Applies styles to text for a stream; true if the stream shows colours.
#[derive(Clone, Copy, Default)]
pub struct Styler(bool);

impl Styler {
    /// Wraps `text` in `style`, if the stream shows colours.
    pub fn paint(self, style: Style, text: impl Display) -> String {
        let style = self.style(style);
        format!("{style}{text}{style:#}")
    }

    /// Returns `style`, or no style if the stream does not show colours.
    pub fn style(self, style: Style) -> Style {
        if self.0 { style } else { Style::new() }
    }
}

/// Both streams of the program, or a buffer that is printed later.
#[derive(Default)]
pub struct Output {
    /// The streams; `None` if the output goes to the buffer.
    streams: Option<StandardOutput>,
    /// The output about one file from a worker thread, kept until all earlier files have been printed.
    buffer: Vec<(Stream, Vec<u8>)>,
    verbosity: Verbosity,
    /// True if standard output is a terminal.
    pub is_terminal: bool,
    /// The styles of standard output.
    pub styler: Styler,
    err: Styler,
    /// The diagnostics so far, if they are counted instead of printed one by one.
    counted: Option<CountedDiagnostics>,
    /// The folders so far that `--layout host` takes for hosts although their names have no dot.
    pub dotless_hosts: BTreeSet<PathBuf>,
    /// True if a result was begun, so that the next one needs a divider.
    is_begun: bool,
    /// The file that gets the results instead of standard output.
    pub file: Option<NewContents>,
    /// The progress bar, which advances even while results go to `file`.
    progress: Option<Arc<Progress>>,
    /// True if this is the output of a worker thread.
    is_buffered: bool,
    /// A buffer for one line of JSON.
    json_line: Vec<u8>,
}

/// Standard output.
struct StandardOutput {
    out: BufWriter<Stdout>,
    /// True if the work goes on after an error, because it writes files.
    ignores_errors: bool,
    /// The first ignored error; nothing is written after it.
    ignored_error: Option<io::Error>,
}

impl StandardOutput {
    /// Writes, unless an error was ignored; then, and if one is ignored now, returns `instead`.
    fn attempt<T>(
        &mut self,
        instead: T,
        write: impl FnOnce(&mut BufWriter<Stdout>) -> io::Result<T>,
    ) -> io::Result<T> {
        if self.ignored_error.is_some() {
            return Ok(instead);
        }
        match write(&mut self.out) {
            Err(error) if self.ignores_errors => {
                self.ignored_error = Some(error);
                Ok(instead)
            }
            result => result,
        }
    }
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.attempt(bytes.len(), |out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attempt((), BufWriter::flush)
    }
}

#[derive(PartialEq, Eq)]
enum Stream {
    Out,
    Err,
    /// A divider between two results; not printed before the first one.
    Divider,
}

/// The place for more bytes of `stream` in the pieces of a buffer.
fn bytes_for(pieces: &mut Vec<(Stream, Vec<u8>)>, stream: Stream) -> &mut Vec<u8> {
    if pieces.last().is_none_or(|(last, _)| *last != stream) {
        pieces.push((stream, Vec::new()));
    }
    let last = pieces.len() - 1;
    &mut pieces[last].1
}

/// The number of occurrences of each diagnostic and error, and its first message. The key is the code of a diagnostic, or the
/// sentence about a file that could not be used, without its name.
type CountedDiagnostics = BTreeMap<(Option<&'static str>, String), (usize, String)>;

impl Output {
    /// Creates the output for the streams of the program.
    pub fn new(verbosity: Verbosity) -> Self {
        // `AutoStream` knows NO_COLOR, CLICOLOR, TERM and terminals.
        let colored = |auto| match verbosity.color {
            ColorChoice::Auto => auto != anstream::ColorChoice::Never,
            ColorChoice::Never => false,
            ColorChoice::Always => true,
        };
        Self {
            streams: Some(StandardOutput {
                out: BufWriter::new(io::stdout()),
                ignores_errors: false,
                ignored_error: None,
            }),
            verbosity,
            is_terminal: io::stdout().is_terminal(),
            styler: Styler(colored(AutoStream::choice(&io::stdout()))),
            err: Styler(colored(AutoStream::choice(&io::stderr()))),
            ..Self::default()
        }
    }

    /// Lets the work go on if standard output is closed, because the results are files.
    pub fn ignore_closed_stdout(&mut self) {
        if let Some(out) = &mut self.streams {
            out.ignores_errors = true;
        }
    }

    /// Flushes standard output, and returns the error that was ignored, unless it was a closed pipe.
    pub fn end(&mut self) -> io::Result<()> {
        self.flush()?;
        let streams = self.streams.as_mut();
        let ignored = streams.and_then(|out| out.ignored_error.take());
        ignored
            .filter(|error| error.kind() != ErrorKind::BrokenPipe)
            .map_or(Ok(()), Err)
    }

    /// Shows a progress bar on standard error, or removes it.
    pub fn show_progress(&mut self, progress: Option<Progress>) {
        if !self.is_buffered {
            self.progress = progress.map(Arc::new);
        }
    }

    /// An output whose results go to `file`, with messages in a buffer of their own.
    pub fn with_file(&self, file: NewContents) -> Self {
        Self {
            is_terminal: false,
            styler: Styler(false),
            is_begun: false,
            file: Some(file),
            progress: self.progress.clone(),
            is_buffered: self.is_buffered,
            ..self.blank()
        }
    }

    /// The destination of results: a file, standard output or the buffer.
    pub fn out(&mut self) -> &mut dyn Write {
        match (&mut self.file, &mut self.streams) {
            (Some(file), _) => file,
            (None, Some(out)) => out,
            (None, None) => bytes_for(&mut self.buffer, Stream::Out),
        }
    }

    /// A writer of lines to the same destination. The lines may quote names and references.
    pub fn lines(&mut self) -> TextLines<'_> {
        TextLines {
            out: self.out(),
            line: Vec::new(),
        }
    }

    /// Prints `divider` before every result except the first.
    pub fn divide(&mut self, divider: &[u8]) -> io::Result<()> {
        let is_begun = std::mem::replace(&mut self.is_begun, true);
        match (&self.file, &self.streams) {
            (None, None) => self.buffer.push((Stream::Divider, divider.to_vec())),
            _ if is_begun => self.out().write_all(divider)?,
            _ => {}
        }
        Ok(())
    }

    /// Prints an empty line before every result except the first.
    pub fn blank_line(&mut self) -> io::Result<()> {
        self.divide(b"\n")
    }

    /// True with --verbose.
    pub fn is_verbose(&self) -> bool {
        self.verbosity.verbose
    }

    /// The width of the terminal in columns; `None` without a terminal.
    pub fn width(&self) -> Option<usize> {
        self.is_terminal
            .then(terminal_size::terminal_size)
            .flatten()
            .map(|(width, _)| width.0.into())
    }

    /// Flushes standard output.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out().flush()
    }

    /// Prints a line of text: escaped on a terminal, otherwise unchanged.
    pub fn text(&mut self, text: &[u8]) -> io::Result<()> {
        let lossy = self.is_terminal.then(|| String::from_utf8_lossy(text));
        let shown = lossy.as_deref().map(visible);
        let text = shown.as_deref().map_or(text, str::as_bytes);
        let out = self.out();
        out.write_all(text)?;
        out.write_all(b"\n")
    }

    /// Prints a record as one line of JSON.
    pub fn json(&mut self, record: &impl Serialize) -> io::Result<()> {
        let mut line = std::mem::take(&mut self.json_line);
        line.clear();
        append_json(&mut line, record)?;
        line.push(b'\n');
        let written = self.out().write_all(&line);
        self.json_line = line;
        written
    }

    /// Writes `urls`, one per line, to the file at `path` and reports their number; prints them if `path` is `-`.
    pub fn write_list(
        &mut self,
        path: &Path,
        urls: &[String],
        [one, more]: [&str; 2],
    ) -> FileResult<()> {
        let list: String = urls.iter().flat_map(|url| [url, "\n"]).collect();
        if is_standard_input(path) {
            return Ok(self.out().write_all(list.as_bytes())?);
        }
        write_file(path, |out| out.write_all(list.as_bytes()))?;
        let listed = count(urls.len(), one, more);
        self.notice(format_args!("{listed} listed in {}", name(path)));
        Ok(())
    }

    /// Reports an error: something could not be done, or a condition does not hold.
    pub fn error(&mut self, sentence: impl Display) {
        self.print_sentence(&(self.err.paint(ERROR, "error:") + " "), sentence);
    }

    /// Reports an error about the file at `path`. Missing permissions are counted, because in a read-only folder every file
    /// lacks them.
    pub fn error_or_count(&mut self, path: &Path, error: Error) {
        let sentence = error.to_string();
        let why = sentence.replacen(&name(path), "", 1);
        let is_denied = io::Error::from(error).kind() == ErrorKind::PermissionDenied;
        match &mut self.counted {
            Some(counted) if is_denied => {
                counted.entry((None, why)).or_insert((0, sentence)).0 += 1;
            }
            _ => self.error(sentence),
        }
    }

    /// Prints a warning about the contents of a document.
    fn print_warning(&mut self, place: Option<&str>, code: &str, sentence: &str) {
        if !self.verbosity.quiet {
            let place = place.map(|place| format!("{}: ", self.err.paint(FAINT, visible(place))));
            let warning = self.err.paint(WARNING, format_args!("warning[{code}]:"));
            let before = format!("{}{warning} ", place.unwrap_or_default());
            self.print_sentence(&before, sentence);
        }
    }

    /// Reports a warning about files rather than their contents.
    pub fn caution(&mut self, sentence: impl Display) {
        if !self.verbosity.quiet {
            self.print_sentence(&(self.err.paint(WARNING, "warning:") + " "), sentence);
        }
    }

    /// Notes the folder that `--layout host` takes for the host of `file`, if its name has no dot.
    pub fn note_host(&mut self, file: &File<'_>) {
        let folder = file.dotless_host.map(Path::to_owned);
        self.dotless_hosts.extend(folder);
    }

    /// Warns about recorded URLs that cannot be the retrieval URL of a file, and about several messages read as one.
    pub fn report_opened(&mut self, file: &File<'_>) {
        for sentence in &file.passed_over {
            self.warning(None, "retrieval-url", sentence);
        }
        if file.is_mailbox_read_as_one() {
            self.warning(
                Some(&name(file.path)),
                "mailbox",
                "several messages are read as one document; use --format mbox",
            );
        }
    }

    /// Warns that a file found in a folder is not the document that its name promises.
    pub fn report_non_document(&mut self, remark: Option<&str>) {
        if let Some(sentence) = remark {
            self.warning(None, "no-document", sentence);
        }
    }

    /// Prints a note.
    pub fn notice(&mut self, sentence: impl Display) {
        if !self.verbosity.quiet {
            self.print_sentence("", sentence);
        }
    }

    /// Prints `sentence` and the names of these files, if there are any: the first ten, or all with `--verbose`.
    pub fn notice_of_paths(&mut self, sentence: &str, paths: &[Vec<u8>]) {
        let named = if self.verbosity.verbose {
            paths.len()
        } else {
            paths.len().min(10)
        };
        let names: Vec<_> = paths[..named]
            .iter()
            .map(|path| String::from_utf8_lossy(path))
            .collect();
        let more = if named < paths.len() {
            ", …; -v names all"
        } else {
            ""
        };
        if !names.is_empty() {
            self.notice(format_args!("{sentence}: {}{more}", names.join(", ")));
        }
    }

    /// Prints the number of these files, with its noun and verb in singular and plural, `what`, and their names, if there are
    /// any.
    pub fn notice_of_files(&mut self, paths: &[Vec<u8>], [one, more]: [&str; 2], what: &str) {
        let number = count(paths.len(), one, more);
        self.notice_of_paths(&format!("{number} {what}"), paths);
    }

    /// Prints a note that begins with `number`, unless it is zero; `one` and `more` are the noun and verb in singular
    /// and plural.
    pub fn notice_of(&mut self, number: usize, [one, more]: [&str; 2], what: &str) {
        if number > 0 {
            self.notice(format_args!("{} {what}", count(number, one, more)));
        }
    }

    /// True if the result for each file is reported.
    pub fn reports_files(&self) -> bool {
        self.counted.is_none() && !self.verbosity.quiet
    }

    /// Prints a note about one file. If an input is a folder, only `--verbose` prints it.
    pub fn notice_of_file(&mut self, sentence: impl Display) {
        if self.counted.is_none() {
            self.notice(sentence);
        }
    }

    /// Like [`Output::notice_of`], about the file at `path`.
    pub fn notice_in(&mut self, path: &Path, number: usize, [one, more]: [&str; 2], what: &str) {
        if number > 0 {
            let number = count(number, one, more);
            self.notice_of_file(format_args!("{}: {number} {what}", name(path)));
        }
    }

    /// Prints a sentence on one line, with control characters escaped: it may quote text from any source.
    fn print_sentence(&mut self, before: &str, sentence: impl Display) {
        let sentence = sentence.to_string();
        self.print_line(format_args!("{before}{}", visible(&sentence)));
    }

    fn print_line(&mut self, line: fmt::Arguments<'_>) {
        let line = format!("{line}\n");
        self.print_bytes(without_workflow_command(&line).as_bytes());
    }

    fn print_bytes(&mut self, bytes: &[u8]) {
        match &mut self.streams {
            None => bytes_for(&mut self.buffer, Stream::Err).extend_from_slice(bytes),
            Some(out) => {
                // Keeps the order of events if both streams are the same terminal.
                let _ = out.flush();
                let print = || io::stderr().lock().write_all(bytes);
                let _ = match &self.progress {
                    Some(progress) => progress.bar.suspend(print),
                    None => print(),
                };
            }
        }
    }

    /// Reports the diagnostics of a document.
    pub fn report_diagnostics(&mut self, places: &FilePlaces<'_>, diagnostics: &[Diagnostic]) {
        for found in by_place(diagnostics) {
            self.report_diagnostic(places, found);
        }
    }

    /// Reports a diagnostic.
    pub fn report_diagnostic(&mut self, places: &FilePlaces<'_>, found: &Diagnostic) {
        // The HTTP fields of a record are never written, so a renamed field does not matter. This check comes first,
        // because computing a place is expensive: all lines before it are counted.
        let is_unwritten = found.code == Code::FieldsRenamed && places.record().is_some();
        if self.verbosity.quiet || is_unwritten {
            return;
        }
        let place = places.at(found.span);
        self.warning(Some(&place), found.code.name(), &sentence(found));
    }

    /// With `--verbose`, prints how each base was found.
    pub fn report_bases(&mut self, input: &Input<'_>, places: &FilePlaces<'_>, report: &Report) {
        if !self.verbosity.verbose || self.verbosity.quiet {
            return;
        }
        for entity in &report.entities {
            let whose = match &*entity.chain.entity {
                "" => String::new(),
                number => format!("entity {number}: "),
            };
            for level in &entity.chain.chain {
                let place = level
                    .span
                    .map_or_else(|| input.name.to_string(), |span| places.at(span));
                let value = level.value.as_deref().map(without_assumed_hosts);
                let value = value.map(|value| format!(" {}", visible_reference(&value)));
                self.print_line(format_args!(
                    "{}: {whose}{} {}{}: {}: {}",
                    self.err.paint(FAINT, place),
                    level.rule.section(),
                    level.source.name(),
                    value.unwrap_or_default(),
                    level.status.name(),
                    visible(&without_assumed_hosts(&level.reason))
                ));
            }
        }
    }

    /// With `--verbose`, prints the links that were neither rewritten nor absolute, with their reasons. Links that
    /// already had the chosen text are omitted.
    pub fn report_links_left(&mut self, places: &FilePlaces<'_>, links: &[LinkReport]) {
        if !self.verbosity.verbose || self.verbosity.quiet {
            return;
        }
        for link in links.iter().filter(|link| is_left(link)) {
            let (place, what) = (places.at(link.span), outcome_and_reason(link));
            let place = self.err.paint(FAINT, place);
            let (location, reference) = (location(link), visible_reference(&link.reference));
            self.print_line(format_args!("{place}: {what}: {location} {reference}"));
        }
    }
}

impl Listener for Output {
    fn blank(&self) -> Self {
        Self {
            counted: self.counted.is_some().then(CountedDiagnostics::default),
            verbosity: self.verbosity,
            is_terminal: self.is_terminal,
            styler: self.styler,
            err: self.err,
            is_begun: self.is_begun,
            is_buffered: true,
            ..Self::default()
        }
    }

    fn append(&mut self, later: Self) -> io::Result<()> {
        for (stream, bytes) in later.buffer {
            match stream {
                Stream::Out => self.out().write_all(&bytes)?,
                Stream::Err => self.print_bytes(&bytes),
                Stream::Divider => self.divide(&bytes)?,
            }
        }
        self.dotless_hosts.extend(later.dotless_hosts);
        if let Some(counted) = &mut self.counted {
            for (kind, (number, first)) in later.counted.unwrap_or_default() {
                counted.entry(kind).or_insert((0, first)).0 += number;
            }
        }
        Ok(())
    }

    fn is_of_worker(&self) -> bool {
        self.is_buffered
    }

    /// With `--verbose`, diagnostics are not counted.
    fn begin_counting(&mut self) -> bool {
        let begins = self.counted.is_none() && !self.verbosity.verbose;
        if begins {
            self.counted = Some(CountedDiagnostics::default());
        }
        begins
    }

    fn end_counting(&mut self) {
        for ((code, _), (number, first)) in self.counted.take().unwrap_or_default() {
            let sentence = match number {
                1 => first,
                _ => format!("{number} times; -v lists all; the first is {first}"),
            };
            match code {
                None => self.error(sentence),
                Some(code) => self.print_warning(None, code, &sentence),
            }
        }
    }

    fn error(&mut self, error: &Error) {
        Self::error(self, error);
    }

    fn warning(&mut self, place: Option<&str>, code: &'static str, sentence: &str) {
        match &mut self.counted {
            Some(counted) => {
                let first = || match place {
                    Some(place) => format!("{place}: {sentence}"),
                    None => sentence.to_owned(),
                };
                let kind = (Some(code), String::new());
                counted.entry(kind).or_insert_with(|| (0, first())).0 += 1;
            }
            None => self.print_warning(place, code, sentence),
        }
    }

    fn advance_to(&self, place: u64) {
        if let Some(progress) = &self.progress {
            progress.advance_to(place);
        }
    }

    fn finish_file(&self, size: u64) {
        if let Some(progress) = &self.progress {
            progress.finish_file(size);
        }
    }
}

/// True for a link that `--verbose` lists.
pub fn is_left(link: &LinkReport) -> bool {
    match link.outcome {
        _ if link.lack == Some(Lack::Served) => true,
        Outcome::Rewritten | Outcome::Absolute => link.reason.is_some(),
        _ => link.reason != Some(Reason::Chosen),
    }
}

/// Returns the result of the work on a file. If the file failed, reports the error and returns `None`.
pub fn ok_or_report<T>(
    ended: Result<T, impl Into<Failure>>,
    output: &mut Output,
) -> io::Result<Option<T>> {
    let ended = Failure::separate(ended.map_err(Into::into))?;
    Ok(ended.map_err(|error| output.error(error)).ok())
}

/// Reports the first of the links that `--strict` does not accept, and their number; `done` is the expected result in words, such as `made absolute`.
pub fn report_strict(
    strict: &StrictViolations,
    places: &FilePlaces<'_>,
    done: &str,
    output: &mut Output,
) -> ExitStatus {
    let Some(link) = &strict.first else {
        return ExitStatus::Done;
    };
    let (place, what) = (places.at(link.span), outcome_and_reason(link));
    let first = format_args!("'{}'", link.reference);
    match strict.number {
        1 => output.error(format_args!(
            "{place}: --strict: {first} was not {done}: {what}"
        )),
        number => output.error(format_args!(
            "{place}: --strict: {number} links were not {done}, the first is {first}: {what}; \
             -v lists all"
        )),
    }
    ExitStatus::NotHeld
}

/// A reference with its control characters escaped; an empty one as `""`.
pub fn visible_reference(reference: &str) -> Cow<'_, str> {
    if reference.is_empty() {
        "\"\"".into()
    } else {
        visible(reference)
    }
}

/// A writer of whole lines of text, without the marks of workflow commands.
pub struct TextLines<'a> {
    out: &'a mut dyn Write,
    /// The start of a line, until the line ends.
    line: Vec<u8>,
}

impl Write for TextLines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                let line = String::from_utf8_lossy(&line);
                self.out
                    .write_all(without_workflow_command(&line).as_bytes())?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Escapes the marks of workflow commands, which runners obey in the log of any program: `::` at the start of a line, after white
/// space, and `##[` anywhere (`ActionCommand.cs` of GitHub's), and `##vso[` (Azure Pipelines).
pub fn without_workflow_command(line: &str) -> Cow<'_, str> {
    let rest = line.trim_start();
    let line = rest
        .strip_prefix("::")
        .map(|rest| format!("\\u{{3a}}:{rest}"))
        .map_or(line.into(), Cow::Owned);
    if line.contains("##[") || line.contains("##vso[") {
        let line = line.replace("##[", "#\\u{23}[");
        line.replace("##vso[", "#\\u{23}vso[").into()
    } else {
        line
    }
}

/// The element and attribute of a link, such as `a[href]`, preceded by the number of its entity, if it has one. For a
/// link in a style sheet, which has no elements, the element is `-`.
pub fn location(link: &LinkReport) -> String {
    let mut place = String::new();
    if !link.entity.is_empty() {
        place.extend([&link.entity, ":"]);
    }
    match &*visible(&link.element) {
        "" => place.push('-'),
        element => place.push_str(element),
    }
    if let Some(name) = &link.attribute {
        place.extend(["[", &visible(name), "]"]);
    }
    place
}

fn outcome_and_reason(link: &LinkReport) -> String {
    let served = (link.lack == Some(Lack::Served)).then_some("served");
    let reason = link.reason.map(Reason::name).or(served);
    let reason = reason.map(|reason| format!(" ({reason})"));
    format!("{}{}", link.outcome.name(), reason.unwrap_or_default())
}

/// The diagnostics of a document, in the order of the file.
pub fn by_place(diagnostics: &[Diagnostic]) -> Vec<&Diagnostic> {
    let mut diagnostics: Vec<_> = diagnostics.iter().collect();
    diagnostics.sort_by_key(|found| found.span.start);
    diagnostics
}

/// A URL for a list of one URL per line: spaces and ASCII control characters are percent-encoded.
pub fn url_for_list(url: &str) -> String {
    percent_encode(url, |c| matches!(c, '\0'..=' ' | '\x7f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workflow_commands_are_escaped() {
        for (line, expected) in [
            ("::error::x", r"\u{3a}:error::x"),
            (" \t::stop-commands::x", r"\u{3a}:stop-commands::x"),
            ("a::b", "a::b"),
            ("a ##[b]###[", r"a #\u{23}[b]##\u{23}["),
            ("##vso[a]", r"#\u{23}vso[a]"),
            ("# [a]", "# [a]"),
        ] {
            assert_eq!(without_workflow_command(line), expected);
        }
    }
}
