// Helpers of several tests: the package, the cases of ../fixtures with their options, and the command.
//
// If the command is absent, a test that needs it is skipped; with BASELINK_REQUIRE_OUTSIDE=1, as CI sets it, it fails.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dirname, "..", "..");
export const pkg = join(root, "js", "pkg");
const fixtures = join(root, "fixtures");

/** Folders of cases: their format, the extension of their documents, and the minimum number of cases. */
const FOLDERS = {
  html: ["html", "html", 100],
  css: ["css", "css", 60],
  xhtml: ["xhtml", "xhtml", 15],
  svg: ["svg", "svg", 10],
  feed: ["xml", "xml", 15],
  manifest: ["manifest", "webmanifest", 3],
  jsonfeed: ["jsonfeed", "json", 1],
  script: ["script", "js", 5],
  message: ["message", "eml", 140],
  http: ["http", "http", 40],
};

/** The options of the package for arguments of the command that have a value. */
const OPTIONS = {
  "--url": "url",
  "--resolver": "resolver",
  "--fragments": "fragments",
  "--base-element": "baseElement",
  "--charset": "charset",
  "--enable": "enable",
  "--attribute": "attributes",
  "--assume-scheme": "assumeScheme",
  "--format": "format",
};
const TRUST = { "-content-location": ["contentLocation", "label"], "-local-copies": ["localCopies", "rewrite"] };

/** The options of a case; null if it needs an option that the package does not have. */
function optionsOf(format, lines) {
  const options = { format };
  for (const rest = [...lines]; rest.length > 0; ) {
    const argument = rest.shift();
    if (argument === "--skip-dkim") {
      options.dkim = "keep";
      continue;
    }
    const value = rest.shift();
    if (argument === "--trust") {
      if (!TRUST[value]) return null;
      const [name, meaning] = TRUST[value];
      options[name] = meaning;
      continue;
    }
    const name = OPTIONS[argument];
    assert(name, `${argument} is no option of the package`);
    if (name === "enable" || name === "attributes") (options[name] ??= []).push(value);
    else options[name] = value;
  }
  return options;
}

/** The names of cases with a compressed HTTP body, which the package leaves unchanged. */
export const CODED = /^http\/(bug-[0-9]+-)?(br|deflate|gzip|zstd|media-type-absent-gzip)/;

/** Every case: name, arguments of the command, options of the package, bytes before and after, rows of links. */
export function* cases() {
  for (const [folder, [format, extension, least]] of Object.entries(FOLDERS)) {
    const entries = readdirSync(join(fixtures, folder), { withFileTypes: true }).filter((entry) => entry.isDirectory());
    assert(entries.length >= least, `${folder} has only ${entries.length} cases`);
    for (const { name } of entries) {
      const read = (file) => readFileSync(join(fixtures, folder, name, file));
      const lines = (file) => read(file).toString().split("\n").slice(0, -1);
      const given = lines("arguments");
      yield {
        name: `${folder}/${name}`,
        arguments: ["--format", format, ...given],
        options: optionsOf(format, given),
        input: read(`input.${extension}`),
        expected: read(`expected.${extension}`),
        links: lines("expected.links"),
        base: lines("expected.base")[0],
      };
    }
  }
}

const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
const program = process.env.BASELINK ?? join(target, "debug", "baselink");
export const hasCommand = existsSync(program) || Boolean(process.env.BASELINK_REQUIRE_OUTSIDE);

/** The output of the command. */
export function command(args, input) {
  return execFileSync(program, args, { input, maxBuffer: 1 << 28, stdio: ["pipe", "pipe", "ignore"] });
}
