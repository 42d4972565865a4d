//! Every case of `fixtures/message` and `fixtures/http`: the bytes after rewriting, every link with its outcome, and the
//! base of every entity, with the line ends as stored and with CRLF. Other tests check that the cases are complete and
//! consistent.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use baselink::Dkim;
use baselink_rewrite::base::{ContentLocationUse, Retrieval};
use baselink_rewrite::{Options, edits, rewrite};
use baselink_text::format::Format;
use baselink_verify::verify;

use crate::expected::{field, row};

/// The folders of cases: name, format, extension of the files, minimum number of cases.
const FOLDERS: [(&str, Format, &str, usize); 2] = [
    ("message", Format::Message, "eml", 140),
    ("http", Format::Http, "http", 40),
];
const FILES: [&str; 6] = [
    "about",
    "arguments",
    "input.*",
    "expected.*",
    "expected.links",
    "expected.base",
];
/// The file that marks a case whose meaning would change with CRLF.
const ONLY_AS_STORED: &str = "only-as-stored";
const OUTCOMES: [&str; 5] = ["rewritten", "absolute", "no-base", "left", "not-editable"];
const SOURCES: [&str; 10] = [
    "xml-base",
    "base-element",
    "base-header",
    "content-base",
    "content-location",
    "snapshot-content-location",
    "encapsulating",
    "retrieval",
    "default",
    "assumed-scheme",
];

/// A case in a folder of its own.
struct Case {
    folder: PathBuf,
    format: Format,
    extension: &'static str,
}

impl Case {
    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder.join(name.replace('*', self.extension))).unwrap()
    }

    fn is_only_as_stored(&self) -> bool {
        self.folder.join(ONLY_AS_STORED).exists()
    }
}

fn cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut cases = Vec::new();
    for (name, format, extension, minimum) in FOLDERS {
        let folders = fs::read_dir(root.join(name))
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let mut folders: Vec<_> = folders.filter(|path| path.is_dir()).collect();
        assert!(
            folders.len() >= minimum,
            "only {} cases of {name}",
            folders.len()
        );
        folders.sort();
        cases.extend(folders.into_iter().map(|folder| Case {
            folder,
            format,
            extension,
        }));
    }
    cases
}

/// The options for the arguments of a case.
fn options(case: &Case) -> Options {
    let arguments = String::from_utf8(case.read("arguments")).unwrap();
    let mut options = Options {
        format: case.format,
        ..Options::default()
    };
    let mut lines = arguments.lines();
    while let Some(name) = lines.next() {
        let mut value = || {
            lines
                .next()
                .unwrap_or_else(|| panic!("{name} has no value"))
        };
        match name {
            "--trust" => {
                assert_eq!(value(), "-content-location");
                options.content_location = ContentLocationUse::Label;
            }
            "--skip-dkim" => options.dkim = Dkim::Keep,
            "--format" => assert_eq!(value(), case.format.name()),
            "--url" => options.retrieval = Some(Retrieval::url(value())),
            "--assume-scheme" => options.assumed_scheme = Some(value().into()),
            "--resolver" => options.profile = value().parse().unwrap(),
            "--fragments" => options.fragments = Some(value().parse().unwrap()),
            "--base-element" => options.base_element = value().parse().unwrap(),
            "--enable" => options.scan.groups.extend(value().parse().unwrap()),
            _ => panic!("unknown argument {name}"),
        }
    }
    options
}

fn with_crlf(bytes: &[u8]) -> Vec<u8> {
    let mut with = Vec::with_capacity(bytes.len() + bytes.len() / 16);
    for &byte in bytes {
        if byte == b'\n' {
            with.push(b'\r');
        }
        with.push(byte);
    }
    with
}

/// The lines of `bytes`, escaped and indented.
fn shown(bytes: &[u8]) -> String {
    bytes
        .split_inclusive(|&byte| byte == b'\n')
        .map(|line| format!("  {}\n", line.escape_ascii()))
        .collect()
}

/// Runs the case after `form` has converted its line ends. Returns the problems.
fn check(case: &Case, form: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let options = options(case);
    let input = form(&case.read("input.*"));
    let report = rewrite(&input, &options).report;

    let links: String = report.links.iter().map(row).collect();
    let mut listed = String::new();
    baselink_rewrite::links(&input, &options, &mut |found| {
        listed.push_str(&row(&found.link));
    });
    let mut bases = String::new();
    for entity in &report.entities {
        let (chain, media_type) = (&entity.chain, entity.media_type.to_string());
        let fields = [
            &*chain.entity,
            &media_type,
            chain.rule.section(),
            chain.source.name(),
            chain.base.as_deref().unwrap_or("-"),
        ];
        writeln!(bases, "{}", fields.map(field).join("\t")).unwrap();
    }
    let rewritten = rewrite(&input, &options);
    let output = rewritten.output();
    let mut wrong = String::new();
    let expected = form(&case.read("expected.*"));
    if output != expected {
        let (expected, found) = (shown(&expected), shown(&output));
        writeln!(wrong, "the result should be\n{expected}and is\n{found}").unwrap();
    }
    for (name, found) in [
        ("expected.links", links),
        ("expected.links", listed),
        ("expected.base", bases),
    ] {
        let expected = String::from_utf8(case.read(name)).unwrap();
        if expected != found {
            writeln!(wrong, "{name} should be\n{expected}and is\n{found}").unwrap();
        }
    }
    let (edits, totals) = edits(&input, &options);
    let out = edits.apply(&input);
    let counts =
        baselink::Outcome::ALL.map(|outcome| (totals.count(outcome), report.count(outcome)));
    if out != output || counts.iter().any(|(counted, reported)| counted != reported) {
        writeln!(wrong, "edits make\n{}and counts {counts:?}", shown(&out)).unwrap();
    }
    if let Err(differences) = verify(&rewritten) {
        writeln!(wrong, "not verified: {differences:?}").unwrap();
    }
    if !rewrite(&output, &options).edits.is_empty() {
        writeln!(wrong, "rewriting twice changes more").unwrap();
    }
    wrong
}

#[test]
fn every_case_meets_its_expectation() {
    let cases = cases();
    let mut failed = 0;
    for case in &cases {
        let name = case.folder.display();
        let mut wrong = check(case, <[u8]>::to_vec);
        // A problem with both kinds of line ends is reported once.
        if wrong.is_empty() && !case.is_only_as_stored() {
            wrong = check(case, with_crlf);
            if !wrong.is_empty() {
                wrong.insert_str(0, "with CRLF:\n");
            }
        }
        if !wrong.is_empty() {
            failed += 1;
            println!("== {name}\n{wrong}");
        }
    }
    assert!(failed == 0, "{failed} of {} cases failed", cases.len());
}

/// The lines of `file` of `case`, split at tabs.
fn fields(case: &Case, file: &str) -> Vec<Vec<String>> {
    let text = String::from_utf8(case.read(file)).unwrap();
    let name = case.folder.display();
    assert!(
        text.is_empty() || text.ends_with('\n'),
        "{name}: {file} ends within a line"
    );
    text.lines()
        .map(|line| line.split('\t').map(str::to_string).collect())
        .collect()
}

#[test]
fn every_case_has_all_its_files() {
    for case in cases() {
        let folder = &case.folder;
        let found: HashSet<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != ONLY_AS_STORED)
            .collect();
        let expected: HashSet<_> = FILES.map(|name| name.replace('*', case.extension)).into();
        assert_eq!(
            found, expected,
            "{folder:?} lacks an expectation, or has a file too many"
        );
        let about = String::from_utf8(case.read("about")).unwrap();
        assert!(
            about.ends_with(".\n") && about.lines().count() == 1,
            "{folder:?}: about"
        );
        if !case.is_only_as_stored() {
            let crlf = case.read("input.*").windows(2).any(|pair| pair == b"\r\n");
            assert!(!crlf, "{folder:?} has a CRLF, and so no form with CRLF");
        }
    }
}

#[test]
fn the_columns_of_every_expectation_are_consistent() {
    let mut named = HashSet::new();
    for case in cases() {
        let (entities, links) = (
            fields(&case, "expected.base"),
            fields(&case, "expected.links"),
        );
        let case = case.folder;
        assert_eq!(entities[0][0], "", "{case:?}: the message comes first");
        let mut seen = HashSet::new();
        for entity in &entities {
            let [number, media_type, rule, source, base] = entity.as_slice() else {
                panic!("{case:?}: expected.base has lines of 5 fields, not {entity:?}");
            };
            let outer = number.rsplit_once('.').map_or("", |(outer, _)| outer);
            assert!(
                number.is_empty() || seen.contains(outer),
                "{case:?}: {entity:?}"
            );
            assert!(
                seen.insert(number.as_str()),
                "{case:?}: {number} is there twice"
            );
            assert!(media_type.contains('/'), "{case:?}: {entity:?}");
            assert!(SOURCES.contains(&source.as_str()), "{case:?}: {entity:?}");
            let expected = match source.as_str() {
                "encapsulating" => "3.2",
                "retrieval" => "3.3",
                "default" | "assumed-scheme" => "3.4",
                _ => "3.1",
            };
            assert_eq!(rule, expected, "{case:?}: {entity:?}");
            assert!(rule != "3.3" || number.is_empty(), "{case:?}: {entity:?}");
            assert_eq!(rule == "3.4", base == "-", "{case:?}: {entity:?}");
            named.insert(source.clone());
        }
        for link in links {
            let [entity, element, _, _, outcome, reason, target] = link.as_slice() else {
                panic!("{case:?}: expected.links has lines of 7 fields, not {link:?}");
            };
            assert!(!element.is_empty(), "{case:?}: {link:?}");
            assert!(seen.contains(entity.as_str()), "{case:?}: {link:?}");
            assert!(OUTCOMES.contains(&outcome.as_str()), "{case:?}: {link:?}");
            let has_reason = ["left", "not-editable"].contains(&outcome.as_str());
            assert_eq!(has_reason, reason != "-", "{case:?}: {link:?}");
            let has_target = ["rewritten", "absolute", "not-editable"].contains(&outcome.as_str());
            assert_eq!(has_target, target != "-", "{case:?}: {link:?}");
            named.extend([outcome.clone(), reason.clone()]);
        }
    }
    let reasons = [
        "signed",
        "dkim",
        "sibling-part",
        "transfer",
        "base-unusable",
    ];
    for name in SOURCES.iter().chain(&OUTCOMES).chain(&reasons) {
        assert!(named.contains(*name), "no case has {name}");
    }
}

#[test]
fn bytes_change_where_a_link_is_rewritten() {
    for case in cases() {
        let rewritten = fields(&case, "expected.links")
            .iter()
            .any(|link| link[4] == "rewritten");
        let same = case.read("input.*") == case.read("expected.*");
        assert_ne!(
            same, rewritten,
            "{:?}: input and output contradict the links",
            case.folder
        );
    }
}
