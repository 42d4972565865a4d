// The package in Chromium, loaded from a server by `await init()`, gives the expected bytes for the cases of ../fixtures.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { cases, CODED, pkg } from "./cases.mjs";
import { chromium, options, serve } from "./chromium.mjs";

const PAGE = `<!doctype html><script type="module">
import init, { links, rewrite, RewriterStream } from "./web.js";
async function answers() {
  await init();
  const answers = [];
  for (const [input, options] of await (await fetch("/cases")).json()) {
    const bytes = Uint8Array.from(atob(input), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new RewriterStream(options));
    const streamed = new Uint8Array(await new Response(stream).arrayBuffer());
    const text = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    answers.push([text(rewrite(bytes, options)), text(streamed), links(bytes, options).length]);
  }
  return answers;
}
globalThis.answered = answers();
</script>`;

test("a case gives the expected result in Chromium", options, async (t) => {
  const known = [...cases()].filter(({ name, options }) => options && !CODED.test(name));
  const server = await serve({
    "/": ["text/html", PAGE],
    "/cases": ["application/json", JSON.stringify(known.map(({ input, options }) => [input.toString("base64"), options]))],
    "/web.js": ["text/javascript", readFileSync(join(pkg, "web.js"))],
    "/baselink.wasm": ["application/wasm", readFileSync(join(pkg, "baselink.wasm"))],
  });
  t.after(server.end);
  const browser = await chromium();
  t.after(browser.end);
  const page = await browser.open(server.url);
  await page.until("globalThis.answered");
  const answers = await page.value("answered");
  for (const [at, { name, expected, links }] of known.entries()) {
    const output = expected.toString("base64");
    assert.deepEqual(answers[at], [output, output, links.length], name);
  }
});

const UNDER_POLICY = (policy) => `<!doctype html><meta http-equiv="Content-Security-Policy" content="${policy}">
<script type="module" nonce="a">
import init, { rewrite } from "./web.js";
globalThis.answered = init().then(() => rewrite("<a href=x>", { url: "https://a.example/" }), (error) => error.name);
</script>`;

test("a page with a policy has to allow WebAssembly (bug 724)", options, async (t) => {
  const policy = "script-src 'self' 'nonce-a'";
  const server = await serve({
    "/without": ["text/html", UNDER_POLICY(policy)],
    "/with": ["text/html", UNDER_POLICY(`${policy} 'wasm-unsafe-eval'`)],
    "/web.js": ["text/javascript", readFileSync(join(pkg, "web.js"))],
    "/baselink.wasm": ["application/wasm", readFileSync(join(pkg, "baselink.wasm"))],
  });
  t.after(server.end);
  const browser = await chromium();
  t.after(browser.end);
  for (const [path, expected] of [["without", "CompileError"], ["with", "<a href=https://a.example/x>"]]) {
    const page = await browser.open(server.url + path);
    await page.until("globalThis.answered");
    assert.equal(await page.value("answered"), expected);
  }
});
