//! Files that should be documents but have other contents: their kind, detected from the first bytes, and a way to
//! open them.
//!
//! The signatures are those of RFC 1952, 2.3.1 (gzip), RFC 8878, 3.1.1 (Zstandard), The .xz File Format, 2.1.1.1 (xz),
//! MIME Sniffing, 6.1 (images), ISO 32000-1, 7.5.2 (PDF), APPNOTE.TXT, 4.3.7 and 4.3.16 (ZIP), and MS-CFB, 2.2.
//!
//! ```text
//! page.html   1F 8B 08 …   -->   gzip data; decompress it first: gunzip < page.html > FILE
//! ```
//!
//! The library would read any bytes as a document, and find no links in such a file. A user who names it should learn
//! its kind instead.
//!
//! Deliberately absent: opening such files, and kinds that cannot be told from a document by their first bytes.

use std::path::Path;

use baselink_files::is_standard_input;
use baselink_text::{Format, name, shell};

/// A kind of file that is not a document, or text in UTF-16 without a byte order mark; and a sentence about the way to read it,
/// in which `{}` stands for the name of the file.
pub type ForeignKind = [&'static str; 2];

const UNZIP: &str = "unpack it first: unzip {} -d FOLDER";
const OFFICE: &str = "convert it to HTML with pandoc or LibreOffice";
const WITHOUT_LINKS: &str = "it has no links";

/// Parts of remedies, and what stands in their place for standard input.
const OF_STANDARD_INPUT: [(&str, &str); 3] = [
    (UNZIP, "save it to a file and unpack it with unzip"),
    (" < {} > FILE", " | baselink …"),
    ("{}", "FILE"),
];

/// The first bytes of each kind of file, its name, and its remedy.
const SIGNATURES: &[(&[u8], &str, &str)] = &[
    (
        b"\x1f\x8b\x08",
        "gzip data",
        "decompress it first: gunzip < {} > FILE",
    ),
    (
        b"\x28\xb5\x2f\xfd",
        "Zstandard data",
        "decompress it first: unzstd < {} > FILE",
    ),
    (
        b"\xfd7zXZ\0",
        "xz data",
        "decompress it first: unxz < {} > FILE",
    ),
    (b"\x89PNG\r\n\x1a\n", "a PNG image", WITHOUT_LINKS),
    (b"\xff\xd8\xff", "a JPEG image", WITHOUT_LINKS),
    (b"GIF87a", "a GIF image", WITHOUT_LINKS),
    (b"GIF89a", "a GIF image", WITHOUT_LINKS),
    (
        b"%PDF-",
        "a PDF file",
        "convert it to HTML with pdftohtml -s {}",
    ),
    (
        b"bplist00",
        "a binary property list, such as a web archive of Safari",
        "on macOS, convert it to HTML with textutil -convert html {}",
    ),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "a file of Outlook (.msg) or of older Office programs",
        "convert a mail to .eml with msgconvert {}, others to HTML with LibreOffice",
    ),
    (
        b"ZIM\x04",
        "a ZIM archive",
        "unpack it first: zimdump dump --dir=FOLDER {}",
    ),
];

/// The kinds of ZIP archives, by bytes of their first entries.
const ZIPS: &[(&[u8], &str, &str)] = &[
    (
        b"mimetypeapplication/epub+zip",
        "an EPUB book, a ZIP archive",
        UNZIP,
    ),
    (
        b"mimetypeapplication/vnd.oasis.opendocument",
        "an OpenDocument file, a ZIP archive",
        OFFICE,
    ),
    (
        b"[Content_Types].xml",
        "an Office Open XML file (.docx and the like), a ZIP archive",
        OFFICE,
    ),
];

/// The signatures of a local file header, and of the end record with which an empty archive begins.
pub const ZIP: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];

/// The number of bytes of a ZIP archive that are searched for its kind.
const ZIP_HEAD: usize = 4_096;

const OTHER_ZIP: &str = "a ZIP archive";

/// A file called `.maff`, whose `index.rdf` may be its last entry.
const MAFF: ForeignKind = [
    "a MAFF web archive, a ZIP archive",
    "unpack it first: unzip {} -d FOLDER; its pages open offline, and each index.rdf has the URL for --url",
];

const UTF_16: &str = "UTF-16 without a byte order mark";

/// The number of bytes from which text in UTF-16 is detected.
const UTF_16_HEAD: usize = 32;

/// Detects the kind of a file from its first bytes; `None` if it may be a document.
///
/// A text may begin with the signature of a GIF image. But among the first 32 bytes of an image, at least one is
/// zero or not ASCII.
pub fn kind_of(head: &[u8]) -> Option<ForeignKind> {
    let mut signatures = SIGNATURES.iter();
    let known = signatures.find(|(signature, ..)| head.starts_with(signature));
    if let Some(&(signature, kind, remedy)) = known {
        let mut start = head.iter().take(32);
        let is_text = signature.starts_with(b"GIF") && start.all(|byte| matches!(byte, 1..0x80));
        return (!is_text).then_some([kind, remedy]);
    }
    let is_zip = ZIP.iter().any(|signature| head.starts_with(signature));
    is_zip.then(|| {
        let head = &head[..head.len().min(ZIP_HEAD)];
        let mut zips = ZIPS.iter();
        let known = zips.find(|(bytes, ..)| memchr::memmem::find(head, bytes).is_some());
        known.map_or([OTHER_ZIP, UNZIP], |&(_, kind, remedy)| [kind, remedy])
    })
}

/// Detects text in UTF-16 that has neither a byte order mark nor an XML declaration, from which HTML (13.2.3.2) and
/// XML (appendix F) detect it.
pub fn utf_16(head: &[u8]) -> Option<ForeignKind> {
    let (units, _) = head[..head.len().min(UTF_16_HEAD)].as_chunks::<2>();
    let is = |is_ascii: fn(&[u8; 2]) -> bool| units.len() > 1 && units.iter().all(is_ascii);
    let remedy = if is(|&[low, high]| high == 0 && is_text(low)) {
        "name its encoding with --charset utf-16le"
    } else if is(|&[high, low]| high == 0 && is_text(low)) {
        "name its encoding with --charset utf-16be"
    } else {
        return None;
    };
    let is_declared = matches!(
        head,
        [b'<', 0, b'?', 0, b'x', 0, ..] | [0, b'<', 0, b'?', 0, b'x', ..]
    );
    (!is_declared).then_some([UTF_16, remedy])
}

/// A sentence about the file `path` of this kind, which should have been read as `format`.
pub fn sentence([kind, remedy]: ForeignKind, path: &Path, format: Format) -> String {
    let is_maff = path
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("maff"));
    if is_maff && kind == OTHER_ZIP {
        return sentence(MAFF, path, format);
    }
    let remedy = if is_standard_input(path) {
        let parts = OF_STANDARD_INPUT.iter();
        parts.fold(remedy.to_owned(), |remedy, (part, other)| {
            remedy.replace(part, other)
        })
    } else {
        remedy.replace("{}", &shell::word(&path.to_string_lossy()))
    };
    let not = if kind == UTF_16 {
        String::new()
    } else {
        format!(", not {}", format.noun())
    };
    format!("{}: {kind}{not}; {remedy}", name(path))
}

/// True if `byte` is an ASCII character that may occur in text.
fn is_text(byte: u8) -> bool {
    matches!(byte, b'\t' | b'\n' | 0x0c | b'\r' | b' '..=b'~')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Near misses, and an empty ZIP archive. Each kind also has a test case of the command line.
    #[test]
    fn kinds_of_files_are_detected_by_their_first_bytes() {
        for (head, kind) in [
            (&b"\x1f\x8b"[..], None),
            // A PNG image after a program changed LF to CRLF.
            (b"\x89PNG\r\r\n\x1a\n\0", None),
            (b"\xff\xfe<\0p\0", None),
            (b"GIF89a is the newer version of the format", None),
            (b"PK\x05\x06\0\0", Some("a ZIP archive")),
            (b"PK, said the page", None),
            (b"<p>", None),
            (b"", None),
        ] {
            assert_eq!(kind_of(head).map(|[kind, _]| kind), kind, "{head:?}");
        }
    }

    #[test]
    fn utf_16_is_detected_by_its_zero_bytes() {
        for (head, remedy) in [
            (
                &b"<\0p\0>\0"[..],
                Some("name its encoding with --charset utf-16le"),
            ),
            (
                b"\0<\0p\0>\0",
                Some("name its encoding with --charset utf-16be"),
            ),
            (
                b"\r\0\n\0<\0",
                Some("name its encoding with --charset utf-16le"),
            ),
            // Declared by a byte order mark or an XML declaration.
            (b"\xff\xfe<\0p\0", None),
            (b"<\0?\0x\0m\0l\0", None),
            (b"\0<\0?\0x\0m\0l\0", None),
            (
                b"<\0?\0p\0h\0p\0",
                Some("name its encoding with --charset utf-16le"),
            ),
            (b"<\0", None),
            (b"<p>\0\0\0", None),
            (b"\0\0\0\0", None),
            (b"", None),
        ] {
            assert_eq!(utf_16(head).map(|[_, remedy]| remedy), remedy, "{head:?}");
        }
    }
}
