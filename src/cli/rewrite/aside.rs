//! A large document, rewritten on one thread and written on another.
//!
//! ```text
//! document --rewrite_to--> piece, piece, …  --> file
//!                  ^--------- empty ---------'
//! ```
//!
//! While one piece is written the next is made. There are few pieces, which go to and fro, so that no
//! more memory is needed than for them.
//!
//! Deliberately absent: order. There is one writer, and it gets the pieces as they were made.

use std::io::{self, ErrorKind, Write};
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;

use baselink::{Options, Totals, rewrite_to};

/// So much of a document is rewritten before it is written.
pub(super) const PIECE: usize = 128 << 10;
/// So many pieces wait to be written.
const WAITING: usize = 2;

/// Does what [`rewrite_to`] does.
pub(super) fn rewrite_aside(
    bytes: &[u8],
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<Totals> {
    let (full, made) = sync_channel::<Vec<u8>>(WAITING);
    let (back, empty) = channel();
    thread::scope(|scope| {
        let work = move || {
            let mut buffer = Vec::with_capacity(PIECE);
            rewrite_to(bytes, options, &mut buffer, &mut Pieces { full, empty })
        };
        let rewritten = thread::Builder::new().spawn_scoped(scope, work)?;
        let written = made.iter().try_for_each(|piece| {
            out.write_all(&piece)?;
            // Nobody takes it back where nothing more is to come.
            let _ = back.send(piece);
            Ok(())
        });
        drop(made);
        let rewritten = rewritten.join().unwrap_or_else(|panic| resume_unwind(panic));
        written.and(rewritten)
    })
}

/// Sends what is written to who writes it.
struct Pieces {
    full: SyncSender<Vec<u8>>,
    empty: Receiver<Vec<u8>>,
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = &bytes[..bytes.len().min(PIECE)];
        let mut piece = self.empty.try_recv().unwrap_or_default();
        piece.clear();
        piece.extend_from_slice(taken);
        self.full.send(piece).map_err(|_| ErrorKind::BrokenPipe)?;
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn pieces_come_in_their_order() {
        let page = b"<a href=x>y</a>".repeat(100_000);
        let mut out = Vec::new();
        let totals = rewrite_aside(&page, &Options::at("http://a/"), &mut out).unwrap();
        assert_eq!(out, b"<a href=http://a/x>y</a>".repeat(100_000));
        assert_eq!(totals.links(), 100_000);
    }

    #[test]
    fn a_document_without_links_is_cut_up_too() {
        let page = vec![b'x'; 3 * PIECE + 7];
        let mut out = Vec::new();
        assert!(!rewrite_aside(&page, &Options::default(), &mut out).unwrap().changed);
        assert_eq!(out, page);
    }

    #[test]
    fn what_the_writer_says_is_the_error() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let page = vec![b'x'; 9 * PIECE];
        let failed = rewrite_aside(&page, &Options::default(), &mut Full).unwrap_err();
        assert_eq!(failed.kind(), ErrorKind::StorageFull);
    }
}
