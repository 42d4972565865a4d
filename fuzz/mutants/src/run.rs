//! Runs test programs with one mutant active.
//!
//! Deliberately absent: the name of the test that killed a mutant.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Failure;

fn lines(path: &Path) -> Result<Vec<String>, Failure> {
    Ok(fs::read_to_string(path)?.lines().map(str::to_owned).collect())
}

fn name(program: &str) -> String {
    let name = Path::new(program).file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.rsplit_once('-').map_or(name.clone(), |(name, _)| name.to_owned())
}

fn command(folder: &Path, program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).env("CARGO_MANIFEST_DIR", folder).env("PROPTEST_RNG_SEED", "1808");
    command.env("PROPTEST_MAX_SHRINK_ITERS", "0").env("CARGO_PKG_NAME", "baselink");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// True if the command succeeds within the time limit.
fn succeeds(mut command: Command, within: Duration) -> Result<bool, Failure> {
    let mut child = command.spawn()?;
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status.success());
        }
        if start.elapsed() > within {
            child.kill()?;
            child.wait()?;
            return Ok(false);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub fn cover(folder: &Path) -> Result<(), Failure> {
    let folder = &fs::canonicalize(folder)?;
    let mut table = Vec::new();
    for program in lines(&folder.join("mutants/programs"))? {
        let list = folder.join("mutants/seen");
        File::create(&list)?;
        let mut run = command(folder, &program);
        run.env("BASELINK_MUTANT_COVER", &list);
        let start = Instant::now();
        let is_ok = succeeds(run, Duration::from_secs(600))?;
        let seen: BTreeSet<String> = lines(&list)?.into_iter().collect();
        let mut run = command(folder, &program);
        run.env("BASELINK_MUTANT", "19998");
        let again = Instant::now();
        let is_ok = is_ok && succeeds(run, Duration::from_secs(600))?;
        println!(
            "{} {is_ok} {:?} {:?}: {} mutants",
            name(&program),
            start.elapsed(),
            again.elapsed(),
            seen.len()
        );
        if is_ok && !seen.is_empty() {
            let seen: Vec<_> = seen.into_iter().collect();
            table.push((again.elapsed().as_millis(), program, seen.join(",")));
        }
    }
    table.sort();
    let table: String =
        table.iter().map(|(time, program, seen)| format!("{time}\t{program}\t{seen}\n")).collect();
    fs::write(folder.join("mutants/cover"), table)?;
    Ok(())
}

/// Runs every `of`th mutant, from the `nth` on, with the programs that take at most `longest` milliseconds.
pub fn run(folder: &Path, (nth, of): (usize, usize), longest: u64) -> Result<(), Failure> {
    let folder = &fs::canonicalize(folder)?;
    let mut programs = Vec::new();
    for line in lines(&folder.join("mutants/cover"))? {
        let mut fields = line.split('\t').map(str::to_owned);
        let (Some(time), Some(program), Some(seen)) = (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let seen: BTreeSet<usize> =
            seen.split(',').filter_map(|number| number.parse().ok()).collect();
        let time = time.parse::<u64>()?;
        if time <= longest {
            programs.push((time, program, seen));
        }
    }
    let dropped: BTreeSet<String> = lines(&folder.join("mutants/dropped"))?.into_iter().collect();
    let results = folder.join("mutants/results");
    let known = if results.exists() { lines(&results)? } else { Vec::new() };
    let killed: BTreeSet<&str> = known
        .iter()
        .filter_map(|line| line.split_once("\tkilled\t"))
        .map(|(number, _)| number)
        .collect();
    let mut file = fs::OpenOptions::new().append(true).create(true).open(&results)?;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for line in lines(&folder.join("mutants/names"))? {
        let Some((number, what)) = line.split_once('\t') else { continue };
        let place: usize = number.parse()?;
        if dropped.contains(number) || killed.contains(number) || place % of != nth {
            continue;
        }
        let mut killer = None;
        let mut is_seen = false;
        for (time, program, seen) in &programs {
            if !seen.contains(&place) {
                continue;
            }
            is_seen = true;
            let mut test = command(folder, program);
            test.env("BASELINK_MUTANT", number);
            if !succeeds(test, Duration::from_millis(time * 4 + 4_000))? {
                killer = Some(name(program));
                break;
            }
        }
        let result = match (&killer, is_seen) {
            (Some(_), _) => "killed",
            (None, true) => "survived",
            (None, false) => "never reached",
        };
        *counts.entry(result).or_default() += 1;
        writeln!(file, "{number}\t{result}\t{}\t{what}", killer.unwrap_or_default())?;
    }
    println!("{counts:?}");
    Ok(())
}
