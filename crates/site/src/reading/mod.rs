//! Reading the inputs of a run: which files there are, what each holds, and the work on its documents.
//!
//! ```text
//! Inputs --files, on several threads--> File --each, on several threads--> Input, a document
//! ```
//!
//! Work on a file may read its documents at once, or keep its entry and read it again later. All results are received in
//! the order of the inputs, whatever the number of threads ([`in_order`](in_order())).
//!
//! Deliberately absent: what the work is, and the words of messages about it ([`Listener`]).

mod captures;
mod collect;
mod document_name;
mod documents;
mod files;
mod foreign;
pub mod hosts;
mod in_order;
mod inputs;
pub mod library;
mod open;
mod places;

pub use self::{
    captures::{CapturePlan, enter_unpacked},
    collect::collect,
    document_name::DocumentName,
    documents::{Input, Listener},
    files::{InputFiles, SkipReason, skip_reason},
    in_order::{Bounds, QueueItem, all_in_order, in_order},
    inputs::{Archives, Inputs, Reading},
    open::{File, NonDocument, format_of_file, may_hold_resources, with_archives},
    places::FilePlaces,
};
