//! The command, the Rust crate, the Python module and the npm package have one vocabulary: `docs/names.md` lists the names,
//! and each exists in the interface of its column.
//!
//! Deliberately absent: the meaning of the names.

use std::collections::BTreeSet;

const NAMES: &str = include_str!("../../docs/names.md");
const RUST: &str = include_str!("../../docs/public-api.txt");
const JSON: &str = include_str!("../../src/cli/json_records.rs");
const BASE_LEVELS: &str = include_str!("../../crates/rewrite/src/base.rs");
const PYTHON: &str = include_str!("../../python/baselink/_types.py");
const FUNCTIONS: [&str; 2] = [
    include_str!("../../python/baselink/_baselink.pyi"),
    include_str!("../../python/baselink/_text.py"),
];
const JAVASCRIPT: &str = include_str!("../../js/index.d.ts");
const HELP: [&str; 3] = [
    include_str!("../../src/cli/links.rs"),
    include_str!("../../src/cli/request.rs"),
    include_str!("../../src/cli/args/output.rs"),
];

/// The cells of each row of the table under `heading`, without backquotes.
fn rows(heading: &str) -> Vec<Vec<&'static str>> {
    let (_, section) = NAMES.split_once(&format!("\n## {heading}\n")).unwrap();
    let rows = section.lines().take_while(|line| !line.starts_with('#'));
    rows.filter(|line| line.starts_with('|'))
        .skip(2)
        .map(|row| {
            let cells = row.trim_matches('|').split('|');
            cells.map(|cell| cell.trim().trim_matches('`')).collect()
        })
        .collect()
}

/// The body of the item that begins with `start`, up to a line that does not belong to it.
fn body<'a>(text: &'a str, start: &str) -> impl Iterator<Item = &'a str> {
    let (_, rest) = text.split_once(start).unwrap_or_else(|| panic!("{start}"));
    let indented = rest.lines().skip(1);
    indented
        .take_while(|line| line.is_empty() || line.starts_with(' '))
        .map(str::trim)
}

/// The names before the colons in the body of the item that begins with `start`.
fn fields<'a>(text: &'a str, start: &str) -> BTreeSet<&'a str> {
    let names = body(text, start).filter_map(|line| {
        let (name, _) = line.trim_start_matches("pub ").split_once(':')?;
        let name = name.trim_end_matches('?');
        let is_name = |name: &str| {
            name.bytes()
                .all(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        };
        is_name(name).then_some(name)
    });
    names.collect()
}

fn column(rows: &[Vec<&'static str>], number: usize) -> BTreeSet<&'static str> {
    let cells = rows.iter().map(|row| row[number]);
    cells.filter(|cell| !cell.is_empty()).collect()
}

#[test]
fn every_option_has_its_name_in_each_interface() {
    let rows = rows("Options");
    assert_eq!(column(&rows, 1), {
        let methods = body(RUST, "impl RewriterBuilder {").filter_map(|line| {
            let (name, _) = line.strip_prefix("pub fn ")?.split_once(['(', '<'])?;
            Some(name)
        });
        methods.filter(|name| *name != "build").collect()
    });
    let mut python = fields(PYTHON, "class Options(");
    python.extend(fields(PYTHON, "class ArchiveOptions("));
    python.insert("url");
    assert_eq!(column(&rows, 2), python);
    let mut javascript = fields(JAVASCRIPT, "export interface Options ");
    javascript.extend(fields(JAVASCRIPT, "export interface ResolveOptions "));
    assert_eq!(column(&rows, 3), javascript);
    for option in column(&rows, 0) {
        let field = option.trim_start_matches('-').split(' ').next().unwrap();
        let field = format!("{}:", field.replace('-', "_"));
        assert!(HELP.iter().any(|text| text.contains(&field)), "{option}");
    }
    for row in &rows {
        assert_eq!(row[1], row[2], "Rust and Python");
        assert_eq!(
            row[2].replace('_', ""),
            row[3].to_ascii_lowercase(),
            "JavaScript"
        );
    }
}

#[test]
fn every_result_has_its_names_in_each_interface() {
    let rows = rows("Results");
    for (result, class, record) in [
        ("link", "Link", "struct LinkRecord<'a> {"),
        ("base", "Base", "struct BaseRecord<'a> {"),
        ("level of the chain", "Level", ""),
    ] {
        let own: Vec<_> = rows
            .iter()
            .filter(|row| row[0] == result)
            .cloned()
            .collect();
        let names = column(&own, 1);
        assert_eq!(fields(PYTHON, &format!("class {class}(")), names, "Python");
        assert_eq!(
            fields(JAVASCRIPT, &format!("export interface {class} ")),
            names,
            "JavaScript"
        );
        let json = match record {
            "" => fields(BASE_LEVELS, "pub struct Level {"),
            record => fields(JSON, record),
        };
        assert!(names.is_subset(&json), "JSON has only {json:?}");
        for path in column(&own, 2) {
            let (of, field) = path.split_once("::").unwrap();
            let known = fields(RUST, &format!("pub struct {of} {{"));
            assert!(known.contains(field), "{path}");
        }
    }
}

#[test]
fn every_function_has_its_name_in_each_interface() {
    for row in rows("Functions") {
        assert!(RUST.contains(&format!("pub fn {}", row[1])), "{}", row[1]);
        let definition = format!("def {}(", row[2]);
        assert!(
            row[2].is_empty() || FUNCTIONS.iter().any(|text| text.contains(&definition)),
            "{definition}"
        );
        assert!(
            row[3].is_empty() || JAVASCRIPT.contains(&format!("export function {}(", row[3])),
            "{}",
            row[3]
        );
    }
}
