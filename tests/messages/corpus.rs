//! The laws on real messages, if these are present (`tests/common/outside.rs`), and diagnostics about base64 and long
//! lines.
//!
//! Deliberately absent: the laws on messages written for tests, which are in `fixtures/` and `tests/messages/laws.rs`.

use baselink::Outcome;
use baselink_rewrite::container::mbox::Messages;
use baselink_rewrite::{Options, rewrite};
use baselink_text::format::Format;
use baselink_verify::verify;

use crate::outside;

/// Every message of the corpus, also those in mailboxes, with its name.
fn messages() -> Vec<(String, Vec<u8>)> {
    let mut messages = Vec::new();
    for path in outside::MAIL.files(None) {
        let bytes = std::fs::read(&path).unwrap();
        let name = path.display().to_string();
        if bytes.starts_with(b"From ") {
            let mut mailbox = Messages::new(bytes.as_slice());
            while let Some(message) = mailbox.next_message().unwrap() {
                let name = format!("{name}#{}", message.number);
                messages.push((name, message.bytes[message.message.range()].to_vec()));
            }
        } else {
            messages.push((name, bytes));
        }
    }
    messages
}

#[test]
fn real_messages_keep_their_bytes_and_are_rewritten_exactly() {
    let messages = messages();
    if messages.is_empty() {
        return;
    }
    let mut rewritten_links = 0;
    let mut wrong = Vec::new();
    let without = Options {
        format: Format::Message,
        ..Options::default()
    };
    let with = Options {
        format: Format::Message,
        ..Options::at("https://example.org/")
    };
    for (name, bytes) in &messages {
        let untouched = rewrite(bytes, &without);
        let in_file = untouched
            .report
            .entities
            .iter()
            .any(|entity| entity.chain.base.is_some());
        if !in_file && !untouched.edits.is_empty() {
            wrong.push(format!("{name}: changed without a base"));
        }
        for (options, rewritten) in [(&without, untouched), (&with, rewrite(bytes, &with))] {
            if let Err(differences) = verify(&rewritten) {
                wrong.push(format!("{name}: {differences:?}"));
            }
            let output = rewritten.output();
            if !rewrite(&output, options).edits.is_empty() {
                wrong.push(format!("{name}: rewriting twice changes more"));
            }
            rewritten_links += rewritten.report.count(Outcome::Rewritten);
            for diagnostic in &rewritten.report.diagnostics {
                if diagnostic.code == baselink_text::diagnostic::Code::Doubt {
                    wrong.push(format!("{name}: {}", diagnostic.message));
                }
            }
        }
    }
    println!(
        "{} messages, {rewritten_links} links rewritten",
        messages.len()
    );
    assert!(rewritten_links > 0);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn text_after_base64_is_reported() {
    use baselink_rewrite::{Options, rewrite};
    use baselink_text::{diagnostic::Code, format::Format};
    // `<p>` and its padding, then `<a href=x>`, which most readers do not see.
    let message = b"Content-Type: text/html\nContent-Transfer-Encoding: base64\n\n\
        PHA+IA==\nPGEgaHJlZj14Pg==\n";
    let options = Options {
        format: Format::Message,
        ..Options::at("http://a/")
    };
    let report = rewrite(message, &options).report;
    assert!(report.links.is_empty());
    let diagnostics = report
        .diagnostics
        .iter()
        .map(|found| (found.code, found.span));
    let start = message.len() - "PGEgaHJlZj14Pg==\n".len();
    let ignored = baselink_text::span::Span::new(start, message.len() - 1);
    assert_eq!(
        diagnostics.collect::<Vec<_>>(),
        [(Code::TransferUndecodable, ignored)]
    );
}

#[test]
fn lines_too_long_for_smtp_are_reported() {
    use baselink_text::diagnostic::Code;
    // RFC 5322, 2.1.1: "Each line of characters MUST be no more than 998 characters".
    let count = |encoding: &str, line: usize| {
        let link = "<a href=x>";
        let padding = "p".repeat(line - link.len());
        let message = format!(
            "Content-Type: text/html\nContent-Transfer-Encoding: {encoding}\n\n{link}\n{padding}{link}\n"
        );
        let options = Options {
            format: Format::Message,
            ..Options::at("http://a/")
        };
        let report = rewrite(message.as_bytes(), &options).report;
        assert_eq!(report.count(Outcome::Rewritten), 2);
        report
            .diagnostics
            .iter()
            .filter(|found| found.code == Code::LineTooLong)
            .count()
    };
    // Rewriting adds the nine bytes of `http://a/`.
    assert_eq!(count("7bit", 998 - 9), 0);
    assert_eq!(count("7bit", 998 - 8), 1);
    assert_eq!(count("7bit", 998), 1);
    // The line was too long before.
    assert_eq!(count("8bit", 999), 0);
    // In quoted-printable, long lines are broken.
    assert_eq!(count("quoted-printable", 998), 0);
}
