//! Generates JavaScript and WebAssembly from a compiled crate, like the program `wasm-bindgen`, for `js/build.mjs`.
//!
//! ```text
//! baselink-bindgen baselink_js.wasm FOLDER   -->   FOLDER/glue.js, FOLDER/glue_bg.wasm
//! ```
//!
//! Deliberately absent: options, which the program `wasm-bindgen` has; that program takes minutes to compile.

use std::env::args;
use std::error::Error;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = args().skip(1).collect();
    let [input, folder] = &arguments[..] else {
        return Err("usage: baselink-bindgen FILE FOLDER".into());
    };
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(input)
        .out_name("glue")
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true);
    bindgen.no_modules(true)?.no_modules_global("glue")?.generate(folder)?;
    Ok(())
}
