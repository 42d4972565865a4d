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

const SINGLE = { r: "\r", t: "\t", "\\": "\\", "\n": "" };

/** The bytes, as characters, of an escaped section; tests/common/case_file.rs describes the form of cases. */
function unescape(text) {
  const plain = (found, escape) => SINGLE[escape] ?? String.fromCharCode(Number.parseInt(escape.slice(1), 16));
  return text.replace(/\\(x[0-9a-f]{2}|[^])/g, plain);
}

/** The arguments of a command line. Only `$'…'` contains escapes. */
function words(command) {
  const found = [];
  for (const [, space, escaped, ...plain] of command.matchAll(/( )|\$'([^']*)'|'([^']*)'|"([^"]*)"|([^ '"]+)/g)) {
    if (space) found.push("");
    else found.push(found.pop() + unescape(escaped ?? "") + plain.join(""));
  }
  return found.map((word) => Buffer.from(word, "latin1").toString());
}

/** The arguments and the sections of a case. */
function caseOf(path) {
  const [head, ...parts] = readFileSync(path, "latin1").split(/^==> /m);
  const sections = {};
  for (const part of parts) {
    const [, name, form, content] = part.match(/^(.*) <==(.*)\n([^]*)$/);
    const text = form === " escaped" ? unescape(content) : form ? content.slice(0, -1) : content;
    sections[name] = Buffer.from(text, "latin1");
  }
  return { given: words(head.match(/^\$ baselink rewrite(.*)$/m)[1]), sections };
}

/** Every case: name, arguments of the command, options of the package, bytes before and after, rows of links. */
export function* cases() {
  for (const [folder, [format, extension, least]] of Object.entries(FOLDERS)) {
    const names = readdirSync(join(fixtures, folder)).filter((name) => name.endsWith(".case"));
    assert(names.length >= least, `${folder} has only ${names.length} cases`);
    for (const file of names) {
      const { given, sections } = caseOf(join(fixtures, folder, file));
      const lines = (name) => sections[name].toString().split("\n").slice(0, -1);
      yield {
        name: `${folder}/${file.slice(0, -".case".length)}`,
        arguments: ["--format", format, ...given],
        options: optionsOf(format, given),
        input: sections[`input.${extension}`],
        expected: sections[`expected.${extension}`],
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
