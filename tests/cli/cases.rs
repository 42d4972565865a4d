//! The program, from arguments to exit status. The cases are in `tests/cli/cases/`; `tests/cli/case.rs` describes their
//! format. The functions below test situations that no case can describe: a closed pipe, file permissions, a name that is
//! not UTF-8.
//! `BLESS=1` writes what was found into the cases that fail; review the difference.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use baselink_rewrite::{Options, rewrite};
use baselink_scan::ScanOptions;
use baselink_scan::Scanner;
use baselink_site::collection::origin::RootUrl;

use crate::case::{Case, STREAMS, baselink, put, run};
use crate::folder::files;

/// Runs `case`, and describes each difference from its expectation.
fn check(case: &Case) -> Vec<String> {
    let Case {
        name,
        arguments,
        expected,
        ..
    } = case;
    let ending = case.run(arguments, &case.files);

    // Windows separates the names of a path by `\`, which JSON escapes.
    let printed = |text: &str| match cfg!(windows) {
        true => text.replace(r"\\", "/").replace('\\', "/"),
        false => text.to_owned(),
    };
    let mut wrong = Vec::new();
    for ((stream, actual), expected) in STREAMS.iter().zip(&ending.streams).zip(&expected.streams) {
        if printed(actual) != printed(expected) {
            wrong.push(format!(
                "{name}: {stream} is\n{actual}--- instead of\n{expected}"
            ));
        }
    }
    let others = ending
        .files
        .keys()
        .filter(|path| !expected.files.contains_key(*path));
    for path in expected.files.keys().chain(others) {
        let actual = ending.files.get(path);
        if actual != expected.files.get(path) {
            let actual = actual.map(|bytes| String::from_utf8_lossy(bytes));
            wrong.push(format!(
                "{name}: {} is afterwards\n{actual:?}",
                path.display()
            ));
        }
    }
    if !wrong.is_empty() && std::env::var_os("BLESS").is_some() {
        case.bless(&ending);
        wrong.clear();
    }
    wrong
}

#[test]
fn every_case_has_its_output_files_and_status() {
    let wrong: Vec<_> = Case::all().iter().flat_map(check).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A folder without a known URL gets a placeholder internally, and so does a reference that lacks only a scheme. No
/// output may show a placeholder (bug 59).
#[test]
fn no_output_shows_a_placeholder_url() {
    const PLACEHOLDERS: [&str; 3] = [".invalid", "assumed/", "elsewhere/"];
    let shown = |text: &str| {
        PLACEHOLDERS
            .into_iter()
            .find(|placeholder| text.contains(placeholder))
    };
    let scene = tempfile::tempdir().unwrap();
    // Some of these links have a different target for each resolver, and some leave the folder.
    let up = "../".repeat(20);
    let links = format!(
        "<a href={up}x></a><a href=../x></a><a href=..></a><a href=/x></a><a href=/></a><a href=//h/x></a>\n\
         <a href=///x></a><a href='\\\\a\\b'></a><a href='\\a'></a><a href='%2e%2e/x'></a><a href=';x'></a><a href='?'></a>\n\
         <a href=https:x></a><a href=x#y></a><a href=#y></a><a href=a/x.html#y></a><a href=https://h.example/x></a>\n"
    );
    let page = |head: &str| format!("<!DOCTYPE html><title>{head}</title>{head}\n{links}");
    for (name, text) in [
        ("w/plain.html", page("<link rel=canonical href=/c>")),
        ("w/a/relative.html", page("<base href=b/>")),
        ("w/a/host.html", page("<base href=//h/>")),
        ("w/a/root.html", page("<base href=/r/>")),
        ("w/a/invalid.html", page("<base href='//['>")),
        ("w/a/empty.html", page("<base href>")),
        ("w/x.css", "a { background: url(../../i.png) }".to_owned()),
        (
            "w/x.xml",
            "<feed xml:base='a/'><link href='../../x'/></feed>".to_owned(),
        ),
    ] {
        put(scene.path(), Path::new(name), text.as_bytes());
    }
    let before = files(scene.path());
    for command in [
        "links",
        "links --json",
        "links --grammar",
        "links --only-targets",
        "links -o out",
        "base",
        "base --json",
        "rewrite -o out",
        "rewrite --diff",
        "rewrite --dry-run --json",
        "rewrite --dry-run --strict",
        "localize -o out",
        "localize --diff",
        "localize --dry-run --json",
        "localize --dry-run --missing -",
        "check --deny all",
        "check --json",
        "check --report out.sarif",
        "check --github",
        "check --report out.html",
        "check --baseline out --update-baseline",
        "check --to file --json",
        "check --to https://new.example/ --json --report out.html",
    ] {
        for resolver in [
            "rfc1808",
            "rfc3986 --assume-scheme https -v",
            "whatwg --assume-scheme https",
        ] {
            let resolver = if command.starts_with("base") || command.ends_with(".sarif") {
                resolver.trim_end_matches(" -v")
            } else {
                resolver
            };
            let arguments = format!("{command} w --resolver {resolver}");
            let output = run(baselink(scene.path()).args(arguments.split(' ')), b"");
            assert!(
                matches!(output.status.code(), Some(0 | 1)),
                "{arguments}: {output:?}"
            );
            for bytes in files(scene.path())
                .values()
                .chain([&output.stdout, &output.stderr])
            {
                let text = String::from_utf8_lossy(bytes);
                assert_eq!(shown(&text), None, "{arguments}: {text}");
            }
            fs::remove_dir_all(scene.path()).unwrap();
            before
                .iter()
                .for_each(|(name, bytes)| put(scene.path(), name, bytes));
        }
    }
}

#[test]
fn a_large_document_is_rewritten_like_a_small_one() {
    let scene = tempfile::tempdir().unwrap();
    let (page, tail) = (
        long_page(600_000),
        "<!-- ".to_owned() + &"x".repeat(300_000),
    );
    fs::write(
        scene.path().join("page.html"),
        [&page, tail.as_bytes()].concat(),
    )
    .unwrap();
    let expected = [
        &b"<a href=http://a/b/x>x</a>\n".repeat(600_000),
        tail.as_bytes(),
    ]
    .concat();
    for jobs in ["1", "2"] {
        for to in [&[][..], &["-o", "new.html"], &["-o", "folder/"], &["-i"]] {
            let mut command = baselink(scene.path());
            command
                .args([
                    "rewrite",
                    "-q",
                    "-j",
                    jobs,
                    "-u",
                    "http://a/b/",
                    "page.html",
                ])
                .args(to);
            let output = run(&mut command, b"");
            assert_eq!(
                (output.status.code(), &output.stderr[..]),
                (Some(0), &b""[..]),
                "{to:?}"
            );
            let actual = match to {
                [] => output.stdout,
                ["-i"] => fs::read(scene.path().join("page.html")).unwrap(),
                [_, "folder/"] => fs::read(scene.path().join("folder/page.html")).unwrap(),
                [.., path] => fs::read(scene.path().join(path)).unwrap(),
            };
            assert!(actual == expected, "{to:?} with {jobs} threads");
        }
        fs::write(
            scene.path().join("page.html"),
            [&page, tail.as_bytes()].concat(),
        )
        .unwrap();
        fs::remove_file(scene.path().join("new.html")).unwrap();
    }
}

#[test]
fn a_late_base_or_encoding_in_a_large_document_counts() {
    let scene = tempfile::tempdir().unwrap();
    let page = |base: &str, meta: &str, link: &str| {
        let links = format!("<a href={link}>x</a>\n").repeat(530_000);
        [
            links.as_bytes(),
            base.as_bytes(),
            meta.as_bytes(),
            b"<p style='a:url(\xe9)'>",
        ]
        .concat()
    };
    for (base, meta, link, target) in [
        ("<BASE href=http://c/d/>", "", "x", "http://c/d/x"),
        (
            "<base href=http://c/d/>",
            "<Meta charset=iso-8859-5>",
            "x",
            "http://c/d/x",
        ),
        ("<!--<base href=http://c/d/>-->", "", "x", "http://a/b/x"),
        (
            "<noscript><base href=http://c/d/></noscript>",
            "",
            "x",
            "http://a/b/x",
        ),
        // The walk stops here, after nearly all links.
        (
            "<b><svg></b><a href=y>",
            "<frameset><frame src=y>",
            "x",
            "http://a/b/x",
        ),
    ] {
        let page = page(base, meta, link);
        fs::write(scene.path().join("page.html"), &page).unwrap();
        let mut command = baselink(scene.path());
        let output = run(
            command.args(["rewrite", "-u", "http://a/b/", "page.html"]),
            b"",
        );
        assert_eq!(output.status.code(), Some(0));
        assert!(
            output
                .stdout
                .starts_with(format!("<a href={target}>x</a>\n").as_bytes()),
            "{base}"
        );
        let scan = ScanOptions {
            scanner: Scanner::Exact,
            ..ScanOptions::default()
        };
        let exact = rewrite(
            &page,
            &Options {
                scan,
                ..Options::at("http://a/b/")
            },
        );
        assert!(output.stdout == exact.output(), "{base} {meta}");
    }
}

#[test]
fn diagnostics_in_a_large_document_have_line_and_column() {
    let scene = tempfile::tempdir().unwrap();
    // RFC 1808 keeps a `../` that leads above the root; browsers remove it.
    let page = [&long_page(600_000), &b"\r\n\r<a href='../../g'>\n"[..]].concat();
    fs::write(scene.path().join("page.html"), page).unwrap();
    let mut command = baselink(scene.path());
    command.args([
        "rewrite",
        "--dry-run",
        "--json",
        "-u",
        "http://a/b/",
        "page.html",
    ]);
    let output = run(&mut command, b"");
    let (out, err) = (
        String::from_utf8(output.stdout),
        String::from_utf8(output.stderr),
    );
    let err = err.unwrap();
    assert!(
        err.starts_with("page.html:600003:10: warning[resolvers-differ]: 1 of the "),
        "{err}"
    );
    let out = out.unwrap();
    assert!(out.contains(r#""line":600003,"column":10"#), "{out}");
}

#[test]
fn the_lines_of_a_large_document_are_those_of_its_encoding() {
    let scene = tempfile::tempdir().unwrap();
    // Both bytes of U+0A0A look like line ends.
    let text = "\u{feff}\u{a0a}\u{a0a}\n<a href='//[z'>".to_owned() + &"x".repeat(5 << 20);
    let page: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(scene.path().join("page.html"), page).unwrap();
    let mut command = baselink(scene.path());
    command.args(["rewrite", "--dry-run", "-u", "http://a/b/", "page.html"]);
    let err = String::from_utf8(run(&mut command, b"").stderr).unwrap();
    assert!(
        err.starts_with("page.html:2:19: warning[resolvers-differ]: 1 of the "),
        "{err}"
    );
}

/// A page of `links` links.
fn long_page(links: usize) -> Vec<u8> {
    b"<a href=x>x</a>\n".repeat(links)
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let scene = tempfile::tempdir().unwrap();
    fs::write(scene.path().join("page.html"), long_page(100_000)).unwrap();
    let url = "http://a/";
    for arguments in [
        &["links", "-q", "-u", url, "page.html"][..],
        &["links", "--json", "-q", "-u", url, "page.html"],
        &["rewrite", "-q", "-u", url, "page.html"],
        &["rewrite", "-q", "--diff", "-u", url, "page.html"],
    ] {
        let mut child = baselink(scene.path())
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = String::new();
        // The reader is dropped after one line, so the program writes into a closed pipe.
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut first)
            .unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(first.ends_with('\n'), "{arguments:?}: {first:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    }
}

#[test]
fn resolve_answers_before_the_next_question() {
    let scene = tempfile::tempdir().unwrap();
    let mut child = baselink(scene.path())
        .args(["resolve", "http://a/b/c"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut questions = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    for (question, answer) in [("g", "http://a/b/g\n"), ("../g", "http://a/g\n")] {
        writeln!(questions, "{question}").unwrap();
        let mut line = String::new();
        answers.read_line(&mut line).unwrap();
        assert_eq!(line, answer);
    }
    drop(questions);
    assert_eq!(answers.read_to_end(&mut Vec::new()).unwrap(), 0);
    assert!(child.wait().unwrap().success());
}

#[test]
fn resolve_keeps_bytes_that_are_not_utf_8() {
    let scene = tempfile::tempdir().unwrap();
    let output = run(
        baselink(scene.path()).args(["resolve", "http://a/"]),
        b"\xff\nx",
    );
    assert_eq!(output.stdout, b"\xff\nhttp://a/x\n");
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        error,
        "-:1: warning[unresolvable]: '\u{fffd}' has no target: it is not UTF-8\n"
    );
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn bytes_around_an_edit_are_kept() {
    let scene = tempfile::tempdir().unwrap();
    let page = b"<!-- \xff\x1b[31m\0 -->\r\n<a href=x>\xe4";
    let output = run(
        baselink(scene.path()).args(["rewrite", "-q", "-u", "http://a/"]),
        page,
    );
    assert_eq!(
        output.stdout,
        b"<!-- \xff\x1b[31m\0 -->\r\n<a href=http://a/x>\xe4"
    );
    let diff = run(
        baselink(scene.path()).args(["rewrite", "-q", "--diff", "-u", "http://a/"]),
        page,
    );
    assert_eq!(
        diff.stdout,
        b"--- -\n+++ -\n@@ -1,2 +1,2 @@\n <!-- \xff\x1b[31m\0 -->\r\n-<a href=x>\xe4\n\
          \\ No newline at end of file\n+<a href=http://a/x>\xe4\n\\ No newline at end of file\n"
    );
}

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::Command;

    use super::*;
    use crate::case::program;

    #[test]
    fn a_name_need_not_be_utf_8() {
        let scene = tempfile::tempdir().unwrap();
        let name = OsStr::from_bytes(b"caf\xe9.html");
        let written = OsStr::from_bytes(b"out\xff.html");
        fs::write(scene.path().join(name), "<a href=x>").unwrap();
        let mut command = baselink(scene.path());
        command
            .args(["rewrite", "--json", "-u", "http://a/"])
            .arg(name)
            .arg("-o")
            .arg(written);
        let output = run(&mut command, b"");
        let record: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(record["path"], "caf\u{fffd}.html");
        assert_eq!(record["output"], "out\u{fffd}.html");
        assert_eq!(
            fs::read(scene.path().join(written)).unwrap(),
            b"<a href=http://a/x>"
        );
        assert_eq!(output.status.code(), Some(0));
    }

    #[test]
    fn an_unreadable_file_gives_one_sentence() {
        let scene = tempfile::tempdir().unwrap();
        let path = scene.path().join("page.html");
        fs::write(&path, "<p>").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        if fs::read(&path).is_ok() {
            eprintln!("notice: this user may read everything, so permissions were not tested");
            return;
        }
        let output = run(baselink(scene.path()).args(["links", "page.html"]), b"");
        assert_eq!(output.stderr, b"error: page.html: permission denied\n");
        assert_eq!(output.status.code(), Some(2));
    }

    #[test]
    fn a_written_file_keeps_its_permissions() {
        let scene = tempfile::tempdir().unwrap();
        let path = scene.path().join("page.html");
        fs::write(&path, "<a href=x>").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let arguments = ["rewrite", "-u", "http://a/", "-i", "page.html"];
        assert!(
            run(baselink(scene.path()).args(arguments), b"")
                .status
                .success()
        );
        assert_eq!(fs::read(&path).unwrap(), b"<a href=http://a/x>");
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o640
        );
        assert_eq!(files(scene.path()).len(), 1, "nothing else is left behind");
    }

    /// Bug 408. A new file replaces the old one, so its folder must be writable.
    #[test]
    fn a_file_in_a_read_only_folder_is_not_replaced() {
        let scene = tempfile::tempdir().unwrap();
        let folder = scene.path().join("cur");
        fs::create_dir(&folder).unwrap();
        let path = folder.join("1");
        fs::write(&path, "<a href=x>").unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
        if fs::write(folder.join("2"), "").is_ok() {
            eprintln!("notice: this user may write everywhere, so permissions were not tested");
            return;
        }
        let arguments = ["rewrite", "-u", "http://a/", "-i", "cur/1"];
        let output = run(baselink(scene.path()).args(arguments), b"");
        assert_eq!(
            output.stderr,
            b"error: cur/1 was not written: permission denied in its folder\n"
        );
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(fs::read(&path).unwrap(), b"<a href=x>");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Bug 408.
    #[test]
    fn a_read_only_file_is_not_replaced() {
        let scene = tempfile::tempdir().unwrap();
        let path = scene.path().join("out.html");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        let arguments = ["rewrite", "-o", "out.html"];
        let output = run(baselink(scene.path()).args(arguments), b"<p>");
        assert_eq!(
            output.stderr,
            b"error: out.html: the file is read-only; make it writable first\n"
        );
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }

    #[test]
    fn a_symbolic_link_is_not_written_through() {
        let scene = tempfile::tempdir().unwrap();
        fs::write(scene.path().join("real.html"), "old").unwrap();
        symlink("real.html", scene.path().join("link.html")).unwrap();
        let output = run(
            baselink(scene.path()).args(["rewrite", "-o", "link.html"]),
            b"<p>",
        );
        assert_eq!(
            String::from_utf8_lossy(&output.stderr),
            "error: link.html: a symbolic link, which is not followed; name real.html itself\n"
        );
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(fs::read(scene.path().join("real.html")).unwrap(), b"old");
    }

    /// Bug 67: a hard link kept the old bytes, and a file was replaced by its own output.
    #[test]
    fn an_input_is_not_written_under_another_name() {
        let scene = tempfile::tempdir().unwrap();
        let at = |name: &str| scene.path().join(name);
        fs::write(at("real.html"), "<a href=x>").unwrap();
        fs::hard_link(at("real.html"), at("hard.html")).unwrap();
        symlink("real.html", at("soft.html")).unwrap();
        for [input, out] in [
            ["real.html", "real.html"],
            ["real.html", "./real.html"],
            ["real.html", "hard.html"],
            ["real.html", "soft.html"],
            ["soft.html", "real.html"],
        ] {
            let arguments = ["rewrite", "-u", "http://a/", input, "-o", out];
            let output = run(baselink(scene.path()).args(arguments), b"");
            let shown = if input == out { "itself" } else { input };
            assert_eq!(
                String::from_utf8_lossy(&output.stderr),
                format!(
                    "error: {out}: the output file is the input {shown}; name another, or use --in-place\n"
                )
            );
            assert_eq!(output.status.code(), Some(2));
            assert_eq!(fs::read(at("real.html")).unwrap(), b"<a href=x>");
        }
        assert!(fs::symlink_metadata(at("soft.html")).unwrap().is_symlink());
    }

    #[test]
    fn a_mirror_links_only_to_its_own_files() {
        let scene = tempfile::tempdir().unwrap();
        let site = scene.path().join("site");
        fs::create_dir(&site).unwrap();
        let page = "<a href=real.html></a><a href=link.html></a><a href=pipe></a>\
            <a href=d/></a><a href=d/g.html></a><a href=out/x.html></a>";
        fs::write(site.join("page.html"), page).unwrap();
        fs::write(site.join("real.html"), "<p>").unwrap();
        symlink("real.html", site.join("link.html")).unwrap();
        fs::create_dir(site.join("docs")).unwrap();
        fs::write(site.join("docs/index.html"), "<p>").unwrap();
        fs::write(site.join("docs/g.html"), "<p>").unwrap();
        symlink("docs", site.join("d")).unwrap();
        symlink("..", site.join("out")).unwrap();
        assert!(
            Command::new("mkfifo")
                .arg(site.join("pipe"))
                .status()
                .unwrap()
                .success()
        );
        let localize = ["localize", "-q", "-u", "http://a/", "site"];
        for (options, page, expected) in [
            // Bug 321. The copy contains no symbolic links, but the files in the folder to which they lead.
            (
                &["-o", "mirror"][..],
                "mirror/page.html",
                "<a href=real.html></a><a href=real.html></a><a href=http://a/pipe></a>\
                 <a href=docs/index.html></a><a href=docs/g.html></a><a href=http://a/out/x.html></a>",
            ),
            (
                &["-i"],
                "site/page.html",
                "<a href=real.html></a><a href=link.html></a><a href=http://a/pipe></a>\
                 <a href=d/index.html></a><a href=d/g.html></a><a href=out/x.html></a>",
            ),
        ] {
            let output = run(
                baselink(scene.path()).args([&localize[..], options].concat()),
                b"",
            );
            assert_eq!(
                String::from_utf8_lossy(&output.stderr),
                "error: site/pipe: not a regular file; skipped\n"
            );
            assert_eq!(output.status.code(), Some(2));
            assert_eq!(
                fs::read_to_string(scene.path().join(page)).unwrap(),
                expected
            );
        }
    }

    #[test]
    fn a_device_is_not_replaced_by_a_file() {
        let scene = tempfile::tempdir().unwrap();
        let output = run(
            baselink(scene.path()).args(["rewrite", "-q", "-o", "/dev/null"]),
            b"<p>",
        );
        assert_eq!(output.status.code(), Some(0));
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn the_examples_of_the_help_work() {
        let scene = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| fs::write(scene.path().join(name), text).unwrap();
        put("page.html", "<a href=http://a.example/>");
        put("mail.eml", "Content-Type: text/html\n\n<a href=x>\n");
        put(
            "inbox.mbox",
            "From a\nContent-Type: text/html\n\n<a href=x>\n",
        );
        for folder in [
            "docs",
            "site/docs",
            "crawl/a.example",
            "Maildir/cur",
            "Maildir/new",
            "Maildir/tmp",
        ] {
            fs::create_dir_all(scene.path().join(folder)).unwrap();
        }
        put("docs/index.html", "<a href=x>");
        put("docs/x", "");
        put("site/docs/a.html", "<a href=/x>");
        put("renames.csv", "docs/a.html,b.html\n");
        for archive in ["crawl.warc.gz", "crawl-1.warc.gz", "crawl-2.warc.gz"] {
            put(archive, include_str!("../../fixtures/archive/site.warc"));
        }
        put("crawl/a.example/x.html", "<a href=x>");
        put(
            "Maildir/new/1.a.host",
            "Base: http://a.example/\nContent-Type: text/html\n\n<a href=x>\n",
        );
        let program = program();
        let folder = Path::new(&program).parent().unwrap();
        let path = format!("{}:/usr/bin:/bin", folder.display());
        let mut tried = 0;
        for command in [
            "", "rewrite", "links", "base", "resolve", "localize", "move",
        ] {
            let output = run(
                baselink(scene.path()).args(
                    [command, "--help"]
                        .iter()
                        .filter(|argument| !argument.is_empty()),
                ),
                b"",
            );
            let help = String::from_utf8(output.stdout).unwrap();
            let (_, rest) = help.split_once("Examples:\n").unwrap();
            let (examples, rest) = rest.split_once("\n\n").unwrap();
            assert!(rest.contains("Exit status:\n  0  done"), "{help}");
            assert!(examples.lines().count() >= 4, "{help}");
            // Examples with programs that may be missing are not run.
            for example in examples
                .lines()
                .filter(|line| !line.contains("curl") && !line.contains("jq"))
            {
                let mut shell = Command::new("sh");
                shell
                    .env("PATH", &path)
                    .current_dir(scene.path())
                    .args(["-c", example]);
                let output = run(&mut shell, b"");
                assert!(output.status.success(), "{example}: {output:?}");
                tried += 1;
            }
        }
        assert!(tried >= 15, "{tried}");
    }

    /// If standard output were an input file, the program would read its own output, or overwrite bytes before it reads them.
    #[test]
    fn an_input_that_is_also_standard_output_is_refused() {
        let scene = tempfile::tempdir().unwrap();
        let path = scene.path().join("page.html");
        let page = b"<a href=x>x</a>\n";
        for (arguments, name) in [
            ("rewrite -u http://a/ page.html", "page.html"),
            ("rewrite -u http://a/ -", "-"),
            ("links page.html", "page.html"),
            ("base --json .", "./page.html"),
            ("rewrite --format mbox page.html", "page.html"),
        ] {
            for (appends, truncates, emptied) in [
                (false, true, ", which the shell has emptied"),
                (true, false, ""),
                (false, false, ""),
            ] {
                fs::write(&path, page).unwrap();
                let mut options = fs::OpenOptions::new();
                let out = options.write(!appends).append(appends).truncate(truncates);
                let out = out.open(&path).unwrap();
                let mut command = baselink(scene.path());
                command
                    .args(arguments.split(' '))
                    .stdout(out)
                    .stderr(Stdio::piped());
                if name == "-" {
                    command.stdin(fs::File::open(&path).unwrap());
                }
                let output = command.output().unwrap();
                let message = format!(
                    "error: {name}: standard output is redirected to this file{emptied}; write to another file, \
                     or use `rewrite --in-place`\n"
                );
                let stderr = String::from_utf8(output.stderr).unwrap();
                assert!(stderr.starts_with(&message), "{arguments}: {stderr}");
                assert_eq!(output.status.code(), Some(2), "{arguments}");
                let remaining = if truncates { &b""[..] } else { page };
                assert_eq!(fs::read(&path).unwrap(), remaining, "{arguments}");
            }
        }
    }

    /// `script` (util-linux) runs the program in a terminal.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_terminal_as_input_is_reported() {
        let scene = tempfile::tempdir().unwrap();
        let program = program();
        for (command, advice) in [
            ("links", "name a file"),
            ("rewrite -", "name a file"),
            ("resolve http://a/", "give references"),
            ("resolve --pairs", "give references"),
            ("links -q", ""),
            ("resolve http://a/ g", ""),
        ] {
            let mut script = Command::new("script");
            script
                .current_dir(scene.path())
                .args(["-qec", &format!("'{program}' {command}")]);
            let Ok(output) = script.arg("/dev/null").stdin(Stdio::null()).output() else {
                return;
            };
            let shown = String::from_utf8_lossy(&output.stdout).into_owned();
            let notice = format!("reading from the terminal; end with Ctrl-D, or {advice}");
            assert_eq!(
                shown.contains(&notice),
                !advice.is_empty(),
                "{command}: {shown}"
            );
        }
    }

    #[test]
    fn an_empty_name_gives_one_sentence() {
        let scene = tempfile::tempdir().unwrap();
        fs::write(scene.path().join("a.html"), "<a href=x>").unwrap();
        for (arguments, argument) in [
            (&["rewrite", "a.html", "-o", ""][..], "--output <PATH>"),
            (&["localize", ".", "-o", ""], "--output <DIR>"),
            (&["links", "--json", "a.html", "-o", ""], "--output <DIR>"),
            (&["check", ".", "--report", ""], "--report <FILE>"),
            (&["rewrite", ""], "[PATH]..."),
        ] {
            let output = baselink(scene.path()).args(arguments).output().unwrap();
            let message = format!("error: {argument} is empty; name a file or folder\n");
            assert_eq!(
                String::from_utf8_lossy(&output.stderr),
                message,
                "{arguments:?}"
            );
            assert_eq!(output.status.code(), Some(2));
        }
        assert_eq!(fs::read_dir(scene.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let Ok(full) = fs::File::create("/dev/full") else {
            return;
        };
        let scene = tempfile::tempdir().unwrap();
        let output = baselink(scene.path())
            .args(["resolve", "http://a/", "g"])
            .stdout(full)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert!(
            output
                .stderr
                .starts_with(b"error: cannot write to standard output: ")
        );
        assert_eq!(output.status.code(), Some(2));
    }
}

const COMMANDS: [&str; 9] = [
    "rewrite",
    "links",
    "base",
    "resolve",
    "check",
    "localize",
    "move",
    "completions",
    "man",
];

#[test]
fn every_shell_has_completions() {
    let scene = tempfile::tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = run(baselink(scene.path()).args(["completions", shell]), b"");
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{shell}"
        );
        for word in COMMANDS.iter().chain(&["only-targets"]) {
            assert!(script.contains(word), "{shell} does not know {word}");
        }
        if shell == "bash" {
            assert!(
                script.contains("rfc1808 rfc3986 whatwg"),
                "no names of values"
            );
        }
    }
}

#[test]
fn every_command_has_a_page_of_the_manual() {
    let scene = tempfile::tempdir().unwrap();
    let output = run(baselink(scene.path()).args(["man", "below/man1"]), b"");
    assert_eq!(output.status.code(), Some(0));
    assert!(output.stdout.is_empty() && output.stderr.is_empty());
    let pages = files(&scene.path().join("below/man1"));
    let mut names: Vec<_> = COMMANDS
        .iter()
        .map(|name| format!("baselink-{name}.1").into())
        .collect();
    names.push(PathBuf::from("baselink.1"));
    names.sort();
    assert!(pages.keys().eq(&names), "{:?}", pages.keys());
    for (path, page) in &pages {
        let page = String::from_utf8(page.clone()).unwrap();
        for section in [
            "NAME",
            "SYNOPSIS",
            "DESCRIPTION",
            "EXAMPLES",
            "EXIT STATUS",
            "SEE ALSO",
        ] {
            let heading = |line: &str| {
                line.strip_prefix(".SH ")
                    .is_some_and(|name| name.trim_matches('"') == section)
            };
            assert!(
                page.lines().any(heading),
                "{}: no {section}",
                path.display()
            );
        }
    }
    let first = run(baselink(scene.path()).arg("man"), b"").stdout;
    assert_eq!(pages[Path::new("baselink.1")], first);
    // A file is where the folder should be.
    put(scene.path(), Path::new("file"), b"");
    let output = run(baselink(scene.path()).args(["man", "file"]), b"");
    assert!(output.stderr.starts_with(b"error: file: "), "{output:?}");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn help_lists_arguments_first_and_each_option_under_a_heading() {
    let scene = tempfile::tempdir().unwrap();
    for command in COMMANDS {
        let output = run(baselink(scene.path()).args([command, "--help"]), b"");
        let help = String::from_utf8(output.stdout).unwrap();
        let headings: Vec<_> = help
            .lines()
            .filter(|line| line.ends_with(':') && line.starts_with(char::is_uppercase))
            .collect();
        assert_eq!(headings[0], "Arguments:", "{command}");
        assert!(!headings.contains(&"Options:"), "{command}: {headings:?}");
    }
}

/// The mailbox is longer than one batch of messages.
#[test]
fn a_mailbox_does_not_depend_on_the_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let (mut mailbox, mut expected) = (String::new(), String::new());
    let long = "x".repeat(70).repeat(20_000);
    for number in 1..4_000 {
        // Every hundredth message has a line that is not a header field, and message 77 is longer than all others.
        let odd = if number % 100 == 0 { "odd\n" } else { "" };
        let text = if number == 77 {
            &long
        } else {
            "text of some length, so that there is much"
        };
        let write = |out: &mut String, reference: &str| {
            out.push_str(&format!(
                "From a Thu Nov 26 20:34:22 2026\nSubject: {number}\n{odd}Content-Type: text/html\n\n\
                 <a href={reference}>{text}</a>{}\n\n",
                text.repeat(5)
            ));
        };
        write(&mut mailbox, &format!("{number}"));
        write(&mut expected, &format!("http://a/{number}"));
    }
    fs::write(folder.path().join("in.mbox"), &mailbox).unwrap();
    let mut reports = Vec::new();
    for jobs in ["1", "2", "5"] {
        let mut command = baselink(folder.path());
        command.args(["rewrite", "-u", "http://a/", "-j", jobs, "in.mbox"]);
        let output = run(&mut command, b"");
        assert!(output.status.success());
        assert!(output.stdout == expected.as_bytes(), "with {jobs}");
        reports.push(String::from_utf8(output.stderr).unwrap());
    }
    assert!(reports[0].contains("39 times"));
    assert_eq!(reports[0], reports[1]);
    assert_eq!(reports[0], reports[2]);
    // Options that report each message, and options that report totals.
    for options in [
        "--diff",
        "--dry-run --json",
        "--verify -o out.mbox --json",
        "--strict -v",
        "-i",
    ] {
        let results = ["1", "5"].map(|jobs| {
            fs::write(folder.path().join("in.mbox"), &mailbox).unwrap();
            let _ = fs::remove_file(folder.path().join("out.mbox"));
            let mut command = baselink(folder.path());
            command
                .args(["rewrite", "-u", "http://a/", "-j", jobs, "in.mbox"])
                .args(options.split(' '));
            let output = run(&mut command, b"");
            let files = ["in.mbox", "out.mbox"].map(|name| fs::read(folder.path().join(name)).ok());
            (output.status.code(), output.stdout, output.stderr, files)
        });
        assert!(results[0] == results[1], "{options}");
        assert_eq!(results[0].0, Some(0), "{options}");
    }
    assert!(fs::read(folder.path().join("in.mbox")).unwrap() == expected.as_bytes());
    // The program ends if it cannot write its output.
    #[cfg(target_os = "linux")]
    {
        let Ok(full) = fs::File::create("/dev/full") else {
            return;
        };
        let mut command = baselink(folder.path());
        command.args(["rewrite", "-q", "-u", "http://a/", "-j", "2", "in.mbox"]);
        let output = command
            .stdout(full)
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
    }
}

/// Behaviour that could differ between systems: separators, roots of paths, and replacement of open files.
mod every_system {
    use std::path::MAIN_SEPARATOR;

    use super::*;

    fn scene(files: &[(&str, &str)]) -> tempfile::TempDir {
        let scene = tempfile::tempdir().unwrap();
        for (path, text) in files {
            put(scene.path(), path.as_ref(), text.as_bytes());
        }
        scene
    }

    /// The standard error of the program, and its exit status.
    fn stderr_and_status(folder: &Path, arguments: &[&str]) -> (String, Option<i32>) {
        let output = run(baselink(folder).args(arguments), b"");
        (
            String::from_utf8(output.stderr).unwrap(),
            output.status.code(),
        )
    }

    /// Bug 76: Windows did not replace the file, because it was still open.
    #[test]
    fn files_are_replaced_in_place() {
        let page = "<a href=x>\r\n<p>\r\n";
        let new_page = "<a href=http://a/x>\r\n<p>\r\n";
        let message = "From a@b Thu Jan  1 00:00:00 2026\nContent-Type: text/html\n\n";
        let [mailbox, new_mailbox] = [page, new_page].map(|page| format!("{message}{page}\n"));
        let scene = scene(&[
            ("w/page.html", page),
            ("w/read-only.html", page),
            ("w/sub/deep/page.html", page),
            ("all.mbox", &mailbox),
        ]);
        let read_only = scene.path().join("w/read-only.html");
        let writable = fs::metadata(&read_only).unwrap().permissions();
        let mut permissions = writable.clone();
        permissions.set_readonly(true);
        fs::set_permissions(&read_only, permissions).unwrap();

        let in_place = ["rewrite", "-q", "-u", "http://a/", "-i"];
        let refused = format!(
            "error: w{MAIN_SEPARATOR}read-only.html: the file is read-only; make it writable first\n"
        );
        let of_folder = [&in_place[..], &["--backup", ".orig", "w"]].concat();
        assert_eq!(
            stderr_and_status(scene.path(), &of_folder),
            (refused, Some(2))
        );
        let of_mailbox = [&in_place[..], &["all.mbox"]].concat();
        assert_eq!(
            stderr_and_status(scene.path(), &of_mailbox),
            (String::new(), Some(0))
        );

        fs::set_permissions(&read_only, writable).unwrap();
        let new_deep = new_page.replace("a/x", "a/sub/deep/x");
        let expected = [
            ("w/page.html", new_page),
            ("w/page.html.orig", page),
            ("w/read-only.html", page),
            ("w/sub/deep/page.html", &new_deep),
            ("w/sub/deep/page.html.orig", page),
            ("all.mbox", &new_mailbox),
        ];
        let expected = expected.map(|(path, text)| (path.into(), text.as_bytes().to_vec()));
        assert_eq!(files(scene.path()), expected.into());
    }

    /// Bug 77: on Windows an output that ended in `\` did not count as a folder.
    #[test]
    fn an_output_ending_in_a_separator_is_a_folder() {
        let scene = scene(&[("page.html", "<a href=x>")]);
        let out = format!("out{MAIN_SEPARATOR}");
        let arguments = ["rewrite", "-q", "-u", "http://a/", "page.html", "-o", &out];
        assert_eq!(
            stderr_and_status(scene.path(), &arguments),
            (String::new(), Some(0))
        );
        assert_eq!(
            fs::read(scene.path().join("out/page.html")).unwrap(),
            b"<a href=http://a/x>"
        );
    }

    /// Bug 78: on Windows the root of a path became a name in its URL (RFC 8089, E.2).
    #[test]
    fn an_absolute_path_becomes_a_file_url() {
        let scene = scene(&[("w/page.html", "<a href=x>")]);
        let folder = scene.path().join("w");
        run(
            baselink(scene.path())
                .args(["check", "--report", "out.sarif"])
                .arg(&folder),
            b"",
        );
        let log = fs::read_to_string(scene.path().join("out.sarif")).unwrap();
        let path = folder.to_str().unwrap().replace('\\', "/");
        let folder_url = format!("file:///{}/", path.trim_start_matches('/'));
        assert!(
            log.contains(&format!(r#""uri":"{folder_url}page.html""#)),
            "{folder_url} in {log}"
        );
        assert_eq!(RootUrl::on_disk(&folder).unwrap().as_str(), folder_url);
    }

    /// Bug 121: on Windows `\` in a new path became `%5C` in links, and a move in place stopped at a name with `:`.
    #[test]
    fn a_new_path_uses_the_separator_of_the_system() {
        let scene = scene(&[("w/index.html", "<a href=a.html>"), ("w/a.html", "")]);
        let renamed = |new: &str| {
            let rename = format!("a.html={new}");
            stderr_and_status(
                scene.path(),
                &["move", "-q", "w", "--rename", &rename, "-o", "out"],
            )
        };
        if cfg!(windows) {
            let refused = "error: --rename: a.html: cannot become b:c.html: Windows does not allow this name\n";
            assert_eq!(renamed("b:c.html"), (refused.to_owned(), Some(2)));
        }
        let new = format!("sub{MAIN_SEPARATOR}c.html");
        assert_eq!(renamed(&new), (String::new(), Some(0)));
        assert_eq!(
            fs::read(scene.path().join("out/index.html")).unwrap(),
            b"<a href=sub/c.html>"
        );
        assert!(scene.path().join("out/sub/c.html").exists());
    }

    /// Annotations use `/` on Windows too, because GitHub does not find `w\page.html`.
    #[test]
    fn an_annotation_names_a_file_of_the_repository() {
        let scene = scene(&[("w/page.html", "<a href=x>")]);
        let output = run(baselink(scene.path()).args(["check", "--github", "w"]), b"");
        let expected = "::error file=w/page.html,line=1,col=9,title=dangling (absent)::";
        assert!(output.stdout.starts_with(expected.as_bytes()), "{output:?}");
    }
}
