//! Pages that browsers and crawlers saved, opened from disk in Chromium: unchanged, after `rewrite` and after
//! `localize`. Network requests are answered from `tests/mirrors/site`, the site that was saved. No more requests
//! or links may fail than before.
//!
//! The saved pages are in `fixtures/saves`, with one folder per program. If `BASELINK_SAVES` names a folder of real saves
//! with the same structure, another test opens these and prints the table of docs/saved-pages.md. `tests/common/outside.rs`
//! finds Chromium.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::devtools::{Browser, file_of, file_url};

/// A program that saves pages.
struct Producer {
    /// The name of its folder.
    name: &'static str,
    /// The arguments that every command needs for it.
    arguments: &'static [&'static str],
    /// A page that is also opened as a renamed copy, whose companion folder keeps its name.
    renamed: Option<&'static str>,
}

/// The layout that crawlers use.
const CRAWL: &[&str] = &["--layout", "host:http", "--index", "index.html"];

const PRODUCERS: &[Producer] = &[
    Producer {
        name: "chromium",
        arguments: &[],
        renamed: Some("page.html"),
    },
    // A page without a base does not record its source.
    Producer {
        name: "firefox",
        arguments: &["--url-map", "map.csv"],
        renamed: Some("page.html"),
    },
    Producer {
        name: "singlefile",
        arguments: &[],
        renamed: None,
    },
    Producer {
        name: "wget",
        arguments: CRAWL,
        renamed: None,
    },
    Producer {
        name: "wget-r",
        arguments: CRAWL,
        renamed: None,
    },
    Producer {
        name: "wget-kp",
        arguments: CRAWL,
        renamed: None,
    },
    // HTTrack records the URL in each page. The names of the files do not show it (`list4658.html` is `list?page=2`).
    Producer {
        name: "httrack",
        arguments: &[],
        renamed: None,
    },
];

/// The URLs of the pages that do not record them.
const MAP: &str = "page.html,http://www.example.net/letters/page.html\n\
    renamed.html,http://www.example.net/letters/page.html\n";

/// The pages to open, if they exist.
const PAGES: &[&str] = &[
    "page.html",
    "based.html",
    "absolute.html",
    "target.html",
    "again.html",
    "renamed.html",
    "www.example.net/letters/page.html",
    "www.example.net/guide/based.html",
    "www.example.net/guide/absolute.html",
];

/// The response of the site: the file for a URL of `www.example.net`, regardless of the query.
fn site(url: &str) -> Option<(&'static str, Vec<u8>)> {
    let url = url::Url::parse(url)
        .ok()
        .filter(|url| url.host_str() == Some("www.example.net"))?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mirrors/site");
    let mut path = file_of(&(file_url(&root) + url.path()));
    if path.is_dir() {
        path.push("index.html");
    }
    let media_type = match path.extension().and_then(|extension| extension.to_str()) {
        Some("css") => "text/css",
        Some("gif") => "image/gif",
        Some("js") => "text/javascript",
        Some("png") => "image/png",
        Some("svg") => "image/svg+xml",
        Some("webm") => "video/webm",
        Some("woff2") => "font/woff2",
        Some("xml") => "application/atom+xml",
        _ => "text/html",
    };
    Some((media_type, fs::read(path).ok()?))
}

/// True if a file or the site answers `url`.
fn is_answered(url: &str) -> bool {
    match url.starts_with("file:") {
        true => file_of(url).is_file(),
        false => site(url).is_some(),
    }
}

/// Runs the program in `folder`, and returns its output.
fn baselink(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_baselink"));
    let output = command
        .current_dir(folder)
        .env_clear()
        .args(arguments)
        .output()
        .unwrap();
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "{arguments:?}: {output:?}"
    );
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

/// Copies the folder `from`. The `?` in names of wget is an `@` in the fixtures, because some systems forbid `?`.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let name = path
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .replace('@', "?");
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else {
            fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

/// An expression for every link of a page that a reader can follow, also by sending a form.
const LINKS: &str = "(() => {
    const found = [];
    for (const name of ['href', 'action', 'formaction']) {
        for (const one of document.querySelectorAll(`a[${name}], area[${name}], form[${name}], button[${name}]`)) {
            found.push(new URL(one.getAttribute(name), document.baseURI).href);
        }
    }
    return found;
})()";

/// The results for the requests and links of a page. Each requested URL counts once; each link counts.
#[derive(Debug, Default)]
struct Opened {
    /// Requests that the disk answered.
    disk: BTreeSet<String>,
    /// Requests that the network answered.
    network: BTreeSet<String>,
    /// Requests that failed.
    failed: BTreeSet<String>,
    /// Links that lead to something, on the disk or in the site.
    alive: usize,
    /// Links that lead to nothing.
    dead: Vec<String>,
}

impl Opened {
    /// Opens the page at `path`.
    fn new(browser: &mut Browser, path: &Path) -> Self {
        let mut opened = Self::default();
        for (url, failure) in browser.open(&file_url(path)).requests {
            // The icon may or may not be requested before the page is complete.
            if url.ends_with("/icon.png") {
                continue;
            }
            // A request that the browser cancelled might have been answered.
            let is_cancelled = failure
                .as_ref()
                .is_some_and(|failure| failure.contains("ERR_ABORTED"));
            let requests = match failure {
                Some(_) if !(is_cancelled && is_answered(&url)) => &mut opened.failed,
                _ if url.starts_with("file:") => &mut opened.disk,
                _ => &mut opened.network,
            };
            requests.insert(url);
        }
        let links = browser.value(LINKS);
        for link in links
            .as_array()
            .unwrap()
            .iter()
            .map(|link| link.as_str().unwrap())
        {
            match is_answered(link) {
                _ if !link.starts_with("file:") && !link.starts_with("http") => {}
                true => opened.alive += 1,
                false => opened.dead.push(link.to_owned()),
            }
        }
        opened
    }

    /// The number of requests that were answered.
    fn answered(&self) -> usize {
        self.disk.len() + self.network.len()
    }

    /// The cells of a table.
    fn cells(&self) -> String {
        let requests = [self.disk.len(), self.network.len(), self.failed.len()];
        let [disk, network, failed] = requests;
        format!(
            "{disk} / {network} / **{failed}** | {} / **{}**",
            self.alive,
            self.dead.len()
        )
    }
}

/// Opens every page below `saves`, before and after each command. Returns the table of the results, and the regressions.
fn compare(browser: &mut Browser, saves: &Path) -> (String, Vec<String>) {
    let (mut rows, mut checks, mut worse) = (String::from("\n"), String::new(), Vec::new());
    browser.answer(site);
    for Producer {
        name,
        arguments,
        renamed,
    } in PRODUCERS
    {
        if !saves.join(name).is_dir() {
            continue;
        }
        let scene = tempfile::tempdir().unwrap();
        fs::write(scene.path().join("map.csv"), MAP).unwrap();
        let saved = scene.path().join("saved");
        copy(&saves.join(name), &saved);
        if let Some(page) = renamed {
            fs::copy(saved.join(page), saved.join("renamed.html")).unwrap();
        }
        for command in ["rewrite", "localize"] {
            baselink(
                scene.path(),
                &[&[command, "saved", "-o", command], *arguments].concat(),
            );
        }
        let pages = PAGES.iter().filter(|page| saved.join(page).is_file());
        for page in pages {
            let mut open = |state: &str| Opened::new(browser, &scene.path().join(state).join(page));
            let [before, rewritten, localized] = ["saved", "rewrite", "localize"].map(&mut open);
            for (command, after) in [("rewrite", &rewritten), ("localize", &localized)] {
                let worsened = after.failed.len() > before.failed.len()
                    || after.answered() < before.answered()
                    || after.dead.len() > before.dead.len();
                if worsened {
                    worse.push(format!(
                        "{name}/{page} after {command}:\n  failed before: {:#?}\n  and after: {:#?}",
                        (&before.failed, &before.dead),
                        (&after.failed, &after.dead)
                    ));
                }
            }
            let page = page.rsplit('/').next().unwrap();
            let [before, rewritten, localized] =
                [before, rewritten, localized].map(|state| state.cells());
            writeln!(
                rows,
                "| {name} | {page} | {before} | {rewritten} | {localized} |"
            )
            .unwrap();
        }
        let check = baselink(scene.path(), &[&["check", "saved"], *arguments].concat());
        // The lines of the summary: a class, and the number of its links.
        let mut classes = check.lines().rev().filter_map(|line| {
            let mut words = line.strip_prefix("  ")?.split_ascii_whitespace();
            let (class, count) = (words.next()?, words.next()?.trim_end_matches(','));
            count
                .parse::<usize>()
                .ok()
                .map(|count| format!("{count} {class}"))
        });
        let classes: Vec<_> = classes
            .by_ref()
            .take_while(|class| !class.contains('|'))
            .collect();
        let classes = classes.into_iter().rev().collect::<Vec<_>>().join(", ");
        writeln!(checks, "| {name} | {classes} |").unwrap();
    }
    rows.push('\n');
    rows.push_str(&checks);
    (rows, worse)
}

#[test]
fn localizing_causes_no_new_failures() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let saves = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/saves");
    let (rows, worse) = compare(&mut browser, &saves);
    println!("{rows}");
    assert!(worse.is_empty(), "{}", worse.join("\n"));
}

#[test]
fn localizing_real_saves_causes_no_new_failures() {
    let Some(saves) = std::env::var_os("BASELINK_SAVES").map(PathBuf::from) else {
        eprintln!("notice: BASELINK_SAVES names no folder of real saves, so none was tested");
        return;
    };
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let (rows, worse) = compare(&mut browser, &saves);
    println!("{rows}");
    assert!(worse.is_empty(), "{}", worse.join("\n"));
}

/// If links to saved copies became absolute, the page does not load the copies until `localize` finds them again.
#[test]
fn localize_repairs_links_to_copies_made_absolute() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    browser.answer(site);
    let scene = tempfile::tempdir().unwrap();
    let saves = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/saves/chromium");
    copy(&saves, &scene.path().join("saved"));
    let run = |words: &str| {
        baselink(scene.path(), &words.split(' ').collect::<Vec<_>>());
    };
    run("localize saved -o localized");
    run("rewrite --trust -local-copies saved -o mistaken");
    run("localize mistaken -o mended");
    for page in ["page.html", "based.html", "target.html"] {
        let mut open =
            |state: &str| Opened::new(&mut browser, &scene.path().join(state).join(page));
        let [mut localized, mistaken, mended] = ["localized", "mistaken", "mended"].map(&mut open);
        localized.disk = localized
            .disk
            .iter()
            .map(|url| url.replace("localized", "mended"))
            .collect();
        assert_eq!(
            mistaken.disk.len(),
            1,
            "{page}: nothing but itself: {mistaken:#?}"
        );
        assert!(
            mistaken.failed.len() > localized.failed.len(),
            "{page}: {mistaken:#?}"
        );
        // Resources of a frame in the companion folder are not found again, because its URL names no companion folder.
        let lost: Vec<_> = localized.disk.difference(&mended.disk).collect();
        assert!(
            lost.iter()
                .all(|url| url.ends_with("/frame.css") || url.ends_with("/frame.gif")),
            "{page}: {lost:#?}"
        );
        assert!(
            mended.failed.len() <= localized.failed.len(),
            "{page}: {mended:#?}"
        );
    }
}
