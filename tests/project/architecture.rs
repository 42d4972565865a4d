//! Enforces the import rules of `docs/architecture.md`: a room imports only rooms above it in the table, files do not
//! import each other in a circle, and each third-party crate is used only in its rooms.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms of crates that have several, in order. The compiler holds the order of the crates.
const ORDER: &[&str] = &[
    "site/collection",
    "site/archive",
    "site/reading",
    "site/purpose",
    "cli",
    "main",
];

/// The crates below the program, each in the folder of its name below `crates`.
const LIBRARY: &[&str] = &[
    "text", "url", "scan", "rewrite", "verify", "baselink", "files", "site",
];

/// Third-party crates, and the path prefixes of the files that may name each. Every dependency has a row.
const CRATES: &[(&str, &[&str])] = &[
    ("html5ever", &["scan/html/", "verify/pieces.rs"]),
    ("markup5ever_rcdom", &["verify/pieces.rs"]),
    ("cssparser", &["verify/pieces.rs"]),
    ("wide", &["scan/block"]),
    ("mailparse", &["scan/fields/"]),
    ("quick_xml", &["scan/xml/", "verify/pieces.rs"]),
    ("encoding_rs", &["text/layer/charset.rs"]),
    ("simdutf8", &["text/layer/charset.rs"]),
    (
        "base64",
        &[
            "text/layer/digest.rs",
            "text/layer/transfer",
            "cli/files.rs",
            "site/archive/har.rs",
        ],
    ),
    ("md5", &["text/layer/digest.rs", "site/archive/digest.rs"]),
    ("brotli_decompressor", &["text/layer/transfer/compressed"]),
    (
        "ruzstd",
        &["rewrite/archive/zstd", "text/layer/transfer/compressed"],
    ),
    ("sha2", &["cli/files.rs", "site/archive/digest.rs"]),
    ("sha1", &["site/archive/digest.rs"]),
    (
        "data_encoding",
        &["site/archive/digest.rs", "site/purpose/one_page.rs"],
    ),
    (
        "flate2",
        &[
            "site/archive/har.rs",
            "rewrite/archive/",
            "text/layer/transfer/",
        ],
    ),
    ("zip", &["site/archive/attached.rs", "site/archive/wacz.rs"]),
    ("plist", &["site/archive/webarchive.rs"]),
    ("url", &["url/"]),
    ("clap", &["cli/", "main.rs"]),
    ("clap_complete", &["cli/args.rs", "cli/manual.rs"]),
    ("clap_mangen", &["cli/manual.rs"]),
    ("strsim", &["site/collection/near.rs", "text/error.rs"]),
    ("toml", &["cli/", "site/collection/host_rules.rs"]),
    ("unicode_width", &["cli/check/text.rs"]),
    (
        "serde",
        &[
            "cli/",
            "site/collection/host_rules.rs",
            "site/archive/har.rs",
            "site/archive/wacz.rs",
            "scan/json.rs",
            "rewrite/base.rs",
            "text/diagnostic.rs",
            "text/named.rs",
            "rewrite/report.rs",
            "text/span.rs",
            "url/reference/conformance.rs",
            "rewrite/lib.rs",
        ],
    ),
    (
        "serde_json",
        &[
            "cli/",
            "site/archive/har.rs",
            "site/archive/wacz.rs",
            "scan/json.rs",
            "site/collection/",
        ],
    ),
    ("regex", &["site/collection/", "site/purpose/"]),
    ("anstream", &["cli/", "main.rs"]),
    ("anstyle", &["cli/", "main.rs"]),
    ("walkdir", &["files/"]),
    ("globset", &["files/"]),
    ("csv", &["site/collection/"]),
    ("icu_normalizer", &["site/collection/"]),
    (
        "indexmap",
        &[
            "site/collection/",
            "site/purpose/",
            "site/reading/captures.rs",
            "cli/check/report.rs",
        ],
    ),
    ("tempfile", &["cli/args/output.rs"]),
    ("jiff", &["site/collection/capture.rs"]),
    ("xattr", &["files/", "site/collection/"]),
    ("rustix", &["files/"]),
    ("cap_std", &["files/"]),
    ("cap_fs_ext", &["files/"]),
    ("memchr", &[""]),
    ("indicatif", &["cli/check/words.rs", "cli/progress.rs"]),
    ("signal_hook", &["files/stop.rs"]),
    ("terminal_size", &["cli/output.rs"]),
];

/// Packages whose library has another name in code.
const LIBRARIES: &[(&str, &str)] = &[("md-5", "md5")];

/// The files of the program, and those of the library, named like `scan/html/pass.rs`.
fn sources() -> Vec<(String, String)> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut roots = vec![(String::new(), top.join("src"))];
    for name in LIBRARY {
        roots.push((
            format!("{name}/"),
            top.join("crates").join(name).join("src"),
        ));
    }
    let mut sources = Vec::new();
    for (prefix, root) in roots {
        for path in rust_files(&root) {
            let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
            sources.push((
                format!("{prefix}{name}"),
                fs::read_to_string(&path).unwrap(),
            ));
        }
    }
    sources.sort();
    sources
}

fn rust_files(root: &Path) -> Vec<PathBuf> {
    let mut folders = vec![root.to_owned()];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(extension) if extension == "rs" => files.push(path),
                _ => {}
            }
        }
    }
    files
}

/// The code of a file: no comments, no unit tests.
fn code(text: &str) -> String {
    let tests = text.find("\n#[cfg(test)]").unwrap_or(text.len());
    text[..tests]
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .map(|line| match line.split_once(" // ") {
            Some((code, _)) if code.matches('"').count() % 2 == 0 => code,
            _ => line,
        })
        .collect::<Vec<_>>()
        .join("\n")
}

fn rank(room: &str) -> Option<usize> {
    ORDER.iter().position(|other| *other == room)
}

#[test]
fn imports_go_one_way() {
    let mut wrong = Vec::new();
    for (name, text) in sources() {
        let (site, file) = match name.strip_prefix("site/") {
            Some(file) => ("site/", file),
            None => ("", name.as_str()),
        };
        let room = format!("{site}{}", file.split(['/', '.']).next().unwrap());
        if file == "lib.rs" || LIBRARY.contains(&room.as_str()) {
            continue;
        }
        let own =
            rank(&room).unwrap_or_else(|| panic!("{name} is a room without a place in the order"));
        let (uses, rest) = uses(&without_strings(&code(&text)));
        let all = uses.into_iter().map(|used| used.path).chain(paths(&rest));
        for path in all.filter(|path| path[0] == "crate") {
            let other = format!("{site}{}", path[1]);
            if other != room && rank(&other).is_none_or(|theirs| theirs >= own) {
                wrong.push(format!("{name} imports {other}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The path of a name: its modules, the outermost first, then the name itself.
type Names = Vec<String>;

/// The modules of all crates, with their imports. Those of a crate of the library are below its name.
struct Modules {
    /// The file of each module.
    files: BTreeMap<Names, String>,
    /// The local names of imported names, for each module.
    imported: BTreeMap<Names, BTreeMap<String, Names>>,
}

/// A name that a `use` declaration imports.
struct Used {
    path: Names,
    /// The local name of the path.
    name: String,
    /// True if other modules may import the name from here.
    is_public: bool,
}

/// The path of the module in the file `name`.
fn module_of(name: &str) -> Names {
    let path = name.trim_end_matches(".rs");
    let path = path.strip_suffix("/mod").unwrap_or(path);
    match path {
        "lib" => Vec::new(),
        _ => path
            .trim_end_matches("/lib")
            .split('/')
            .map(str::to_owned)
            .collect(),
    }
}

/// `code` without the contents of string literals. Lifetimes and character literals are kept.
fn without_strings(code: &str) -> String {
    let mut remaining = String::new();
    let mut rest = code;
    while let Some(at) = rest.find('"') {
        let (before, string) = rest.split_at(at);
        remaining.push_str(before);
        let hashes = before.len() - before.trim_end_matches('#').len();
        let is_raw =
            before.trim_end_matches('#').ends_with('r') && (hashes > 0 || before.ends_with('r'));
        if !is_raw && (before.ends_with('\'') || before.ends_with("'\\")) {
            // The character `"`.
            rest = &string[1..];
            continue;
        }
        let end = if is_raw {
            let end = format!("\"{}", "#".repeat(hashes));
            string[1..].find(&end).map(|at| at + 1 + end.len())
        } else {
            let mut is_escaped = false;
            string[1..]
                .find(|character: char| {
                    let is_end = character == '"' && !is_escaped;
                    is_escaped = character == '\\' && !is_escaped;
                    is_end
                })
                .map(|at| at + 2)
        };
        rest = &string[end.unwrap_or(string.len())..];
    }
    remaining + rest
}

/// The `use` declarations of `code`, and the code without them.
fn uses(code: &str) -> (Vec<Used>, String) {
    let mut uses = Vec::new();
    let mut remaining = String::new();
    let mut rest = code;
    while let Some(at) = rest.find("use ") {
        let (before, from) = rest.split_at(at);
        let line = before.rsplit('\n').next().unwrap().trim_start();
        let is_declaration = line.is_empty() || (line.starts_with("pub") && line.ends_with(' '));
        if !is_declaration {
            remaining.push_str(before);
            remaining.push_str("use ");
            rest = &from[4..];
            continue;
        }
        remaining.push_str(before.strip_suffix(line).unwrap_or(before));
        let (tree, after) = from[4..].split_once(';').unwrap();
        flatten(&[], tree, line.starts_with("pub"), &mut uses);
        rest = after;
    }
    remaining.push_str(rest);
    (uses, remaining)
}

/// Adds the paths of the `use` tree `tree`, each below the path `above`.
fn flatten(above: &[String], tree: &str, is_public: bool, uses: &mut Vec<Used>) {
    let tree = tree.trim();
    if let Some((path, inside)) = tree.split_once('{') {
        let above: Names = above.iter().cloned().chain(names(path)).collect();
        let inside = inside.trim_end().strip_suffix('}').unwrap();
        let (mut depth, mut start) = (0, 0);
        for (at, character) in inside.char_indices() {
            match character {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    flatten(&above, &inside[start..at], is_public, uses);
                    start = at + 1;
                }
                _ => {}
            }
        }
        flatten(&above, &inside[start..], is_public, uses);
    } else if !tree.is_empty() {
        let (path, name) = tree
            .split_once(" as ")
            .map_or((tree, None), |(path, name)| (path, Some(name)));
        let mut path: Names = above.iter().cloned().chain(names(path)).collect();
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let name = name.map_or_else(
            || path.last().unwrap().clone(),
            |name| name.trim().to_owned(),
        );
        uses.push(Used {
            path,
            name,
            is_public,
        });
    }
}

fn names(path: &str) -> impl Iterator<Item = String> {
    path.split("::")
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
}

/// The paths in `code` that have more than one segment.
fn paths(code: &str) -> BTreeSet<Names> {
    let is_path_character =
        |character: char| character.is_alphanumeric() || character == '_' || character == ':';
    let found = code
        .split(|character: char| !is_path_character(character))
        .map(|path| path.trim_matches(':'));
    found
        .filter(|path| path.contains("::"))
        .map(|path| names(path).collect())
        .collect()
}

impl Modules {
    /// Resolves `path`, as written in the module `from`, to a module or to a name in a module. `None` if the path
    /// leads outside the library and the program.
    fn absolute(&self, from: &Names, path: &[String]) -> Option<Names> {
        let (first, rest) = path.split_first()?;
        let mut whole = match first.as_str() {
            "crate" if LIBRARY.contains(&from.first().map_or("", String::as_str)) => {
                from[..1].to_vec()
            }
            "crate" | "baselink_cli" => Vec::new(),
            "baselink" => vec!["baselink".to_owned()],
            name if name.starts_with("baselink_") => vec![name[9..].to_owned()],
            "self" => from.clone(),
            "super" => from[..from.len() - 1].to_vec(),
            name => {
                let child: Names = from.iter().cloned().chain([name.to_owned()]).collect();
                match self
                    .imported
                    .get(from)
                    .and_then(|imported| imported.get(name))
                {
                    _ if self.files.contains_key(&child) => child,
                    Some(imported) => imported.clone(),
                    None => return None,
                }
            }
        };
        for name in rest {
            if name == "super" {
                whole.pop();
            } else {
                whole.push(name.clone());
            }
        }
        Some(whole)
    }

    /// The module that defines the item in `path`, found through all re-exports. `None` if the path is a module.
    fn defining_module(
        &self,
        path: &Names,
        public: &BTreeMap<Names, BTreeMap<String, Names>>,
    ) -> Option<Names> {
        let mut path = path.clone();
        // A chain of re-exports is at most as long as the number of modules.
        for _ in 0..self.files.len() {
            let depth = (0..=path.len())
                .rev()
                .find(|&depth| self.files.contains_key(&path[..depth]))?;
            let (module, name) = (path[..depth].to_vec(), path.get(depth)?);
            match public.get(&module).and_then(|public| public.get(name)) {
                Some(origin) => path = origin.iter().chain(&path[depth + 1..]).cloned().collect(),
                None => return Some(module),
            }
        }
        panic!("{path:?} is exported in a circle")
    }
}

/// The files from which each file imports names. Re-exports of names from files below do not count.
fn imports() -> BTreeMap<String, BTreeSet<String>> {
    let sources = sources()
        .into_iter()
        .filter(|(name, _)| name != "main.rs" && !name.ends_with("tests.rs"));
    let read: BTreeMap<Names, (String, Vec<Used>, String)> = sources
        .map(|(name, text)| {
            let code = without_strings(&code(&text));
            let (uses, rest) = uses(&code);
            (module_of(&name), (name, uses, rest))
        })
        .collect();
    let files = read
        .iter()
        .map(|(module, (name, ..))| (module.clone(), name.clone()))
        .collect();
    let mut modules = Modules {
        files,
        imported: BTreeMap::new(),
    };
    let mut public: BTreeMap<Names, BTreeMap<String, Names>> = BTreeMap::new();
    for (module, (_, uses, _)) in &read {
        for used in uses {
            let Some(path) = modules.absolute(module, &used.path) else {
                continue;
            };
            if used.is_public {
                public
                    .entry(module.clone())
                    .or_default()
                    .insert(used.name.clone(), path.clone());
            }
            modules
                .imported
                .entry(module.clone())
                .or_default()
                .insert(used.name.clone(), path);
        }
    }
    let mut imports: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, (name, uses, rest)) in &read {
        let is_reexport = |used: &Used| {
            let path = modules.absolute(module, &used.path);
            let is_below = path.is_some_and(|path| path.starts_with(module));
            let is_border = |character: char| !(character.is_alphanumeric() || character == '_');
            let mut lines = rest.lines().filter(|line| !line.contains("mod "));
            let is_used = lines.any(|line| line.split(is_border).any(|word| word == used.name));
            used.is_public && is_below && !is_used
        };
        let used = uses
            .iter()
            .filter(|used| !is_reexport(used))
            .map(|used| used.path.clone());
        for path in used.chain(paths(rest)) {
            let Some(path) = modules.absolute(module, &path) else {
                continue;
            };
            let Some(other) = modules.defining_module(&path, &public) else {
                continue;
            };
            if other != *module {
                imports
                    .entry(name.clone())
                    .or_default()
                    .insert(modules.files[&other].clone());
            }
        }
    }
    imports
}

/// The files that `from` imports, directly or through other files. They include `from` itself only if there is a
/// circle.
fn reached<'a>(imports: &'a BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = vec![from];
    while let Some(file) = next.pop() {
        for other in imports.get(file).into_iter().flatten() {
            if reached.insert(other.as_str()) {
                next.push(other);
            }
        }
    }
    reached
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let imports = imports();
    let mut wrong = Vec::new();
    for (file, targets) in &imports {
        for other in targets {
            if reached(&imports, other).contains(file.as_str()) {
                wrong.push(format!(
                    "src/{file} takes names from src/{other}, which comes back to it"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_dependency_has_a_row() {
    let library = |package: &str| {
        let known = LIBRARIES.iter().find(|(known, _)| *known == package);
        known.map_or_else(
            || package.replace('-', "_"),
            |(_, library)| (*library).to_owned(),
        )
    };
    let mut dependencies: BTreeSet<String> = BTreeSet::new();
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = LIBRARY.iter().map(|name| top.join("crates").join(name));
    let manifests: String = crates
        .chain([top.to_owned()])
        .map(|folder| fs::read_to_string(folder.join("Cargo.toml")).unwrap())
        .collect();
    for table in manifests.split("\n[").skip(1) {
        let (title, lines) = table.split_once(']').unwrap();
        if title == "dependencies" || title.ends_with(")'.dependencies") {
            let packages = lines
                .lines()
                .filter_map(|line| Some(line.split_once('=')?.0.trim()))
                .filter_map(|package| package.split('.').next())
                .filter(|package| !package.starts_with("baselink") && *package != "proptest");
            dependencies.extend(packages.map(library));
        }
    }
    let rows: BTreeSet<String> = CRATES
        .iter()
        .map(|(krate, _)| (*krate).to_owned())
        .collect();
    assert_eq!(rows.len(), CRATES.len(), "a crate has two rows");
    assert_eq!(
        rows, dependencies,
        "the rows of CRATES, and the dependencies of Cargo.toml"
    );
}

#[test]
fn third_party_crates_are_used_only_in_their_rooms() {
    let mut wrong = Vec::new();
    for (name, text) in sources() {
        let code = code(&text);
        for (krate, rooms) in CRATES {
            let path = format!("{krate}::");
            let used = code.match_indices(&path).any(|(at, _)| {
                !code[..at].ends_with(|before: char| {
                    before.is_alphanumeric() || before == '_' || before == ':'
                })
            });
            if used && !rooms.iter().any(|room| name.starts_with(room)) {
                wrong.push(format!("src/{name} names {krate}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Reads the table of mechanisms in `docs/architecture.md`.
#[test]
fn mechanisms_exist_once() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(top.join("docs/architecture.md")).unwrap();
    let (_, table) = text.split_once("| mechanism | entrance |").unwrap();
    let quoted = |cell: &str| -> Vec<String> {
        cell.split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect()
    };
    let is_in_word = |character: char| character.is_alphanumeric() || character == '_';
    let has = |code: &str, text: &str| {
        code.match_indices(text).any(|(at, _)| {
            let (before, after) = (&code[..at], &code[at + text.len()..]);
            !(text.starts_with(is_in_word) && before.ends_with(is_in_word)
                || text.ends_with(is_in_word) && after.starts_with(is_in_word))
        })
    };
    let codes = sources().into_iter().map(|(name, text)| {
        let (first, rest) = name.split_once('/').unwrap_or(("", &name));
        let path = match LIBRARY.contains(&first) {
            true => format!("crates/{first}/src/{rest}"),
            false => format!("src/{name}"),
        };
        (path, code(&text))
    });
    let codes: Vec<_> = codes.collect();
    let (mut wrong, mut rows) = (Vec::new(), 0);
    for row in table.lines().skip(2).take_while(|line| !line.is_empty()) {
        let cells: Vec<_> = row.trim_matches('|').split('|').map(quoted).collect();
        let [_, entrance, files, former] = &*cells else {
            panic!("{row}");
        };
        rows += 1;
        for (path, code) in &codes {
            if has(code, &entrance[0]) != files.contains(path) {
                wrong.push(format!("{path}: {}", entrance[0]));
            }
            for name in former {
                let mut kinds = ["struct", "enum", "trait", "type", "fn"].iter();
                if kinds.any(|kind| has(code, &format!("{kind} {name}"))) {
                    wrong.push(format!("{path} declares {name} again"));
                }
            }
        }
    }
    assert_eq!((rows, wrong), (6, Vec::new()));
}

#[test]
fn every_file_opens_with_its_purpose() {
    for (name, text) in sources() {
        assert!(
            text.starts_with("//! "),
            "src/{name} does not open with a sentence"
        );
        if name != "main.rs" {
            assert!(
                text.contains("\n//! ```"),
                "src/{name} opens without an example"
            );
            assert!(
                text.contains("Deliberately absent") || text.contains("deliberately absent"),
                "src/{name} does not say what it leaves out"
            );
        }
    }
}

/// Openings that leave a doc comment without a subject. Fewer than two in a hundred comments may begin with one.
const OPENINGS: &[&str] = &[
    "What", "Whether", "How", "The same", "So many", "So much", "That", "Those", "Where", "When",
];

/// A doc comment begins with a noun or a verb.
#[test]
fn doc_comments_have_a_subject() {
    let (mut comments, mut riddles) = (0, Vec::new());
    for (path, text) in sources() {
        let mut before = "";
        for line in text.lines().map(str::trim_start) {
            if let Some(comment) = line.strip_prefix("/// ")
                && !before.starts_with("///")
            {
                comments += 1;
                let is_opening = |opening: &&&str| {
                    comment
                        .strip_prefix(**opening)
                        .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
                };
                riddles.extend(
                    OPENINGS
                        .iter()
                        .find(is_opening)
                        .map(|_| format!("{path}: {comment}")),
                );
            }
            before = line;
        }
    }
    assert!(comments > 3_000, "{comments}");
    assert!(50 * riddles.len() < comments, "{}", riddles.join("\n"));
}

/// The type that a line of code declares. An associated type is indented and does not count.
fn declared(line: &str) -> Option<&str> {
    let visible = line.trim_start().trim_start_matches("pub");
    let rest = match visible.strip_prefix('(') {
        Some(rest) => rest.split_once(')')?.1,
        None => visible,
    };
    let (keyword, rest) = rest.trim_start().split_once(' ')?;
    let is_type = match keyword {
        "struct" | "enum" | "trait" => true,
        "type" => !line.starts_with(' '),
        _ => false,
    };
    let is_end = |c: char| !(c.is_alphanumeric() || c == '_');
    is_type
        .then(|| rest.split(is_end).next())?
        .filter(|name| !name.is_empty())
}

#[test]
fn a_type_name_is_used_once() {
    let sources = sources();
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    // On systems without directory handles, this file takes the place of one that declares the same names.
    let compared = sources
        .iter()
        .filter(|(name, _)| name != "files/folder/other.rs");
    let code: Vec<_> = compared.map(|(name, text)| (name, code(text))).collect();
    for (name, code) in &code {
        for declared in code.lines().filter_map(declared) {
            places.entry(declared).or_default().push(name);
        }
    }
    assert!(
        places.len() > 300 && places.contains_key("BaseChain"),
        "{places:?}"
    );
    places.retain(|_, files| files.len() > 1);
    assert!(
        places.is_empty(),
        "these names are used more than once: {places:#?}"
    );
}

#[test]
fn imports_are_found_in_every_notation() {
    let all = |code: &str| {
        let (uses, rest) = uses(&without_strings(code));
        let used = uses
            .into_iter()
            .map(|used| format!("{}={}", used.name, used.path.join("::")));
        used.chain(paths(&rest).into_iter().map(|path| path.join("::")))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        all(
            "use super::{a, b::{self, C as D}};\npub(crate) use crate::e::F;\nfn g() { h::i(\"j::k\", '\"') }"
        ),
        [
            "a=super::a",
            "b=super::b",
            "D=super::b::C",
            "F=crate::e::F",
            "h::i"
        ]
    );
    let imports = imports();
    for (file, other) in [
        // `use super::words;` and `words::…`
        ("cli/check/text.rs", "cli/check/words.rs"),
        // `use super::{…}`
        ("scan/html/engines.rs", "scan/html/exact.rs"),
        // `mod listing;` and `listing::…`
        ("cli/check.rs", "cli/check/listing.rs"),
        // `use crate::…`
        ("cli/check/tree.rs", "cli/status.rs"),
        // `baselink_files::write::is_temporary`, which is a re-export
        ("cli/check/tree.rs", "files/new_file.rs"),
        // A name of another crate
        ("cli/rewrite/extract.rs", "rewrite/options.rs"),
    ] {
        assert!(
            imports[file].contains(other),
            "{file} {other}: {:?}",
            imports[file]
        );
    }
    assert!(!imports["cli/files.rs"].contains("lib.rs"));
}
