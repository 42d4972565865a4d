//! Embeds mutants in the sources. At run time, the code asks whether a mutant is active.
//!
//! ```text
//! a < b    -->    if crate::mutant::is(17) { a <= b } else { a < b }
//! ```
//!
//! Deliberately absent: mutants within mutants. The operands of a mutated expression stay as they were written.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use proc_macro2::{LineColumn, Span};
use quote::ToTokens;
use serde_json::Value;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Arm, Block, Expr, parse_quote};

use crate::Failure;

/// The source of the module in which mutated code asks if its mutant is active.
const MODULE: &str = r#"//! Which mutant is alive, and which were asked for.
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
static ALIVE: LazyLock<usize> = LazyLock::new(|| {
    std::env::var("BASELINK_MUTANT").ok().and_then(|text| text.parse().ok()).unwrap_or(usize::MAX)
});
static COVER: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("BASELINK_MUTANT_COVER").ok());
static SEEN: [AtomicBool; 20_000] = [const { AtomicBool::new(false) }; 20_000];
pub fn is(number: usize) -> bool {
    if let Some(file) = &*COVER && !SEEN[number].swap(true, Ordering::Relaxed) {
        use std::io::Write;
        let file = std::fs::OpenOptions::new().append(true).create(true).open(file);
        let _ = file.and_then(|mut file| file.write_all(format!("{number}\n").as_bytes()));
    }
    *ALIVE == number
}
"#;

#[derive(Clone)]
struct Mutant {
    number: usize,
    genre: String,
    replacement: String,
}

type Place = (usize, usize);

fn place(at: LineColumn) -> Place {
    (at.line, at.column + 1)
}

struct Embedding {
    /// Mutants, by the start of the code that they replace.
    mutants: BTreeMap<Place, Vec<Mutant>>,
    /// Mutants of each function, by the start of its body.
    bodies: BTreeMap<Place, Vec<Mutant>>,
    is_const: bool,
    done: BTreeSet<usize>,
}

fn question(number: usize) -> Expr {
    parse_quote!(crate::mutant::is(#number))
}

impl Embedding {
    fn at(&self, span: Span, genre: &str) -> Vec<Mutant> {
        if self.is_const {
            return Vec::new();
        }
        let found = self.mutants.get(&place(span.start()));
        found.into_iter().flatten().filter(|mutant| mutant.genre == genre).cloned().collect()
    }

    fn body(&mut self, is_const: bool, block: &mut Block, output: &syn::ReturnType) {
        let is_opaque = output.to_token_stream().to_string().contains("impl ");
        let at = place(block.brace_token.span.open().start());
        let outer = std::mem::replace(&mut self.is_const, is_const);
        visit_mut::visit_block_mut(self, block);
        self.is_const = outer;
        if is_const || is_opaque {
            return;
        }
        for mutant in self.bodies.get(&at).cloned().unwrap_or_default() {
            let Ok(new) = syn::parse_str::<Expr>(&mutant.replacement) else { continue };
            let question = question(mutant.number);
            block.stmts.insert(0, parse_quote!(if #question { return #new; }));
            self.done.insert(mutant.number);
        }
    }
}

impl VisitMut for Embedding {
    fn visit_item_fn_mut(&mut self, function: &mut syn::ItemFn) {
        self.body(function.sig.constness.is_some(), &mut function.block, &function.sig.output);
    }

    fn visit_impl_item_fn_mut(&mut self, function: &mut syn::ImplItemFn) {
        self.body(function.sig.constness.is_some(), &mut function.block, &function.sig.output);
    }

    fn visit_trait_item_fn_mut(&mut self, function: &mut syn::TraitItemFn) {
        if let Some(block) = &mut function.default {
            self.body(function.sig.constness.is_some(), block, &function.sig.output);
        }
    }

    fn visit_item_const_mut(&mut self, _: &mut syn::ItemConst) {}
    fn visit_item_static_mut(&mut self, _: &mut syn::ItemStatic) {}
    fn visit_impl_item_const_mut(&mut self, _: &mut syn::ImplItemConst) {}
    fn visit_trait_item_const_mut(&mut self, _: &mut syn::TraitItemConst) {}
    fn visit_type_array_mut(&mut self, _: &mut syn::TypeArray) {}
    fn visit_expr_repeat_mut(&mut self, repeat: &mut syn::ExprRepeat) {
        self.visit_expr_mut(&mut repeat.expr);
    }
    fn visit_expr_const_mut(&mut self, _: &mut syn::ExprConst) {}
    fn visit_generic_argument_mut(&mut self, _: &mut syn::GenericArgument) {}

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let written = expr.clone();
        visit_mut::visit_expr_mut(self, expr);
        let mut others: Vec<(usize, Expr)> = Vec::new();
        match &written {
            Expr::Binary(binary) => {
                for mutant in self.at(binary.op.span(), "BinaryOperator") {
                    let mut new = binary.clone();
                    let Ok(op) = syn::parse_str(&mutant.replacement) else { continue };
                    new.op = op;
                    others.push((mutant.number, Expr::Binary(new)));
                }
            }
            Expr::Unary(unary) => {
                for mutant in self.at(unary.op.span(), "UnaryOperator") {
                    others.push((mutant.number, (*unary.expr).clone()));
                }
            }
            _ => {}
        }
        // `let` in a condition cannot be part of another expression.
        if others.is_empty() || has_let(&written) {
            return;
        }
        let mut whole = expr.clone();
        for (number, other) in others.into_iter().rev() {
            let question = question(number);
            whole = parse_quote!(if #question { #other } else { #whole });
            self.done.insert(number);
        }
        *expr = parse_quote!((#whole));
    }

    fn visit_arm_mut(&mut self, arm: &mut Arm) {
        let of_arm = self.at(arm.span(), "MatchArm");
        let of_guard = match &arm.guard {
            Some((_, guard)) => self.at(guard.span(), "MatchArmGuard"),
            None => Vec::new(),
        };
        visit_mut::visit_arm_mut(self, arm);
        if let Some((_, guard)) = &mut arm.guard
            && !has_let(guard)
        {
            for mutant in of_guard {
                let question = question(mutant.number);
                let old = guard.clone();
                **guard = match mutant.replacement.as_str() {
                    "true" => parse_quote!((#question || (#old))),
                    _ => parse_quote!((!#question && (#old))),
                };
                self.done.insert(mutant.number);
            }
        }
        for mutant in of_arm {
            let question = question(mutant.number);
            match &mut arm.guard {
                None => arm.guard = Some((Default::default(), parse_quote!(!#question))),
                Some((_, guard)) => {
                    let old = guard.clone();
                    **guard = match has_let(&old) {
                        true => parse_quote!(!#question && #old),
                        false => parse_quote!(!#question && (#old)),
                    };
                }
            }
            self.done.insert(mutant.number);
        }
    }
}

fn has_let(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

fn number_of(value: &Value, end: &str, name: &str) -> usize {
    value[end][name].as_u64().unwrap_or_default() as usize
}

/// The opening brace of a function body: the last `{` at or before the place where cargo-mutants starts the body.
fn opening(source: &str, (line, column): Place) -> Place {
    let lines: Vec<&str> = source.split('\n').collect();
    let offset: usize = lines[..line - 1].iter().map(|line| line.len() + 1).sum();
    let row = lines[line - 1];
    let column: usize = row.chars().take(column - 1).map(char::len_utf8).sum();
    let at = source[..offset + column].rfind('{').unwrap_or(0);
    let before = &source[..at];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

pub fn embed(list: &Path, folder: &Path) -> Result<(), Failure> {
    let list: Value = serde_json::from_str(&fs::read_to_string(list)?)?;
    let list = list.as_array().ok_or("no list")?;
    let mut files: BTreeMap<String, Vec<(usize, &Value)>> = BTreeMap::new();
    for (number, listed) in list.iter().enumerate() {
        files
            .entry(listed["file"].as_str().unwrap().to_owned())
            .or_default()
            .push((number, listed));
    }
    let out = folder.join("mutants");
    fs::create_dir_all(&out)?;
    let mut done = BTreeSet::new();
    let mut names = String::new();
    for (file, mutants) in &files {
        let path = folder.join(file);
        let source = fs::read_to_string(&path)?;
        let mut all = Embedding {
            mutants: BTreeMap::new(),
            bodies: BTreeMap::new(),
            is_const: false,
            done: BTreeSet::new(),
        };
        for (number, listed) in mutants {
            let span = &listed["span"];
            let at = (number_of(span, "start", "line"), number_of(span, "start", "column"));
            let mutant = Mutant {
                number: *number,
                genre: listed["genre"].as_str().unwrap().to_owned(),
                replacement: listed["replacement"].as_str().unwrap().to_owned(),
            };
            match mutant.genre.as_str() {
                "FnValue" => all.bodies.entry(opening(&source, at)).or_default().push(mutant),
                _ => all.mutants.entry(at).or_default().push(mutant),
            }
        }
        let mut tree = syn::parse_file(&source)?;
        all.visit_file_mut(&mut tree);
        let text = prettyplease::unparse(&tree);
        fs::write(&path, text)?;
        done.extend(all.done);
    }
    for root in ["src/lib.rs", "src/main.rs"] {
        let path = folder.join(root);
        let text = fs::read_to_string(&path)?;
        fs::write(&path, text + "\n#[doc(hidden)]\npub mod mutant;\n")?;
    }
    fs::write(folder.join("src/mutant.rs"), MODULE)?;
    let mut genres: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (number, listed) in list.iter().enumerate() {
        let count = genres.entry(listed["genre"].as_str().unwrap()).or_default();
        count.0 += 1;
        count.1 += usize::from(done.contains(&number));
        if done.contains(&number) {
            names.push_str(&format!("{number}\t{}\n", listed["name"].as_str().unwrap()));
        }
    }
    fs::write(out.join("names"), names)?;
    fs::write(out.join("dropped"), "")?;
    println!("{} of {} mutants: {genres:?}", done.len(), list.len());
    Ok(())
}

/// Removes the mutants' guards in the `match` that begins in line `line`, because the match needs those arms to
/// compile.
fn drop_arms(path: &Path, line: usize) -> Result<Vec<usize>, Failure> {
    let mut text = fs::read_to_string(path)?;
    let start: usize = text.split('\n').take(line - 1).map(|line| line.len() + 1).sum();
    let Some(open) = text[start..].find(" {\n").map(|open| start + open + 1) else {
        return Ok(Vec::new());
    };
    let mut depth = 0;
    let end = text[open..].bytes().position(|byte| {
        depth += i32::from(byte == b'{') - i32::from(byte == b'}');
        depth == 0
    });
    let end = open + end.unwrap_or_default();
    let guard = "if !crate::mutant::is(";
    let mut dropped = Vec::new();
    let mut at = end;
    while let Some(found) = text[open..at].rfind(guard).map(|found| open + found) {
        at = found;
        let rest = &text[found + guard.len()..];
        let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let whole = format!("{guard}{number}usize) =>");
        if text[found..].starts_with(&whole) {
            text.replace_range(found..found + whole.len(), "=>");
            dropped.push(number.parse()?);
        }
    }
    fs::write(path, text)?;
    Ok(dropped)
}

/// Removes the check for a mutant at `line`, so that the sources compile without the mutant.
fn drop_mutant(path: &Path, line: usize) -> Result<Option<usize>, Failure> {
    let text = fs::read_to_string(path)?;
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let question = "mutant::is(";
    let mut at = line.min(lines.len());
    while at > 0 && line - at < 40 {
        at -= 1;
        let Some(found) = lines[at].rfind(question) else { continue };
        let rest = &lines[at][found + question.len()..];
        let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
        let Ok(number) = number.parse::<usize>() else { continue };
        let mut whole = lines.join("\n");
        let start: usize = lines[..at].iter().map(|line| line.len() + 1).sum::<usize>() + found;
        // A guard that consists of the check alone.
        let guard = format!("if !crate::mutant::is({number}usize) =>");
        if whole.contains(&guard) {
            whole = whole.replace(&guard, "=>");
        } else {
            // The whole branch of the mutant is removed, because it does not compile.
            let Some(open) = whole[start..].find('{').map(|open| start + open) else {
                return Ok(None);
            };
            let mut depth = 0;
            let mut end = open;
            for (offset, byte) in whole[open..].bytes().enumerate() {
                match byte {
                    b'{' => depth += 1,
                    b'}' => depth -= 1,
                    _ => {}
                }
                if depth == 0 {
                    end = open + offset;
                    break;
                }
            }
            whole.replace_range(open + 1..end, " unreachable!() ");
            whole = whole.replace(&format!("mutant::is({number}usize)"), "mutant::is (19999)");
        }
        lines = whole.split('\n').map(str::to_owned).collect();
        fs::write(path, lines.join("\n"))?;
        return Ok(Some(number));
    }
    Ok(None)
}

pub fn build(folder: &Path, arguments: &[&str]) -> Result<(), Failure> {
    let mut is_checked = false;
    for round in 0..60 {
        let output = Command::new("cargo")
            .args(if is_checked {
                &["test", "--no-run", "--message-format=json"][..]
            } else {
                &["check", "--lib", "--message-format=json"]
            })
            .args(if is_checked { arguments } else { &[] })
            .current_dir(folder)
            .env("RUSTFLAGS", "--cap-lints=allow -Cdebuginfo=0 -Ccodegen-units=16")
            .env("CARGO_INCREMENTAL", "0")
            .stderr(Stdio::inherit())
            .stdout(Stdio::piped())
            .output()?;
        let mut programs = String::new();
        let mut places: BTreeSet<(String, usize, bool)> = BTreeSet::new();
        let mut others = Vec::new();
        for line in output.stdout.split(|&byte| byte == b'\n') {
            let Ok(message) = serde_json::from_slice::<Value>(line) else { continue };
            if let (Some(program), true) =
                (message["executable"].as_str(), message["profile"]["test"] == true)
            {
                programs.push_str(&format!("{program}\n"));
            }
            if message["message"]["level"] == "error" {
                let spans = message["message"]["spans"].as_array().cloned().unwrap_or_default();
                let primary = spans.iter().filter(|span| span["is_primary"] == true);
                let found: Vec<_> = primary
                    .filter_map(|span| {
                        let is_arm = message["message"]["code"]["code"] == "E0004";
                        let line = if is_arm { "line_start" } else { "line_end" };
                        Some((
                            span["file_name"].as_str()?.to_owned(),
                            span[line].as_u64()? as usize,
                            is_arm,
                        ))
                    })
                    .collect();
                if found.is_empty() {
                    others.push(message["message"]["message"].clone());
                }
                places.extend(found);
            }
        }
        if output.status.success() && !is_checked {
            is_checked = true;
            continue;
        }
        if output.status.success() {
            fs::write(folder.join("mutants/programs"), programs)?;
            return Ok(());
        }
        if places.is_empty() {
            return Err(format!("it does not compile: {others:?}").into());
        }
        // Starts at the last line, so that the numbers of the other lines stay valid.
        let mut dropped = Vec::new();
        for (file, line, is_arm) in places.iter().rev() {
            if *is_arm {
                dropped.extend(drop_arms(&folder.join(file), *line)?);
                continue;
            }
            match drop_mutant(&folder.join(file), *line)? {
                Some(number) => dropped.push(number),
                None => println!("{file}:{line}: no mutant there"),
            }
        }
        println!("round {round}: {} errors, dropped {dropped:?}", places.len());
        if dropped.is_empty() {
            return Err("nothing to drop".into());
        }
        let known = fs::read_to_string(folder.join("mutants/dropped"))?;
        let new: String = dropped.iter().map(|number| format!("{number}\n")).collect();
        fs::write(folder.join("mutants/dropped"), known + &new)?;
    }
    Err("too many rounds".into())
}
