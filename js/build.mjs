// Builds js/pkg, the npm package, from js/Cargo.toml and js/src, and then the demo page of js/demo. It needs Rust with the
// target wasm32-unknown-unknown.
//
//     node js/build.mjs [--dev] [--notices]     # --dev: builds faster, but the result is larger and slower
//
// To publish the package, add the licenses of the crates in the WebAssembly: `--notices`, with cargo-about (docs/packaging.md).
//
// Deliberately absent: wasm-pack and wasm-bindgen, because they are downloads from other sites or take minutes to compile
// (bindgen/ has the part that is needed), and wasm-opt, because it makes the gzipped file larger and hardly faster (README.md).

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const js = import.meta.dirname;
const root = join(js, "..");
const pkg = join(js, "pkg");
const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
const generated = join(target, "js");
const isDev = process.argv.includes("--dev");
// Every browser since 2023 and Node 20 support SIMD. Without it `rewrite` takes more than twice the time.
const RUSTFLAGS = "-C target-feature=+simd128";

function run(program, args, env = {}) {
  const { error, status } = spawnSync(program, args, { cwd: root, stdio: "inherit", env: { ...process.env, ...env } });
  if (error) console.error(`${program} did not start (${error.code}): install Rust, as https://rustup.rs says`);
  if (status !== 0) process.exit(1);
}

function source(name) {
  return readFileSync(join(js, "src", name), "utf8");
}

const quick = { CARGO_PROFILE_WASM_OPT_LEVEL: "1", CARGO_PROFILE_WASM_LTO: "off", CARGO_PROFILE_WASM_CODEGEN_UNITS: "16" };
const wasm = ["--target", "wasm32-unknown-unknown", "--profile", "wasm"];
run("cargo", ["build", "--locked", "-p", "baselink-js", ...wasm], { RUSTFLAGS, ...(isDev && quick) });
const compiled = join(target, "wasm32-unknown-unknown", "wasm", "baselink_js.wasm");
const bindgen = ["--manifest-path", join(js, "bindgen", "Cargo.toml"), "--target-dir", join(target, "bindgen")];
run("cargo", ["run", "--quiet", "--locked", ...bindgen, "--", compiled, generated]);

rmSync(pkg, { recursive: true, force: true });
mkdirSync(pkg);
const { devDependencies, ...description } = JSON.parse(readFileSync(join(js, "package.json")));
writeFileSync(join(pkg, "package.json"), JSON.stringify(description, null, 2) + "\n");
for (const file of ["README.md", "index.d.ts"]) cpSync(join(js, file), join(pkg, file));
for (const file of ["LICENSE-APACHE", "LICENSE-MIT"]) cpSync(join(root, file), join(pkg, file));
cpSync(join(js, "src", "node.mjs"), join(pkg, "node.mjs"));
// For `require`, TypeScript needs a separate file of types.
cpSync(join(js, "index.d.ts"), join(pkg, "index.d.cts"));
cpSync(join(generated, "glue_bg.wasm"), join(pkg, "baselink.wasm"));

const instantiate = `/** Functions and memory of a new instance. */
function instantiate(module) {
${readFileSync(join(generated, "glue.js"), "utf8")}
  const { memory } = glue.initSync({ module });
  return { functions: glue, memory };
}
`;
for (const entry of ["node.cjs", "web.js", "workerd.js"]) {
  const shared = source("package.js").replace("VERSION", description.version);
  writeFileSync(join(pkg, entry), [instantiate, shared, source(entry)].join("\n"));
}
await import("./demo/build.mjs");

if (process.argv.includes("--notices")) {
  const crates = ["--manifest-path", join(js, "Cargo.toml"), "--target", "wasm32-unknown-unknown"];
  const template = ["--config", join(root, "about.toml"), join(root, "about.hbs")];
  run("cargo", ["about", "generate", "--locked", "--fail", ...crates, ...template, "-o", join(pkg, "THIRD-PARTY-NOTICES")]);
}
