//! Every case of a document in `fixtures/`: the bytes after rewriting, every link with its outcome, and every base.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use baselink_rewrite::base::Retrieval;
use baselink_text::format::Format;
use baselink_text::layer::charset::Charset;

use baselink::LocalCopies;
use baselink_rewrite::{Options, edits, rewrite};
use baselink_verify::verify;

use crate::expected::{field, row};

/// The folders of cases: name, extension of the documents, format, minimum number of cases.
const FOLDERS: &[(&str, &str, Format, usize)] = &[
    ("html", "html", Format::Html, 100),
    ("css", "css", Format::Css, 60),
    ("xhtml", "xhtml", Format::Xhtml, 15),
    ("svg", "svg", Format::Svg, 10),
    ("feed", "xml", Format::Xml, 15),
    ("manifest", "webmanifest", Format::Manifest, 3),
    ("jsonfeed", "json", Format::JsonFeed, 1),
    ("script", "js", Format::Script, 5),
];

/// The options for the arguments of a case.
fn options(arguments: &str, format: Format) -> Options {
    let mut options = Options {
        format,
        ..Options::default()
    };
    let mut lines = arguments.lines();
    while let Some(name) = lines.next() {
        let value = lines
            .next()
            .unwrap_or_else(|| panic!("{name} has no value"));
        match name {
            "--url" => options.retrieval = Some(Retrieval::url(value)),
            "--assume-scheme" => options.assumed_scheme = Some(value.into()),
            "--trust" if value == "entry-link" => options.scan.entry_links = true,
            "--trust" if value == "-saved" => options.scan.ignore_saved = true,
            "--trust" if value == "-local-copies" => options.local_copies = LocalCopies::Rewrite,
            "--resolver" => options.profile = value.parse().unwrap(),
            "--fragments" => options.fragments = Some(value.parse().unwrap()),
            "--base-element" => options.base_element = value.parse().unwrap(),
            "--charset" => options.scan.charset = Some(Charset::for_label(value).unwrap()),
            "--enable" => options.scan.groups.extend(value.parse().unwrap()),
            "--attribute" => options.scan.places.push(value.parse().unwrap()),
            _ => panic!("unknown argument {name}"),
        }
    }
    options
}

fn check(case: &Path, extension: &str, format: Format) -> Result<(), String> {
    let read = |name: &str| {
        fs::read(case.join(name)).map_err(|error| format!("{name} is missing: {error}"))
    };
    let arguments = String::from_utf8(read("arguments")?).unwrap();
    let options = options(&arguments, format);
    let input = read(&format!("input.{extension}"))?;
    let report = rewrite(&input, &options).report;

    let links: String = report.links.iter().map(row).collect();
    // The same edits and links are produced without a report.
    let written = edits(&input, &options).0.apply(&input);
    let mut listed = String::new();
    baselink_rewrite::links(&input, &options, &mut |found| {
        listed.push_str(&row(&found.link));
    });
    let mut bases = String::new();
    for chain in report.entities.iter().map(|entity| &entity.chain) {
        let base = chain.base.as_deref().unwrap_or("-");
        let fields = [
            &*chain.entity,
            chain.rule.section(),
            chain.source.name(),
            base,
        ];
        writeln!(bases, "{}", fields.map(field).join("\t")).unwrap();
    }
    let rewritten = rewrite(&input, &options);
    let output = rewritten.output();
    let mut wrong = String::new();
    for (name, found) in [
        (format!("expected.{extension}"), output.as_slice()),
        ("expected.links".to_owned(), links.as_bytes()),
        (format!("expected.{extension}"), written.as_slice()),
        ("expected.links".to_owned(), listed.as_bytes()),
        ("expected.base".to_owned(), bases.as_bytes()),
    ] {
        let expected = read(&name)?;
        if expected != found {
            let (expected, found) = (
                String::from_utf8_lossy(&expected),
                String::from_utf8_lossy(found),
            );
            writeln!(wrong, "{name} should be\n{expected}\nand is\n{found}").unwrap();
        }
    }
    if let Err(differences) = verify(&rewritten) {
        writeln!(wrong, "not verified: {differences:?}").unwrap();
    }
    if !rewrite(&output, &options).edits.is_empty() {
        writeln!(wrong, "rewriting twice changes more").unwrap();
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

#[test]
fn every_case_meets_its_expectation() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut failed = 0;
    for &(folder, extension, format, minimum) in FOLDERS {
        let cases = fs::read_dir(root.join(folder)).unwrap();
        let mut cases: Vec<_> = cases.map(|entry| entry.unwrap().path()).collect();
        cases.sort();
        assert!(
            cases.len() >= minimum,
            "{folder} has only {} cases",
            cases.len()
        );
        for case in &cases {
            if let Err(problems) = check(case, extension, format) {
                failed += 1;
                println!(
                    "== {folder}/{}\n{problems}",
                    case.file_name().unwrap().display()
                );
            }
        }
    }
    assert!(failed == 0, "{failed} cases failed");
}
