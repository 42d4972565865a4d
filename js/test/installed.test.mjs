// The output of `npm pack`, installed into an empty folder: its files, the examples of README.md, and its types.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pkg, root } from "./cases.mjs";

const folder = mkdtempSync(join(tmpdir(), "baselink-"));
after(() => rmSync(folder, { recursive: true }));

function run(program, ...args) {
  // On Windows npm is a shell script.
  return execFileSync(program, args, { cwd: folder, encoding: "utf8", shell: process.platform === "win32" });
}

const [packed] = JSON.parse(run("npm", "pack", "--json", "--silent", pkg));
writeFileSync(join(folder, "package.json"), "{}");
run("npm", "install", "--silent", "--offline", "--no-audit", "--no-fund", `./${packed.filename}`);

test("the package has these files, and no others", () => {
  // Only `build.mjs --notices` writes THIRD-PARTY-NOTICES.
  const names = packed.files.map(({ path }) => path).filter((path) => path !== "THIRD-PARTY-NOTICES");
  assert.deepEqual(names.sort(), [
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "baselink.wasm",
    "index.d.cts",
    "index.d.ts",
    "node.cjs",
    "node.mjs",
    "package.json",
    "web.js",
    "workerd.js",
  ]);
});

test("the examples of README.md print the shown output, with `import` and with `require`", () => {
  const readme = readFileSync(join(root, "js", "README.md"), "utf8");
  const examples = [...readme.matchAll(/```js\n((?:(?!```)[^])*)```\n\n```text\n([^]*?)```/g)];
  assert.equal(examples.length, 3);
  for (const [, code, output] of examples) {
    writeFileSync(join(folder, "example.mjs"), code);
    assert.equal(run(process.execPath, "example.mjs"), output);
    const required = code.replace(/import (.*) from "baselink";/, 'const $1 = require("baselink");');
    assert.notEqual(required, code);
    writeFileSync(join(folder, "example.cjs"), `(async () => {\n${required}\n})();`);
    assert.equal(run(process.execPath, "example.cjs"), output);
  }
});

test("an example in TypeScript passes strict type checks, with `import` and with `require`", () => {
  const example = join(root, "js", "test", "example.ts");
  for (const name of ["example.mts", "example.cts"]) copyFileSync(example, join(folder, name));
  const tsc = join(root, "js", "node_modules", "typescript", "bin", "tsc");
  const options = ["--strict", "--exactOptionalPropertyTypes", "--noEmit", "--module", "nodenext", "--target", "es2022", "--lib", "es2022,dom", "--types", ""];
  run(process.execPath, tsc, ...options, "example.mts", "example.cts");
});

test("the types of groups, outcomes and reasons have the names of the library (bug 372)", () => {
  const types = readFileSync(join(pkg, "index.d.ts"), "utf8");
  const names = (text, start, end) => text.split(start)[1].split(end)[0].match(/"[a-z-]+"/g);
  for (const [name, file] of [["Group", "scan/src/attributes.rs"], ["Outcome", "rewrite/src/report.rs"], ["Reason", "rewrite/src/report.rs"]]) {
    const library = readFileSync(join(root, "crates", file), "utf8");
    assert.deepEqual(names(types, `export type ${name} =`, ";"), names(library, `pub enum ${name} {`, "\n    }"), name);
  }
});

test("every name has a comment", () => {
  const lines = readFileSync(join(pkg, "index.d.ts"), "utf8").split("\n");
  const names = lines.filter((line, at) => {
    const isName = /^export (?!\{\})|^  \w+\??: |^  constructor/.test(line);
    const isOverload = line.startsWith("export function") && lines[at - 1].startsWith("export function");
    return isName && !isOverload && !/\*\/$/.test(lines[at - 1]);
  });
  assert.deepEqual(names, []);
});
