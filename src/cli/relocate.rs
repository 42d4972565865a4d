//! `baselink move`: a folder moves to another URL, and every link still leads to its target.
//!
//! ```text
//! $ baselink move --url http://old.example/ --to http://new.example/sub/ site -o moved
//! 3 files: 2 changed, 1 copied
//!   html  2 files, 5 links: 3 moved root-relative, 2 unchanged
//! ```
//!
//! All files are listed first: links need the file of each URL, and renames need the names in use.
//!
//! Deliberately absent: rewriting files ([`super::rewrite`]), and the new form of a link
//! (`baselink_site::purpose::relocate`).

use std::{
    cmp::Reverse,
    collections::HashMap,
    ffi::OsString,
    fs, io, mem,
    path::{self, Path, PathBuf},
    sync::Arc,
};

use baselink_scan::attributes::Group;
use baselink_text::{Error, Result, name};
use clap::{
    Arg, Args,
    builder::{PossibleValuesParser, TypedValueParser},
};

use super::{
    args::{
        help::{MOVE_AFTER, for_folders, with_help},
        output::Rewrite,
    },
    expected_url::report_expected_url,
    output::{Output, count},
    request::{Archives, SameUrls, is_standard_input, is_usual_backup, new_url},
    results::is_folder,
    rewrite::rewrite,
    status::{ExitStatus, FileResult},
};
use baselink_files::{
    result_folder::ResultFolder,
    stage::StagedMove,
    stop::{is_stopped, stop_between_files},
    walk::{EntryKind, Selection, TreeEntry, walk},
    write::write_file,
};
use baselink_site::{
    collection::{
        folder::{name_of, path_of},
        origin::{RootUrl, names::path_bytes},
        rename_list::Renames,
        same::SamePrefixes,
    },
    purpose::{
        redirects::{pages, redirects},
        relocate::{LinkForm, Relocation},
        rewriting::RewriteKind,
    },
    reading::collect,
};

/// The arguments of `move` that differ from those of `rewrite`. Those that do not apply to one folder are hidden.
fn of_move(mut arg: Arg) -> Arg {
    let help = match arg.get_id().as_str() {
        "output" => {
            arg = arg.value_name("DIR");
            "The folder for the moved copy\n\nEach file is replaced whole or not at all. The copy contains all selected \
             files, even those that do not change."
        }
        "strict" => {
            "Exit with 1 if a link cannot be moved\n\nLinks that are left for one of these reasons are accepted: \
             id-reference, empty, placeholder, fragment, base-element, local-copy, kept."
        }
        "json" => {
            "Print a JSON object for each file; requires -o, -i or --dry-run\n\nIts keys are path, format, output (null if \
             nothing was written), the numbers of links by result, verified (the number of edits that --verify proved), and diagnostics (an array of code, line, column, start, \
             end, message)."
        }
        "verbose" => {
            "Report the links that were not moved, and the URLs of the folder that have no file"
        }
        "url_map" | "layout" | "trust" | "assume_scheme" | "include" => {
            return arg.hide(true);
        }
        _ => {
            let paths = "The folder of a site; or one page, a file or `-` for standard input, whose URL is --url";
            return for_folders(arg, paths);
        }
    };
    with_help(arg, help)
}

/// The request of `baselink move`.
#[derive(Args)]
#[command(next_help_heading = "What to move")]
#[command(after_help = MOVE_AFTER, mut_args(of_move))]
pub struct Move {
    /// The new URL of the folder; OLD=NEW moves the URLs below OLD, such as those of a second host; repeatable
    ///
    /// The OLD that equals --url, or without --url the first, is the URL of the folder. If a URL is below several, the longest counts. In
    /// a page that moves alone, every URL below OLD counts as that of a file.
    #[arg(long = "to", value_name = "URL")]
    typed_to: Vec<String>,
    /// Make links to files of the folder relative; with `--relative=disk` they also name index files, so that they work
    /// from disk
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "served", value_parser = PossibleValuesParser::new(["served", "disk"]).map(form))]
    relative: Option<LinkForm>,
    /// Rename a file or folder, both paths relative to the named folder; `@FILE` is a table of old and new paths, the output of
    /// `git diff -M -B --name-status`, or a file `_redirects`; repeatable
    ///
    /// A table is CSV or TSV with the columns old and new, or JSON Lines with both keys; `-` is standard input. Links into,
    /// out of and inside renamed files and folders are rewritten, even if something else has renamed them already. Links to
    /// old paths in `_redirects` lead to the end of the redirects.
    #[arg(long, value_name = "OLD=NEW")]
    rename: Vec<OsString>,
    /// Write redirects from old to new paths, of renamed files and then of all others; the name of FILE selects the syntax: nginx (.map,
    /// .conf), Apache (.htaccess), Caddy (.caddy, Caddyfile), pages that lead on (a folder, or a name with a final `/`), or else `_redirects`
    #[arg(long, value_name = "FILE")]
    pub redirects: Option<PathBuf>,
    /// `list` or `rewrite` URLs of the old place outside links: in scripts, JSON, attributes for scripts, visible text, robots.txt
    ///
    /// They are listed with --verbose and --json. URLs in mails, in text that is signed or covered by a hash, and identifiers of feeds and
    /// namespaces are never replaced, and only URLs that begin with the old URL of the folder are.
    #[arg(long, value_name = "HOW", default_value = "list", hide_default_value = true, value_parser = ["list", "rewrite"])]
    old_urls: String,
    /// Remove `integrity` from elements whose style sheet or script changes; with --relative=disk, make the changes that `localize` makes
    /// to copies of archives
    #[arg(long = "adapt", help_heading = "What to rewrite")]
    adapts: bool,
    #[command(flatten)]
    pub rewrite: Rewrite,
    #[command(flatten)]
    same: SameUrls,
    /// True if one page moves, and not a folder.
    #[arg(skip)]
    is_page: bool,
    /// The URL of the folder; a placeholder if it is not known.
    #[arg(skip = RootUrl::of_site(""))]
    pub from: RootUrl,
    /// The new URL of the folder, which may be the old one.
    #[arg(skip = RootUrl::of_site(""))]
    pub to: RootUrl,
    /// The old and new URLs of other places.
    #[arg(skip)]
    elsewhere: Vec<[RootUrl; 2]>,
    /// The renames of `rename`.
    #[arg(skip)]
    pub renames: Renames,
}

/// The form of links that `--relative` names.
fn form(name: String) -> LinkForm {
    match name.as_str() {
        "disk" => LinkForm::Disk,
        _ => LinkForm::Relative,
    }
}

impl Move {
    /// Checks the arguments together, and reads the renames.
    pub fn complete(&mut self) -> Result<()> {
        let refused = |why: &str| Err(Error::new(why));
        let documents = &mut self.rewrite.documents;
        documents.archives = Archives::None;
        documents.inputs.opens_from_disk = self.relative == Some(LinkForm::Disk);
        let [folder] = documents.inputs.paths.as_slice() else {
            return Err(documents.output_among_inputs().unwrap_or_else(|| {
                Error::new("move takes one folder or page; run it once for each")
            }));
        };
        self.is_page = !folder.is_dir();
        if self.is_page && !is_standard_input(folder) && !folder.exists() {
            return Err(Error::file(folder, "no such file or folder"));
        }
        let needs_folder = !self.rename.is_empty()
            || self.redirects.is_some()
            || self.adapts
            || documents.inputs.opens_from_disk;
        if self.is_page && needs_folder {
            return refused(
                "--rename, --redirects, --adapt and --relative=disk need the files of the site; name its folder",
            );
        }
        self.same.apply(&mut documents.inputs.reading);
        let origins = &mut documents.inputs.reading.origins;
        if origins.map.is_some() || origins.has_hosts {
            return refused(
                "--url-map and --layout cannot be used with move; run it for each folder, with its --url",
            );
        }
        if self.typed_to.is_empty() && self.relative.is_none() && self.rename.is_empty() {
            return refused("nothing to move; give --to URL, --relative, or --rename OLD=NEW");
        }
        let mut to = None;
        for typed in &self.typed_to {
            match typed.parse() {
                Ok(SamePrefixes(pair)) => self.elsewhere.push(pair),
                Err(_) if to.is_some() => {
                    return refused("--to: one URL is that of the folder; give others as OLD=NEW");
                }
                Err(_) => to = Some(new_url(typed, "--relative=disk instead of --to")?),
            }
        }
        let url = origins.root_url.as_ref();
        let is_own = |[old, _]: &[RootUrl; 2]| {
            url.is_none_or(|url| url.as_str() == old.as_str())
                || self.is_page && url.is_some_and(|url| old.below_own(url.as_str()).is_some())
        };
        let any = (self.is_page && !self.elsewhere.is_empty()).then_some(0);
        let own = self.elsewhere.iter().position(is_own).or(any);
        let own = own
            .filter(|_| to.is_none())
            .map(|at| self.elsewhere.remove(at));
        self.elsewhere
            .sort_by_key(|[old, _]| Reverse(old.as_str().len()));
        let scheme = origins.scheme().to_owned();
        let from = || RootUrl::of_built_site(&scheme, folder);
        let mut of_page = origins.root_url.clone();
        // A page keeps its own URL as the base of its links.
        let root_url = if self.is_page {
            &mut of_page
        } else {
            &mut origins.root_url
        };
        if let Some([old, new]) = own {
            (*root_url, to) = (Some(old), Some(new));
        }
        self.from = root_url.get_or_insert_with(from).clone();
        let root = self.from.as_str().strip_suffix('/');
        if self.is_page && root.is_some() && root == documents.url.as_deref() {
            return refused("the URL of a page is not the root of a site; give --to OLD=NEW");
        }
        self.to = to.unwrap_or_else(|| self.from.clone());
        origins.keeps_local_copies = false;
        let renames = &mut self.renames;
        let refused = |error: Error| Error::new(format!("--rename: {error}"));
        for typed in &self.rename {
            let read = renames.read(typed, folder, io::stdin());
            read.map_err(refused)?;
        }
        renames.find_typed(folder);
        if let ([first, ..], true) = (&*renames.ignored, renames.former.is_empty()) {
            let first = String::from_utf8_lossy(first);
            let folder = name(folder);
            return Err(Error::new(format!(
                "--rename: {first}: no rename of the table has taken place in {folder}; its paths must be relative to {folder}, or to the root of its repository"
            )));
        }
        documents.selection.former = mem::take(&mut renames.former);
        let scan = &mut documents.reading.options.scan;
        for group in [Group::Social, Group::Json] {
            scan.groups.insert(group);
        }
        scan.probe();
        self.rewrite.complete()
    }
}

/// Moves a folder.
pub fn run(request: &Move, output: &mut Output) -> FileResult<ExitStatus> {
    let rewritten = &request.rewrite;
    let (documents, planned) = (&rewritten.documents, rewritten.in_place());
    report_expected_url(documents, Some(&request.to), planned.is_some(), output)?;
    let in_place = planned.filter(|_| !rewritten.is_preview() && !request.is_page);
    let is_in_place = in_place.is_some();
    report_renames(request, is_in_place, output);
    if is_in_place {
        stop_between_files(false)?;
    }
    let staged = in_place.map(|how| StagedMove::begin(&documents.paths[0], how));
    let mut staged = staged.transpose()?;
    let relocation = Arc::new(relocation(request)?);
    let folder = request.redirects.as_deref().filter(|path| is_folder(path));
    let file = request.redirects.as_ref().filter(|_| folder.is_none());
    let redirects = file.map(|path| {
        let of_copy = list_in_folder(request).is_some();
        let (list, without) = redirects(&relocation, path.file_name().unwrap_or_default(), of_copy);
        (path, list, without)
    });
    if let (Some(staged), Some((path, list, _))) = (&mut staged, &redirects) {
        staged.beside = Some((path.to_path_buf(), list.concat().into_bytes()));
    }
    let kind = RewriteKind::Moved(Arc::clone(&relocation), staged);
    let status = rewrite(&request.rewrite, (&kind, &[]), output)?;
    if request.relative == Some(LinkForm::Relative)
        && request.typed_to.is_empty()
        && relocation.collection.number_at(b"404.html").is_some()
    {
        output.notice(
            "404.html keeps paths from the root, because servers send it at any URL; for a place below a path, give --to",
        );
    }
    output.notice_of_paths(
        "rules of the host that lead to old paths of renamed files",
        &relocation.outdated_rules(),
    );
    let is_written = if is_in_place {
        !matches!(status, ExitStatus::Unusable | ExitStatus::Stopped)
    } else {
        !is_stopped() && rewritten.out().is_some()
    };
    if !is_written {
        return Ok(status);
    }
    if let Some((path, list, without)) = redirects {
        if !is_in_place {
            // Only the rules of the site can be at this path.
            let own = fs::read(path).unwrap_or_default();
            let own = own.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&own);
            let text = [list.concat().as_bytes(), own].concat();
            write_file(path, |out| out.write_all(&text))?;
            let rules = &relocation.collection.host_rules;
            let from = list
                .iter()
                .filter_map(|line| line.lines().last()?.split(' ').next());
            let second: Vec<_> = from
                .filter(|from| rules.names(from))
                .map(Into::into)
                .collect();
            let sentence = "rules of the site that come second, after new ones for their paths";
            output.notice_of_paths(sentence, &second);
        }
        report_redirects((list.len(), without), path, output);
    }
    if let Some(folder) = folder {
        report_redirects(write_pages(&relocation, folder)?, folder, output);
    }
    if is_in_place {
        move_empty_folders(request, &relocation)?;
        report_remaining_folders(request, output);
    }
    Ok(status)
}

/// Reports renames that are ignored, and those that must not be repeated.
fn report_renames(request: &Move, is_in_place: bool, output: &mut Output) {
    let sentence =
        "renames of git that are ignored, because they have not taken place in the folder";
    output.notice_of_paths(sentence, &request.renames.ignored);
    let former = &request.rewrite.documents.selection.former;
    let old = former.values().filter(|old| former.contains_key(*old));
    let mut taken: Vec<_> = old.map(path_bytes).collect();
    taken.sort_unstable();
    if is_in_place {
        let sentence = "old paths that other renamed files have now, so a second run would change links to them again";
        output.notice_of_paths(sentence, &taken);
    }
}

/// The path that the list of redirects has in the folder after the move.
fn list_in_folder(request: &Move) -> Option<Vec<u8>> {
    let root = &request.rewrite.documents.paths[0];
    let root = request.rewrite.output.as_ref().unwrap_or(root);
    let [list, root] = [request.redirects.as_ref()?, root].map(path::absolute);
    let below = list.ok()?.strip_prefix(root.ok()?).map(path_bytes);
    below.ok()
}

/// Writes the pages that lead on to `folder`. Returns their number, and the number of old paths without one.
fn write_pages(relocation: &Relocation, folder: &Path) -> Result<(usize, usize)> {
    let (pages, mut without) = pages(relocation);
    let mut written = 0;
    let out = ResultFolder::new(folder)?;
    for (path, page) in pages {
        if folder.join(&path).symlink_metadata().is_ok() {
            without += 1;
            continue;
        }
        out.begin_dated(&path, None, page.as_bytes())?.commit()?;
        written += 1;
    }
    Ok((written, without))
}

/// Reports the number of redirects in `path`, and of old paths without one.
fn report_redirects((number, without): (usize, usize), path: &Path, output: &mut Output) {
    let redirects = count(number, "redirect", "redirects");
    output.notice(format_args!("{redirects} written to {}", name(path)));
    if without > 0 {
        let paths = count(without, "old path has", "old paths have");
        let why = "another file has the path now, or the syntax cannot express the redirect";
        output.notice(format_args!("{paths} no redirect: {why}"));
    }
}

/// Moves the empty folders in renamed folders, innermost first.
fn move_empty_folders(request: &Move, relocation: &Relocation) -> Result<()> {
    let documents = &request.rewrite.documents;
    let selection = Selection {
        folders: true,
        ..documents.selection.clone()
    };
    let found: Vec<_> = walk(&documents.paths, &selection).flatten().collect();
    for entry in found.iter().rev() {
        let new = relocation.collection.renamed_with_folder(&name_of(entry));
        let failed = Error::io(&entry.path);
        // Only an empty folder can be removed so.
        if let Some(new) = new.as_deref().and_then(path_of)
            && entry.kind == EntryKind::Folder
            && fs::remove_dir(&entry.path).is_ok()
        {
            fs::create_dir_all(documents.paths[0].join(new)).map_err(failed)?;
        }
    }
    Ok(())
}

/// Reports renamed folders that were not removed, because they contain files that a move does not touch.
fn report_remaining_folders(request: &Move, output: &mut Output) {
    let root = &request.rewrite.documents.paths[0];
    let old = request
        .renames
        .typed
        .iter()
        .filter_map(|(old, _)| path_of(old));
    for folder in old.map(|old| root.join(old)).filter(|old| old.is_dir()) {
        let why =
            "not removed: it still contains files that move does not touch, such as hidden files";
        output.notice(format_args!("{}: {why}", name(&folder)));
    }
}

/// Lists the files of the folder, applies the renames to the list, and returns the map from old to new URLs.
fn relocation(request: &Move) -> Result<Relocation> {
    let documents = &request.rewrite.documents;
    let selection = &documents.selection;
    let (suffix, is_in_place) = (&request.rewrite.suffix, request.rewrite.output.is_none());
    let is_moved = |entry: &TreeEntry| {
        let names = suffix.as_ref().zip(entry.relative.last());
        let is_backup = names.is_some_and(|(suffix, name)| suffix.ends(name));
        !(request.is_page || is_backup || is_in_place && is_usual_backup(&entry.path))
    };
    let mut collection = collect(documents, selection, is_moved)?;
    // On its server, `/list?two` is not the file `list@two.html`.
    collection.is_served = true;
    let present = if selection.former.is_empty() {
        None
    } else {
        let present = Selection {
            former: HashMap::new(),
            ..selection.clone()
        };
        Some(collect(documents, &present, is_moved)?)
    };
    if request.rewrite.output.is_some() {
        collection.without_links();
    }
    let done = selection.former.iter();
    let done = done.map(|(new, old)| (path_bytes(old), path_bytes(new)));
    // A rename of a hidden file changes no link.
    let done = done.filter(|(old, _)| collection.number_at(old).is_some());
    let renames: Vec<_> = done.chain(request.renames.typed.clone()).collect();
    collection
        .rename(&renames)
        .map_err(|error| Error::new(format!("--rename: {error}")))?;
    if let Some(path) = &request.redirects
        && !is_folder(path)
    {
        let list = list_in_folder(request).unwrap_or_default();
        let is_taken = collection.new_paths().contains(&*list);
        let is_of_copy = is_taken && list == b"_redirects" && request.rewrite.output.is_some();
        if !is_of_copy && (is_taken || path.symlink_metadata().is_ok()) {
            let why = "the file already exists; name a new file";
            return Err(Error::new(format!("--redirects: {}: {why}", name(path))));
        }
    }
    if let Some(redirects) = &request.renames.redirects {
        collection.host_rules.add_file("_redirects", redirects);
    }
    let mut relocation = Relocation::new(
        Arc::new(collection),
        request.from.clone(),
        request.to.clone(),
        request.relative.unwrap_or_default(),
    );
    relocation.present = present;
    relocation.assumes_files = request.is_page;
    relocation.adapts = request.adapts;
    relocation.folder.clone_from(&documents.paths[0]);
    relocation.elsewhere.clone_from(&request.elsewhere);
    relocation.replaces_old_urls = request.old_urls == "rewrite";
    relocation.follows_redirects |= request.renames.redirects.is_some();
    Ok(relocation)
}
