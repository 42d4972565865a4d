// The package in Chromium: `await init()` from a server, and every case of ../fixtures.
//
// A page gets the cases from the server, and sends back what the package makes of them. Where Chromium is absent, the test is
// skipped; with BASELINK_REQUIRE_OUTSIDE=1, as CI sets it, it fails.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { cases, CODED, pkg } from "./cases.mjs";

const paths = (process.env.PATH ?? "").split(":").map((folder) => join(folder, "chromium"));
const program = paths.find((path) => existsSync(path));
const isAbsent = !program && !process.env.BASELINK_REQUIRE_OUTSIDE;

const PAGE = `<!doctype html><script type="module">
import init, { links, rewrite, RewriterStream } from "./web.js";
const answer = (value) => fetch("/answer", { method: "POST", body: JSON.stringify(value) });
try {
  await init();
  const answers = [];
  for (const [input, options] of await (await fetch("/cases")).json()) {
    const bytes = Uint8Array.from(atob(input), (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new RewriterStream(options));
    const streamed = new Uint8Array(await new Response(stream).arrayBuffer());
    const text = (bytes) => btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    answers.push([text(rewrite(bytes, options)), text(streamed), links(bytes, options).length]);
  }
  await answer(answers);
} catch (error) {
  await answer(String(error));
}
</script>`;

test("a case gives in Chromium what it expects", { skip: isAbsent && "Chromium is absent", timeout: 120_000 }, async () => {
  const known = [...cases()].filter(({ name, options }) => options && !CODED.test(name));
  const given = JSON.stringify(known.map(({ input, options }) => [input.toString("base64"), options]));
  const files = {
    "/": ["text/html", PAGE],
    "/cases": ["application/json", given],
    "/web.js": ["text/javascript", readFileSync(join(pkg, "web.js"))],
    "/baselink.wasm": ["application/wasm", readFileSync(join(pkg, "baselink.wasm"))],
  };
  let answer;
  const answered = new Promise((resolve) => (answer = resolve));
  const server = createServer(async (request, response) => {
    if (request.method === "POST") answer(JSON.parse((await request.toArray()).join("")));
    const [type, body] = files[request.url] ?? ["text/plain", ""];
    response.writeHead(200, { "content-type": type }).end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const profile = mkdtempSync(join(tmpdir(), "baselink-"));
  const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", `--user-data-dir=${profile}`];
  const chromium = spawn(program, [...flags, `http://127.0.0.1:${server.address().port}/`], { stdio: "ignore" });
  try {
    const answers = await answered;
    assert(Array.isArray(answers), answers);
    for (const [at, { name, expected, links }] of known.entries()) {
      const output = expected.toString("base64");
      assert.deepEqual(answers[at], [output, output, links.length], name);
    }
  } finally {
    const ended = new Promise((resolve) => chromium.on("exit", resolve));
    chromium.kill();
    await ended;
    server.close();
    server.closeAllConnections();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
});
