//! The digests in the records of web archives (ISO 28500, 5.8 and 5.9), compared with what they are of.
//!
//! ```text
//! WARC-Block-Digest: sha1:KLKFLAGK…        the block
//! WARC-Payload-Digest: sha256:9f86d081…    the body as captured, without its chunks, or decoded
//! ```
//!
//! Writers differ in what a payload is, so each of the three is right; and in the spelling: base32 (RFC 4648, 6) or hexadecimal, in any
//! case.
//!
//! Deliberately absent: truncated and segmented records, other algorithms than SHA-1, SHA-256 and MD5, and the payload of a revisit, which
//! is in another record.

use std::sync::Arc;

use baselink_rewrite::{
    archive::{Record, RecordContent, RecordType},
    container::http,
};
use baselink_text::layer::transfer::{Codings, TransferEncoding};
use data_encoding::{BASE32_NOPAD, HEXLOWER};
use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::Sha256;

use super::record::body;

/// The first field of `record` with a digest of other bytes.
pub fn wrong_digest(record: &Record) -> Option<&'static str> {
    let mut of_parts = ["WARC-Truncated", "WARC-Segment-Number"].iter();
    if of_parts.any(|name| record.field(name).is_some()) {
        return None;
    }
    let is_of = |name, bytes: &[u8]| {
        let given = record.text(name);
        given.is_none_or(|given| is_digest(&given, bytes))
    };
    let [block, payload] = ["WARC-Block-Digest", "WARC-Payload-Digest"];
    let has_payload = matches!(
        record.record_type,
        RecordType::Response | RecordType::Resource
    );
    if !is_of(block, record.block()) {
        Some(block)
    } else if has_payload && !is_of_payload(record, |bytes| is_of(payload, bytes)) {
        Some(payload)
    } else {
        None
    }
}

/// True if `is_it` accepts something that writers take for the payload of `record`.
fn is_of_payload(record: &Record, is_it: impl Fn(&[u8]) -> bool) -> bool {
    let block = record.block();
    if record.document() != RecordContent::Http {
        return is_it(block);
    }
    let response = http::response(block, &Arc::from(""));
    let entity = &response.entities[0];
    let transfer = entity.heading.first(block, "Transfer-Encoding");
    let transfer = transfer.map(|field| &block[field.value.range()]);
    let whole = Codings::read([], transfer, None).map(TransferEncoding::Coded);
    let whole = whole.and_then(|coded| coded.decode(block, entity.body).ok());
    is_it(&block[entity.body.range()])
        || whole.is_some_and(|whole| is_it(&whole.bytes))
        || body(record).is_ok_and(|(decoded, _)| is_it(&decoded.bytes))
}

/// True if `given`, such as `sha1:KLKFLAGK…`, is a digest of `bytes`, or in an unknown algorithm.
fn is_digest(given: &str, bytes: &[u8]) -> bool {
    let (algorithm, value) = given.split_once(':').unwrap_or_default();
    let digest = match &*algorithm.to_ascii_lowercase() {
        "sha1" => Sha1::digest(bytes).to_vec(),
        "sha256" => Sha256::digest(bytes).to_vec(),
        "md5" => Md5::digest(bytes).to_vec(),
        _ => return true,
    };
    let value = value.trim_end_matches('=');
    let mut bases = [BASE32_NOPAD, HEXLOWER].into_iter();
    bases.any(|base| base.encode(&digest).eq_ignore_ascii_case(value))
}
