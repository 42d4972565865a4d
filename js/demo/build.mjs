// Builds js/demo/dist/index.html, a page in one file, from js/pkg and this folder.
//
//     node js/build.mjs && xdg-open js/demo/dist/index.html      # js/build.mjs also runs this program
//
// The Content Security Policy blocks every request, and allows only this script and this style, by their hashes.
//
// Deliberately absent: a bundler.

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { EXAMPLES } from "./examples.mjs";

const demo = import.meta.dirname;
const pkg = join(demo, "..", "pkg");
const read = (...path) => readFileSync(join(...path), "utf8");
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const web = read(pkg, "web.js");
const exported = web.lastIndexOf("export {");
const script = `
const baselink = (() => {
${web.slice(0, exported)}
return { init, rewrite, links, base };
})();
const PACKED = "${gzipSync(readFileSync(join(pkg, "baselink.wasm")), { level: 9 }).toString("base64")}";
const EXAMPLES = ${JSON.stringify(EXAMPLES).replaceAll("<", "\\u003c")};
${read(demo, "page.js")}`;
if (exported < 0 || /<(\/script|!--)/i.test(script)) throw new Error("the script would end too early in the page");
const style = read(demo, "style.css");
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)} 'wasm-unsafe-eval'`,
  `style-src ${hash(style)}`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const page = read(demo, "index.html")
  .replace('content=""', () => `content="${policy}"`)
  .replace("<style></style>", () => `<style>${style}</style>`)
  .replace('<script type="module"></script>', () => `<script type="module">${script}</script>`);
mkdirSync(join(demo, "dist"), { recursive: true });
writeFileSync(join(demo, "dist", "index.html"), page);
