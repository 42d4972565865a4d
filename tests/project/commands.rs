//! Every command in a block of `README.md`, `docs/recipes.md` and the READMEs of packages runs in CI, or is marked as not run.
//!
//! A block is marked by its info string: `sh no-run` or `console no-run`. In other `sh` blocks, commands of baselink run here,
//! in a folder with the files of [`SCENE`]. `commands.tsv` names the file of the repository that runs another command, and a
//! text in that file. `readme.rs` runs the `console` blocks.
//!
//! Deliberately absent: programs in other languages, which the tests of the packages run.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

const LIST: &str = include_str!("commands.tsv");

/// The files that the commands read, in addition to `fixtures`.
const SCENE: [(&str, &str); 4] = [
    ("last-run", ""),
    ("page.html", "<a href=b.html>"),
    ("pages/a.html", "<a href=a.html>"),
    (
        "urls.csv",
        "a.html,https://a.example/a\npages/a.html,https://a.example/a\n",
    ),
];

/// The blocks of `page`: info string and text.
fn blocks(page: &str) -> impl Iterator<Item = (&str, &str)> {
    let blocks = page.split("\n```").skip(1).step_by(2);
    blocks.map(|block| block.split_once('\n').unwrap_or((block, "")))
}

/// The commands of a line in a shell script, without the comment after them.
fn commands(line: &str) -> impl Iterator<Item = &str> {
    let (commands, _) = line.split_once("  #").unwrap_or((line, ""));
    commands.split(" && ").map(str::trim)
}

/// A folder with the files of [`SCENE`], and with those fixtures that `page` mentions.
fn scene(page: &str) -> tempfile::TempDir {
    let scene = tempfile::tempdir().unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    crate::readme::copy(&fixtures, &scene.path().join("fixtures"), page);
    for (name, text) in SCENE {
        let path = scene.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let last_run = File::options()
        .write(true)
        .open(scene.path().join("last-run"));
    last_run
        .unwrap()
        .set_modified(SystemTime::UNIX_EPOCH)
        .unwrap();
    scene
}

/// Runs `command` in a shell that finds baselink. Returns what is wrong.
fn failure(folder: &Path, command: &str) -> Option<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_baselink")).parent().unwrap();
    let found = std::env::var_os("PATH").unwrap_or_default();
    let folders = [PathBuf::from(program)]
        .into_iter()
        .chain(std::env::split_paths(&found));
    let output = Command::new("sh")
        .args(["-euc", command])
        .current_dir(folder)
        .env("PATH", std::env::join_paths(folders).unwrap())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    (!output.status.success()).then(|| format!("`{command}` fails, {}: {printed}", output.status))
}

/// The rows of `commands.tsv`: the command, the file that runs it, and a text in that file.
fn list() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    LIST.lines().skip(1).map(|row| {
        let [command, file, text] = row.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{row:?} has not 3 fields");
        };
        (command, file, text)
    })
}

/// The commands of the page `name` that neither run nor are marked.
fn faults(name: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join(name)).unwrap();
    let scene = scene(&page);
    let mut faults = Vec::new();
    for (info, text) in blocks(&page) {
        if info != "console" && info != "console no-run" && text.starts_with("$ ") {
            faults.push(format!("{name}: this is not a `console` block:\n{text}"));
        }
        if info != "sh" {
            continue;
        }
        for command in text.lines().flat_map(commands) {
            if list().any(|(known, ..)| known == command) {
                continue;
            }
            if command.contains("baselink ") {
                let failure = failure(scene.path(), command);
                faults.extend(failure.map(|failure| format!("{name}: {failure}")));
                continue;
            }
            faults.push(format!(
                "{name}: `{command}` is not in tests/project/commands.tsv; if no file of the repository runs it, begin its \
                 block with ```sh no-run"
            ));
        }
    }
    faults
}

#[test]
fn every_command_of_the_readme_runs_or_is_marked() {
    let faults = faults("README.md");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_command_of_the_recipes_and_packages_runs_or_is_marked() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pages = ["docs/recipes.md", "python/README.md", "js/README.md"]
        .map(str::to_owned)
        .to_vec();
    for folder in fs::read_dir(root.join("crates")).unwrap() {
        let name = folder.unwrap().file_name().into_string().unwrap();
        pages.push(format!("crates/{name}/README.md"));
    }
    let faults: Vec<_> = pages.iter().flat_map(|page| faults(page)).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_listed_command_runs_where_the_list_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (command, file, text) in list() {
        let source = fs::read_to_string(root.join(file)).unwrap();
        assert!(source.contains(text), "{file} does not run `{command}`");
    }
}
