//! Runs the mutants of cargo-mutants hundreds of times as fast as with one build for each. All mutants are in one
//! build, and an environment variable activates one of them.
//!
//! ```text
//! cargo mutants --list --json  -->  embed: `if mutant::is(17) { a <= b } else { a < b }`  -->  build once
//!                              -->  cover: which test programs reach which mutants
//!                              -->  run:   the programs that reach a mutant, until one of them fails
//! ```
//!
//! Deliberately absent: mutants in constants and in macros.

mod embed;
mod run;

use std::path::PathBuf;

type Failure = Box<dyn std::error::Error>;

const HELP: &str = "\
mutants embed LIST FOLDER    puts the mutants of LIST (cargo mutants --list --json) into the sources of FOLDER, a copy
mutants build FOLDER ARG...  builds its tests (cargo test --no-run ARG...), leaving out what does not compile
mutants cover FOLDER         which test programs come by which mutants
mutants run FOLDER [NTH/OF [MILLISECONDS]]
                             runs them: all, or every OFth from the NTH on, by the programs that take no longer than
                             that; what becomes of each is a line of FOLDER/mutants/results, and what was killed is
                             not run again";

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let texts: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match texts[..] {
        ["embed", list, folder] => embed::embed(&PathBuf::from(list), &PathBuf::from(folder)),
        ["build", folder, ref rest @ ..] => embed::build(&PathBuf::from(folder), rest),
        ["cover", folder] => run::cover(&PathBuf::from(folder)),
        ["run", folder, ref rest @ ..] => {
            let (nth, of) = rest.first().unwrap_or(&"0/1").split_once('/').ok_or(HELP)?;
            let longest = rest.get(1).map_or(Ok(u64::MAX), |text| text.parse())?;
            run::run(&PathBuf::from(folder), (nth.parse()?, of.parse()?), longest)
        }
        _ => Err(HELP.into()),
    }
}
