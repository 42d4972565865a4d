//! `baselink localize`: an offline mirror of a folder, of several files and folders, or of a saved page with its companion folder.
//! Archives that are found become folders beside their places; archives that are named alone go to `rewrite::extract`.
//!
//! ```text
//! $ baselink localize --layout host --index index.html crawl -o mirror
//! 3 files: 2 changed, 1 with nothing to change
//!   css    1 file, 1 link: 1 local
//!   html  2 files, 4 links: 3 made local, 1 made absolute
//! ```
//!
//! All files are listed first, because links need the file of each URL. The head of a file is read only if it may
//! give the retrieval URL (RFC 1808, 3.3).
//!
//! Deliberately absent: rewriting files ([`super::rewrite`]), and the new form of a link
//! (`baselink_site::purpose::localize`).

use std::{
    fs, iter,
    path::{Path, PathBuf},
};

use baselink_text::{Error, Result, name};
use clap::{Arg, Args};

use super::{
    args::{
        help::{LOCALIZE_AFTER, for_folders, with_help},
        output::{Extraction, Rewrite, check_list_of_missing},
    },
    expected_url::report_expected_url,
    files::with_captures,
    output::Output,
    request::{Archives, SameUrls, folder_of, is_standard_input},
    results::require_other,
    rewrite::{extract, extract::CapturedFolder, rewrite},
    status::{ExitStatus, FileResult},
};
use baselink_files::{
    stop::is_stopped,
    walk::{EntryKind, Globs, Selection, TreeEntry},
    write::NewContents,
};
use baselink_site::{
    collection::{Collection, companion},
    purpose::rewriting::RewriteKind,
    reading::{collect, enter_unpacked, library},
};

/// The arguments of `localize` that differ from those of `rewrite`.
fn of_localize(mut arg: Arg) -> Arg {
    let paths = "A folder, archives, such as crawl.warc.gz, or a saved page";
    let help = match arg.get_id().as_str() {
        "output" => {
            arg = arg.value_name("DIR");
            "The folder for the mirror, or FILE.html for one page with all that it embeds\n\nEach file is replaced whole or not at all. The mirror of a folder contains all \
             selected files, even those that do not change. For an archive, the folder must be new, empty, or the result of \
             an earlier run."
        }
        "strict" => {
            "Exit with 1 if a link can be made neither local nor absolute, or if a record of an archive causes a warning\n\n\
             Links that are left for one of these reasons are accepted: id-reference, empty, placeholder, fragment, \
             base-element, local-copy, kept."
        }
        "json" => {
            "Print a JSON object for each file; requires -o, -i or --dry-run\n\nIts keys are path, format, output (null if \
             nothing was written), the numbers of links by result (made-local, local, made-absolute, absolute, base-emptied, \
             nowhere, no-base, left, not-editable), verified (the number of edits that --verify proved), and diagnostics (an array of code, line, column, start, end, message)."
        }
        "verbose" => "Report how each base was found, and the missing URLs with the most links",
        _ => return for_folders(arg, paths),
    };
    with_help(arg, help)
}

/// The request of `baselink localize`.
#[derive(Args)]
#[command(after_help = LOCALIZE_AFTER, mut_args(of_localize))]
pub struct Localize {
    #[command(flatten)]
    pub rewrite: Rewrite,
    #[command(flatten)]
    pub extraction: Extraction,
    #[command(flatten)]
    same: SameUrls,
    /// True if archives are named, and nothing else.
    #[arg(skip)]
    is_of_archives: bool,
}

impl Localize {
    /// True if the mirror is another folder.
    pub fn is_elsewhere(&self) -> bool {
        self.rewrite.output.is_some()
    }

    /// Selects a page with its saved files, and checks the arguments together.
    pub fn complete(&mut self) -> Result<()> {
        self.rewrite.takes_one_page(&self.extraction.entry)?;
        // Integrity and policies are about resources, which become parts of the page.
        self.extraction.adapts |= self.rewrite.page.is_some() && !self.extraction.is_exact;
        let documents = &mut self.rewrite.documents.inputs;
        documents.archives = Archives::Site;
        documents.opens_from_disk = true;
        enter_unpacked(documents);
        self.same.apply(&mut documents.reading);
        documents.reading.options.scan.probe();
        if let [page] = documents.paths.as_slice()
            && documents.is_page(page)
        {
            let (parts, include) = page_and_companions(page)?;
            if let (Some(one), Some(own)) = (&mut self.rewrite.page, page.file_name()) {
                one.entry = Some(own.to_string_lossy().into());
            }
            let folder = folder_of(page).to_owned();
            match documents.below_settings.remove(page) {
                // The URL in the settings is that of a folder.
                Some(mut way) => {
                    way.pop();
                    documents.below_settings.insert(folder.clone(), way);
                }
                None => {
                    let own_name = page.file_name().unwrap_or_default().to_owned();
                    let origins = &mut documents.reading.origins;
                    origins.root_url = origins.root_url.take().map(|url| url.of_page(own_name));
                }
            }
            documents.selection.include = include;
            (documents.paths, documents.parts) = (vec![folder], parts);
        }
        let is_archive = |path: &PathBuf| path.is_file() && documents.holds_resources(path);
        self.is_of_archives = documents.paths.iter().all(is_archive);
        if documents.paths.len() > 1 && !self.is_of_archives {
            documents.selection.in_one_folder = true;
            // The URLs in the settings are those of the files and folders, and these are named in the one folder.
            for way in documents.below_settings.values_mut() {
                way.pop();
            }
        }
        if documents.has_folder() {
            let folder = documents.paths[0].clone();
            documents.reading.origins.assume_site(&folder);
        }
        if self.rewrite.output.is_some() {
            library::enter(documents);
        }
        self.rewrite.complete()?;
        let printing = [
            ("--json", self.rewrite.json),
            ("--diff", self.rewrite.changes.diff),
        ];
        check_list_of_missing(self.extraction.missing.as_deref(), &printing)
    }
}

/// A page and the folders that a browser saved with it, and the patterns for them below its folder.
fn page_and_companions(page: &Path) -> Result<(Vec<PathBuf>, Globs)> {
    let own = page.file_name().unwrap_or_default().to_owned();
    let (mut parts, mut patterns) = (Vec::new(), Vec::new());
    for (name, end) in iter::once((own, "")).chain(
        companion::folders_of(page)
            .into_iter()
            .map(|one| (one, "/")),
    ) {
        let pattern = Globs::exact(Path::new(&name)).map(|pattern| pattern + end);
        patterns.push(pattern.ok_or_else(|| {
            Error::file(page, "the file name is not UTF-8; name its folder instead")
        })?);
        parts.push(folder_of(page).join(name));
    }
    parts[0] = page.to_owned();
    Ok((parts, Globs::new(&patterns)?))
}

/// Makes an offline mirror.
pub fn run(request: &Localize, output: &mut Output) -> FileResult<ExitStatus> {
    let documents = &request.rewrite.documents;
    require_folders(request)?;
    if let Some(one) = &request.rewrite.page {
        require_other(documents, &one.to)?;
    }
    require_writable_list(request)?;
    if request.is_of_archives {
        return extract(&request.rewrite, Some(&request.extraction), output);
    }
    let is_in_place = request.rewrite.in_place().is_some();
    report_expected_url(documents, None, is_in_place, output)?;
    let mut collection = collection(request)?;
    if request.is_elsewhere() {
        collection.rename_for_mirror();
    }
    let extraction = &request.extraction;
    if documents.library.is_empty() && (extraction.near.is_some() || extraction.is_exact) {
        let why = "--date and --exact apply only to archives; a folder has no captures";
        return Err(Error::new(why).into());
    }
    let (collection, plans) = with_captures(documents, extraction.near, collection, output)?;
    if is_stopped() {
        output.error("stopped before anything was written");
        return Ok(ExitStatus::Stopped);
    }
    let kind = RewriteKind::Local {
        collection,
        missing: extraction.missing.clone(),
        adapts: extraction.adapts,
    };
    let folders = plans.into_iter();
    let folders: Vec<_> = folders
        .map(|plan| CapturedFolder::new(plan, Some(extraction)))
        .collect();
    rewrite(&request.rewrite, (&kind, &folders), output)
}

/// Rejects inputs that are neither files nor folders, and several in place.
fn require_folders(request: &Localize) -> Result<()> {
    let paths = &request.rewrite.documents.paths;
    let refused = |path: &Path, why: &str| Err(Error::file(path, why));
    for path in paths {
        if is_standard_input(path) {
            let why = "localize cannot read standard input; name archives, or a folder";
            return refused(path, why);
        }
        let found = path.metadata().map_err(Error::io(path))?;
        if !found.is_dir() && !found.is_file() {
            return refused(path, "not a regular file; name archives, or a folder");
        }
    }
    match &**paths {
        [_, second, ..] if !request.is_of_archives && !request.is_elsewhere() => refused(
            second,
            "several files and folders become one folder; name it with -o DIR",
        ),
        _ => Ok(()),
    }
}

/// Rejects a list of missing URLs that cannot be written, or would be inside an input folder or the mirror.
fn require_writable_list(request: &Localize) -> Result<()> {
    let Some(list) = request
        .extraction
        .missing
        .as_deref()
        .filter(|path| !is_standard_input(path))
    else {
        return Ok(());
    };
    let real = |path: &Path| fs::canonicalize(path).ok();
    let around = real(folder_of(list));
    let is_within = |folder: &Path| {
        around
            .as_ref()
            .zip(real(folder))
            .is_some_and(|(list, folder)| list.starts_with(folder))
    };
    let mut folders = request
        .rewrite
        .documents
        .paths
        .iter()
        .map(PathBuf::as_path)
        .chain(request.rewrite.out());
    match folders.find(|folder| is_within(folder)) {
        Some(folder) => Err(Error::new(format!(
            "{}: --missing needs a file outside the folder {}, or it would become part of the mirror",
            name(list),
            name(folder)
        ))),
        None => NewContents::begin(list).map(drop),
    }
}

/// The files of the mirror.
fn collection(request: &Localize) -> Result<Collection> {
    let documents = &request.rewrite.documents;
    // In place, links may lead to all files. An output folder has only the selected files.
    let all = Selection {
        hidden: true,
        follow: documents.selection.follow,
        ..Selection::default()
    };
    let selection = if request.is_elsewhere() {
        &documents.selection
    } else {
        &all
    };
    let is_in_mirror = |entry: &TreeEntry| {
        matches!(entry.kind, EntryKind::File | EntryKind::Symlink) || !request.is_elsewhere()
    };
    let mut collection = collect(documents, selection, is_in_mirror)?;
    // A link to a symbolic link in the folder leads to the copy of its file.
    if request.is_elsewhere() {
        collection.without_links();
    }
    Ok(collection)
}
