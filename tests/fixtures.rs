//! Every case of `fixtures/html`, `xhtml`, `svg` and `feed`: the bytes after rewriting, every link with its outcome, every base.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use baselink::base::Retrieval;
use baselink::format::Format;
use baselink::layer::charset::Charset;
use baselink::{Options, examine, rewrite, verify};

/// The options that the arguments of a case mean.
fn options(arguments: &str) -> Options {
    let mut options = Options::default();
    let mut lines = arguments.lines();
    while let Some(name) = lines.next() {
        let value = lines.next().unwrap_or_else(|| panic!("{name} has no value"));
        match name {
            "--url" => options.retrieval = Some(Retrieval::url(value)),
            "--resolver" => options.profile = value.parse().unwrap(),
            "--fragments" => options.fragments = value.parse().unwrap(),
            "--base-element" => options.base_element = value.parse().unwrap(),
            "--charset" => options.scan.charset = Some(Charset::for_label(value).unwrap()),
            "--enable" => options.scan.groups.extend(value.parse().unwrap()),
            "--attribute" => options.scan.places.push(value.parse().unwrap()),
            _ => panic!("unknown argument {name}"),
        }
    }
    options
}

fn field(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n")
}

fn check(case: &Path) -> Result<(), String> {
    let read =
        |name: &str| fs::read(case.join(name)).map_err(|why| format!("{name} is missing: {why}"));
    let arguments = String::from_utf8(read("arguments")?).unwrap();
    let names = fs::read_dir(case).unwrap().map(|entry| entry.unwrap().file_name());
    let name = names
        .filter_map(|name| name.into_string().ok())
        .find(|name| name.starts_with("input."))
        .ok_or("there is no input")?;
    let input = read(&name)?;
    let options = Options { format: Format::detect(Some(&name), &input), ..options(&arguments) };
    let output_name = name.replace("input.", "expected.");
    let report = examine(&input, &options);

    let mut links = String::new();
    for link in &report.links {
        let fields = [
            &*link.entity,
            &link.element,
            link.attribute.as_deref().unwrap_or("-"),
            &link.reference,
            link.outcome.name(),
            link.reason.map_or("-", baselink::Reason::name),
            link.target.as_deref().unwrap_or("-"),
        ];
        writeln!(links, "{}", fields.map(field).join("\t")).unwrap();
    }
    let mut bases = String::new();
    for chain in report.entities.iter().map(|entity| &entity.chain) {
        let base = chain.base.as_deref().unwrap_or("-");
        let fields = [&*chain.entity, chain.rule.section(), chain.source.name(), base];
        writeln!(bases, "{}", fields.map(field).join("\t")).unwrap();
    }
    let rewritten = rewrite(&input, &options);
    let output = rewritten.output();
    let mut wrong = String::new();
    for (name, found) in [
        (output_name.as_str(), output.as_slice()),
        ("expected.links", links.as_bytes()),
        ("expected.base", bases.as_bytes()),
    ] {
        let expected = read(name)?;
        if expected != found {
            let (expected, found) =
                (String::from_utf8_lossy(&expected), String::from_utf8_lossy(found));
            writeln!(wrong, "{name} should be\n{expected}\nand is\n{found}").unwrap();
        }
    }
    if let Err(differences) = verify::verify(&rewritten, &options) {
        writeln!(wrong, "not verified: {differences:?}").unwrap();
    }
    if !rewrite(&output, &options).edits.is_empty() {
        writeln!(wrong, "rewriting twice changes more").unwrap();
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong) }
}

#[test]
fn every_case_gives_what_it_expects() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut cases = Vec::new();
    for (folder, least) in [("html", 100), ("xhtml", 15), ("svg", 10), ("feed", 10)] {
        let folder = fs::read_dir(root.join(folder)).unwrap();
        let found: Vec<_> = folder.map(|entry| entry.unwrap().path()).collect();
        assert!(found.len() >= least);
        cases.extend(found);
    }
    cases.sort();
    let mut failed = 0;
    for case in &cases {
        if let Err(why) = check(case) {
            failed += 1;
            println!("== {}\n{why}", case.display());
        }
    }
    assert!(failed == 0, "{failed} of {} cases failed", cases.len());
}
