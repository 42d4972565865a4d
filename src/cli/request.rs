//! The documents of a request.
//!
//! ```text
//! baselink links --json page.html   -->   Documents { typed: …, inputs: Inputs { paths: [page.html], … } }
//! ```
//!
//! The structs of the commands ([`super::args`]) contain these types.
//!
//! Deliberately absent: the options of single commands.

use std::{
    mem::take,
    ops::{Deref, DerefMut},
};

use anstream::ColorChoice;
use baselink_text::{Error, Result, shell};
use clap::Args;

use super::{args::documents::TypedDocuments, settings::Settings};
pub use baselink_files::{folder_of, is_standard_input, write::is_usual_backup};
pub use baselink_site::reading::{Archives, Inputs};

/// The options for messages: how many are printed, and the use of colours.
#[derive(Clone, Copy, Default)]
pub struct Verbosity {
    pub quiet: bool,
    pub verbose: bool,
    pub color: ColorChoice,
}

/// The documents: the arguments, and what they mean.
#[derive(Args)]
pub struct Documents {
    #[command(flatten)]
    pub typed: TypedDocuments,
    #[arg(skip)]
    pub inputs: Inputs,
}

impl Deref for Documents {
    type Target = Inputs;

    fn deref(&self) -> &Inputs {
        &self.inputs
    }
}

impl DerefMut for Documents {
    fn deref_mut(&mut self) -> &mut Inputs {
        &mut self.inputs
    }
}

impl Documents {
    /// Checks the arguments, and reads the table of URLs. With `settings`, they give the URL or the layout of their
    /// folder.
    pub fn complete(&mut self, settings: Option<&Settings>) -> Result<()> {
        let Self { typed, inputs } = self;
        inputs.paths = take(&mut typed.paths);
        if inputs.paths.is_empty() {
            inputs.paths.push("-".into());
        }
        let number = inputs.paths.len() - inputs.roots().count();
        if number > 1 {
            return Err(Error::new(
                "standard input (-) can be read only once; name it once",
            ));
        }
        if number > 0 && typed.url_map.as_deref().is_some_and(is_standard_input) {
            return Err(Error::new(
                "--url-map -: standard input cannot be both the table and the document; name files",
            ));
        }
        inputs.selection = typed.selection()?;
        inputs.jobs = typed.jobs();
        inputs.reading = typed.reading()?;
        if let Some(settings) = settings {
            inputs.below_settings = inputs
                .roots()
                .map(|root| (root.to_owned(), settings.way_to(root)))
                .collect();
        }
        Ok(())
    }

    /// An error if the last of several paths does not exist, so that it may be meant as the output, or as a form of links.
    pub fn output_among_inputs(&self) -> Option<Error> {
        let [first, .., last] = &*self.paths else {
            return None;
        };
        let missing = [first, last]
            .into_iter()
            .find(|path| !is_standard_input(path) && path.symlink_metadata().is_err())?;
        let option = match missing.to_str() {
            Some(form @ ("disk" | "served")) if self.archives == Archives::None => {
                format!("--relative={form}")
            }
            _ => format!("-o {}", shell::word(&missing.to_string_lossy())),
        };
        let why = format!("no such file or folder; did you mean {option}?");
        Some(Error::file(missing, why.as_str()))
    }
}
