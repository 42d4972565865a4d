// The speed of the package compared with the Rust library and other packages for the same job, on the same pages in the same run.
//
//     node js/build.mjs
//     npm install --prefix js --no-save cheerio html-rewriter-wasm posthtml posthtml-urls rehype rehype-urls
//     node js/bench.mjs [FOLDER]
//
// FOLDER contains HTML pages; the default is ../shared/corpus/pages, beside the checkout. Jobs take turns, and the fastest round of
// each counts. A package that is not installed is skipped. Pages on which a package fails are counted.
//
// Ratios of one run can be compared between machines; absolute numbers cannot.

import { execFileSync, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { links, rewrite } from "./pkg/node.mjs";

const root = join(import.meta.dirname, "..");
const URL_ = "http://example.org/docs/guide/page.html";
const ROUNDS = 15;
/** The rounds of a job that takes more than two seconds. */
const FEW = 3;
/** The attributes that the other packages handle, unless they have their own list. */
const ATTRIBUTES = ["href", "src", "action", "formaction", "cite", "data", "poster", "background", "longdesc"];

const folder = process.argv[2] ?? join(root, "..", "shared", "corpus", "pages");
const files = readdirSync(folder, { recursive: true })
  .filter((name) => name.endsWith(".html"))
  .sort()
  .map((name) => join(folder, name));
const pages = files.map((file) => readFileSync(file));
const texts = pages.map((page) => page.toString());

/** The target of a reference, or the reference itself if it has none. */
function absolute(reference) {
  return URL.canParse(reference, URL_) ? new URL(reference, URL_).href : reference;
}

/** A job that does `work` on every page, and returns the milliseconds. `each.failures` counts the pages on which it fails. */
function each(documents, work) {
  const failed = new Set();
  return async () => {
    const start = performance.now();
    for (const [at, document] of documents.entries()) {
      try {
        const result = work(document);
        if (result instanceof Promise) await result;
      } catch {
        failed.add(files[at]);
      }
    }
    const time = performance.now() - start;
    if (failed.size > 0) each.failures.set(work, failed.size);
    return time;
  };
}
each.failures = new Map();

/** The jobs of python/benches/rust.rs, a separate process that runs a round on request. */
function native() {
  const build = ["bench", "--quiet", "-p", "baselink-python", "--bench", "rust", "--no-run", "--message-format=json"];
  const messages = execFileSync("cargo", build, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 }).trim().split("\n");
  const { executable } = messages.map((line) => JSON.parse(line)).find((message) => message.executable);
  const running = spawn(executable, [URL_, ...files], { stdio: ["pipe", "pipe", "inherit"] });
  const answers = createInterface({ input: running.stdout })[Symbol.asyncIterator]();
  const job = (name) => async () => {
    running.stdin.write(`${name}\n`);
    return Number((await answers.next()).value) / 1e6;
  };
  return { jobs: { "Rust, rewrite": job("rewrite"), "Rust, links": job("links") }, end: () => running.stdin.end() };
}

/** The work of other packages; each rewrites a page. */
const PEERS = {
  async cheerio() {
    const { load } = await import("cheerio");
    return (page) => {
      const $ = load(page);
      for (const name of ATTRIBUTES) {
        $(`[${name}]`).each((_, element) => void $(element).attr(name, absolute($(element).attr(name))));
      }
      return $.html();
    };
  },
  async "posthtml-urls"() {
    const [{ default: posthtml }, { default: urls }] = [await import("posthtml"), await import("posthtml-urls")];
    const processor = posthtml().use(urls({ eachURL: absolute }));
    return (page) => processor.process(page);
  },
  async "rehype-urls"() {
    const [{ rehype }, { default: urls }] = [await import("rehype"), await import("rehype-urls")];
    const processor = rehype().use(urls, (url) => absolute(url.href));
    return (page) => processor.process(page);
  },
  async "html-rewriter-wasm"() {
    const { HTMLRewriter } = await import("html-rewriter-wasm");
    const element = (element) => {
      for (const name of ATTRIBUTES) {
        const reference = element.getAttribute(name);
        if (reference !== null) element.setAttribute(name, absolute(reference));
      }
    };
    return async (page) => {
      const chunks = [];
      const rewriter = new HTMLRewriter((chunk) => chunks.push(chunk));
      try {
        for (const name of ATTRIBUTES) rewriter.on(`[${name}]`, { element });
        await rewriter.write(page);
        await rewriter.end();
      } finally {
        rewriter.free();
      }
      return Buffer.concat(chunks);
    };
  },
};

const rust = native();
const jobs = {
  "rewrite, bytes": each(pages, (page) => rewrite(page, { url: URL_ })),
  "rewrite, strings": each(texts, (page) => rewrite(page, { url: URL_ })),
  "rewrite, bytes, whatwg": each(pages, (page) => rewrite(page, { url: URL_, resolver: "whatwg" })),
  links: each(pages, (page) => links(page, { url: URL_ })),
  ...rust.jobs,
};
const works = {};
for (const [name, make] of Object.entries(PEERS)) {
  try {
    works[name] = await make();
    jobs[name] = each(name === "html-rewriter-wasm" ? pages : texts, works[name]);
  } catch (error) {
    console.log(`left out: ${name} (${error.code ?? error.message})`);
  }
}

const best = Object.fromEntries(Object.keys(jobs).map((name) => [name, Infinity]));
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, job] of Object.entries(jobs)) {
    if (round >= FEW && best[name] > 2000) continue;
    best[name] = Math.min(best[name], await job());
  }
}
rust.end();

const megabytes = pages.reduce((sum, page) => sum + page.length, 0) / 1e6;
console.log(`${pages.length} pages, ${megabytes.toFixed(1)} MB`);
for (const [name, time] of Object.entries(best)) {
  const compared = name.endsWith("links") ? best["Rust, links"] : best["Rust, rewrite"];
  const failed = each.failures.get(works[name]);
  const speed = `${time.toFixed(1).padStart(9)} ms ${(megabytes / (time / 1000)).toFixed(1).padStart(8)} MB/s`;
  console.log(`${name.padEnd(24)}${speed} ${(time / compared).toFixed(2).padStart(9)}${failed ? `  (${failed} pages fail)` : ""}`);
}
