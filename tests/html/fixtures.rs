//! Every case of a document, message or response in `fixtures/`: the bytes after rewriting, every link with its outcome, and
//! every base. Messages also run with CRLF as line ends. `BLESS=1` writes what was found into the cases.

use std::fmt::Write as _;

use baselink::{LinkReport, LocalCopies, Reason};
use baselink_rewrite::base::{ContentLocationUse, Retrieval};
use baselink_rewrite::{Dkim, Options, edits, rewrite};
use baselink_text::format::Format;
use baselink_text::layer::charset::Charset;
use baselink_verify::verify;

use crate::case_file::Case;

/// The folders of cases: name, format, minimum number of cases.
const FOLDERS: [(&str, Format, usize); 10] = [
    ("html", Format::Html, 100),
    ("css", Format::Css, 60),
    ("xhtml", Format::Xhtml, 15),
    ("svg", Format::Svg, 10),
    ("feed", Format::Xml, 15),
    ("manifest", Format::Manifest, 3),
    ("jsonfeed", Format::JsonFeed, 1),
    ("script", Format::Script, 5),
    ("message", Format::Message, 140),
    ("http", Format::Http, 40),
];

/// The options for the arguments of a case.
fn options(case: &Case, format: Format) -> Options {
    let mut options = Options {
        format,
        ..Options::default()
    };
    let mut arguments = case.arguments.iter().map(String::as_str);
    while let Some(name) = arguments.next() {
        if name == "--skip-dkim" {
            options.dkim = Dkim::Keep;
            continue;
        }
        let value = arguments
            .next()
            .unwrap_or_else(|| panic!("{name} has no value"));
        match name {
            "--url" => options.retrieval = Some(Retrieval::url(value)),
            "--assume-scheme" => options.assumed_scheme = Some(value.into()),
            "--trust" if value == "entry-link" => options.scan.entry_links = true,
            "--trust" if value == "-saved" => options.scan.ignore_saved = true,
            "--trust" if value == "-local-copies" => options.local_copies = LocalCopies::Rewrite,
            "--trust" if value == "-content-location" => {
                options.content_location = ContentLocationUse::Label;
            }
            "--format" => assert_eq!(value, format.name()),
            "--resolver" => options.resolver = value.parse().unwrap(),
            "--fragments" => options.fragments = Some(value.parse().unwrap()),
            "--base-element" => options.base_element = value.parse().unwrap(),
            "--charset" => options.scan.charset = Some(Charset::for_label(value).unwrap()),
            "--enable" => options.scan.groups.extend(value.parse().unwrap()),
            "--attribute" => {
                let places = &mut options.scan.places;
                *places = [&places[..], &[value.parse().unwrap()]].concat().into();
            }
            _ => panic!("unknown argument {name}"),
        }
    }
    options
}

/// Escapes `text` as a field of a row.
fn field(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('\t', "\\t")
        .replace('\n', "\\n")
}

/// The row of `link` in `expected.links`.
fn row(link: &LinkReport) -> String {
    let fields = [
        &*link.entity,
        if link.element.is_empty() {
            "-"
        } else {
            &link.element
        },
        link.attribute.as_deref().unwrap_or("-"),
        &link.reference,
        link.outcome.name(),
        link.reason.map_or("-", Reason::name),
        link.target.as_deref().unwrap_or("-"),
    ];
    fields.map(field).join("\t") + "\n"
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

/// Runs a case after `form` has converted the line ends of its documents. Returns the problems.
fn check(case: &mut Case, format: Format, form: fn(&[u8]) -> Vec<u8>) -> String {
    let options = options(case, format);
    let input = form(case.bytes("input.*"));
    let rewritten = rewrite(&input, &options);
    let (report, output) = (&rewritten.report, rewritten.output());

    let links: String = report.links.iter().map(row).collect();
    // Without a report, edits, links and counts must be equal to those with one.
    let (edits, totals) = edits(&input, &options);
    let written = edits.apply(&input);
    let mut listed = String::new();
    baselink_rewrite::links(&input, &options, &mut |found| {
        listed.push_str(&row(&found.link));
    });
    let mut bases = String::new();
    for entity in &report.entities {
        let chain = &entity.chain;
        let media_type = match format {
            Format::Message | Format::Http => Some(entity.media_type.to_string()),
            _ => None,
        };
        let mut fields = vec![field(&chain.entity)];
        fields.extend(media_type.as_deref().map(field));
        let base = chain.base.as_deref().unwrap_or("-");
        fields.extend([chain.rule.section(), chain.source.name(), base].map(field));
        writeln!(bases, "{}", fields.join("\t")).unwrap();
    }
    let mut wrong = String::new();
    for (name, found) in [
        ("expected.*", &*output),
        ("expected.*", &written),
        ("expected.links", links.as_bytes()),
        ("expected.links", listed.as_bytes()),
        ("expected.base", bases.as_bytes()),
    ] {
        let expected = match name {
            "expected.*" => form(case.bytes(name)),
            _ => case.bytes(name).to_vec(),
        };
        wrong.extend(case.difference(name, &expected, found));
    }
    for outcome in baselink::Outcome::ALL {
        if totals.count(outcome) != report.count(outcome) {
            writeln!(wrong, "two counts of {outcome:?}").unwrap();
        }
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
    let mut failed = 0;
    for (folder, format, minimum) in FOLDERS {
        for mut case in Case::all(folder, minimum) {
            let mut wrong = check(&mut case, format, <[u8]>::to_vec);
            // A problem with both kinds of line ends is reported once.
            let is_message = matches!(format, Format::Message | Format::Http);
            if wrong.is_empty() && is_message && !case.has("only-as-stored") {
                case.is_blessed = false;
                wrong = check(&mut case, format, with_crlf);
            }
            if !wrong.is_empty() {
                failed += 1;
                println!("== {}\n{wrong}", case.name);
            }
        }
    }
    assert!(failed == 0, "{failed} cases failed");
}
