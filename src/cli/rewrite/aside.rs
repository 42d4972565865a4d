//! Output that is made on one thread and written on another.
//!
//! ```text
//! document --rewrite_stream--> piece, piece, …  --> file
//!                    ^--------- empty ---------'
//! ```
//!
//! While one piece is written the next is made. There are few pieces, which go to and fro, so that no
//! more memory is needed than for them.
//!
//! Deliberately absent: order. There is one writer, and it gets the pieces as they were made.

use std::io::{self, ErrorKind, Write};
use std::panic::resume_unwind;
use std::sync::mpsc::{channel, sync_channel};
use std::thread;

/// So many pieces wait to be written.
const WAITING: usize = 2;

/// Takes a piece of output, and leaves an empty one.
pub(super) type GivePiece<'a> = dyn FnMut(&mut Vec<u8>) -> io::Result<()> + 'a;

/// Writes what `make` gives to `out` meanwhile; `None` where there is no other thread to be had, and `make` has
/// not been called.
pub(super) fn aside<T: Send>(
    make: impl FnOnce(&mut GivePiece<'_>) -> T + Send,
    out: &mut dyn Write,
) -> io::Result<Option<T>> {
    let (full, made) = sync_channel::<Vec<u8>>(WAITING);
    let (back, empty) = channel();
    thread::scope(|scope| {
        let make = move || {
            make(&mut |piece: &mut Vec<u8>| {
                let empty =
                    empty.try_recv().unwrap_or_else(|_| Vec::with_capacity(piece.capacity()));
                let piece = std::mem::replace(piece, empty);
                full.send(piece).map_err(|_| ErrorKind::BrokenPipe.into())
            })
        };
        let Ok(maker) = thread::Builder::new().spawn_scoped(scope, make) else {
            return Ok(None);
        };
        let written = made.iter().try_for_each(|mut piece| {
            out.write_all(&piece)?;
            piece.clear();
            // Nobody takes it back where nothing more is to come.
            let _ = back.send(piece);
            Ok(())
        });
        drop(made);
        let made = maker.join().unwrap_or_else(|panic| resume_unwind(panic));
        written.map(|()| Some(made))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn pieces_come_in_their_order() {
        let mut out = Vec::new();
        let make = |give: &mut GivePiece<'_>| {
            let mut piece = Vec::new();
            for number in 0..10_000_u32 {
                piece.extend_from_slice(&number.to_be_bytes());
                give(&mut piece).unwrap();
                assert!(piece.is_empty());
            }
            "done"
        };
        assert_eq!(aside(make, &mut out).unwrap(), Some("done"));
        let expected: Vec<u8> = (0..10_000_u32).flat_map(u32::to_be_bytes).collect();
        assert_eq!(out, expected);
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
        let make = |give: &mut GivePiece<'_>| loop {
            if let Err(error) = give(&mut vec![b'x']) {
                break error.kind();
            }
        };
        assert_eq!(aside(make, &mut Full).unwrap_err().kind(), ErrorKind::StorageFull);
    }
}
