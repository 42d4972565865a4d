// Every program in ../examples runs in a folder with the packages that it needs.
//
// If an npm package is absent, its test is skipped; with BASELINK_REQUIRE_OUTSIDE=1, as CI sets it, it fails.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pkg, root } from "./cases.mjs";
import { chromium, options, serve } from "./chromium.mjs";

const examples = join(root, "js", "examples");
const installed = join(root, "js", "node_modules");
const folder = mkdtempSync(join(tmpdir(), "baselink-"));
after(() => rmSync(folder, { recursive: true }));
cpSync(examples, folder, { recursive: true });
mkdirSync(join(folder, "node_modules"));
cpSync(pkg, join(folder, "node_modules", "baselink"), { recursive: true });

/** The options of a test that needs an npm package. */
function needs(name) {
  const isThere = existsSync(join(installed, name));
  if (isThere) symlinkSync(join(installed, name), join(folder, "node_modules", name), "junction");
  return { skip: !isThere && !process.env.BASELINK_REQUIRE_OUTSIDE && `${name} is absent` };
}

function run(name, args, input = "") {
  return execFileSync(process.execPath, [name, ...args], { cwd: folder, encoding: "utf8", input });
}

test("an example is short", () => {
  for (const name of readdirSync(examples)) assert(readFileSync(join(examples, name), "utf8").split("\n").length <= 41, name);
});

test("the links of a feed and of the HTML in it become absolute", () => {
  const feed = (base) => `<rss xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><link>${base}</link><item>
<link>${base}june.html</link><enclosure url="${base}june.mp3"/>
<description>&lt;a href="${base}may.html"&gt;May&lt;/a&gt;</description>
<content:encoded><![CDATA[<img srcset="${base}a.png, ${base}b.png 2x">]]></content:encoded>
</item></channel></rss>`;
  writeFileSync(join(folder, "feed.xml"), feed("/letters/"));
  run("feed.mjs", ["feed.xml", "https://a.example/feed.xml"]);
  assert.equal(readFileSync(join(folder, "feed.xml"), "utf8"), feed("https://a.example/letters/"));
});

test("a page becomes Markdown with absolute links", needs("turndown"), () => {
  const page = `<base href="/docs/"><p>Read <a href="intro.html">this</a>. <img src="../i.png" alt="I"></p>`;
  assert.equal(
    run("markdown.mjs", ["https://a.example/x/"], page),
    "Read [this](https://a.example/docs/intro.html). ![I](https://a.example/i.png)\n",
  );
});

test("README.md begins with worker.mjs", () => {
  const [, code] = readFileSync(join(root, "js", "README.md"), "utf8").match(/```js\n([^]*?)```/);
  assert(readFileSync(join(examples, "worker.mjs"), "utf8").endsWith(`\n\n${code}`));
});

test("a Cloudflare Worker rewrites a stream under workerd (bug 371)", { ...needs("workerd"), timeout: 60_000 }, async (t) => {
  const origin = await serve({
    "/guide/a.html": ["text/html; charset=utf-8", `<a href="b.html">é</a><base href="/c/">`],
    "/guide/a.css": ["text/css", "@import 'b.css';"],
  });
  t.after(origin.end);
  // Port 0 selects a free port, and workerd writes its number to the file descriptor.
  const given = ["--external-addr", `origin=${new URL(origin.url).host}`, "--socket-addr", "http=127.0.0.1:0", "--control-fd", "3"];
  const workerd = spawn(join(installed, ".bin", "workerd"), ["serve", "worker.capnp", ...given], { cwd: folder, stdio: ["ignore", "inherit", "inherit", "pipe"] });
  t.after(() => new Promise((resolve) => workerd.on("exit", resolve).kill()));
  const { port } = JSON.parse(await new Promise((resolve) => workerd.stdio[3].once("data", resolve)));
  const page = await fetch(`http://127.0.0.1:${port}/guide/a.html`);
  const base = `http://127.0.0.1:${port}/c/`;
  assert.equal(await page.text(), `<a href="${base}b.html">é</a><base href="${base}">`);
  assert.deepEqual([page.headers.get("content-length"), page.headers.get("etag")], [null, null]);
  const head = await fetch(page.url, { method: "HEAD" });
  assert.deepEqual([head.status, head.headers.get("etag")], [200, null]);
  const unchanged = await fetch(page.url, { headers: { "if-none-match": '"1"' } });
  assert.deepEqual([unchanged.status, unchanged.headers.get("etag"), await unchanged.text()], [304, null, ""]);
  const style = await fetch(`http://127.0.0.1:${port}/guide/a.css`);
  assert.equal(await style.text(), "@import 'b.css';");
});

test("a reverse proxy moves the links of a site", { timeout: 60_000 }, async (t) => {
  const site = await serve({
    "/a.html": ["text/html; charset=iso-8859-1", `<a href="b.html">é</a><a href="/c.html?q#f">c</a><a href="//other.example/">o</a>`],
    "/a.css": ["text/css", "p { background: url(/p.png) }"],
    "/data.json": ["application/json", `{"next": "/c"}`],
  });
  t.after(site.end);
  const port = new URL(site.url).port ^ 1;
  const proxy = spawn(process.execPath, ["reverse-proxy.mjs", site.url, "https://www.example.org/docs/", String(port)], { cwd: folder, stdio: "inherit" });
  t.after(() => new Promise((resolve) => proxy.on("exit", resolve).kill()));
  const read = async (name) => {
    const answer = await fetch(`http://127.0.0.1:${port}/docs/${name}`);
    assert.deepEqual([answer.headers.get("content-length"), answer.headers.get("etag")], [null, null]);
    return answer.text();
  };
  const isReady = () => fetch(`http://127.0.0.1:${port}/docs/`).then(() => true, () => new Promise((resolve) => setTimeout(resolve, 100)));
  while (!(await isReady()));
  assert.equal(await read("a.css"), "p { background: url(/docs/p.png) }");
  assert.equal(await read("a.html"), `<a href="b.html">é</a><a href="/docs/c.html?q#f">c</a><a href="//other.example/">o</a>`);
  assert.equal(await read("data.json"), `{"next": "/c"}`);
});

test("a service worker rewrites the pages of a copy", options, async (t) => {
  const text = (name) => readFileSync(join(folder, name));
  const server = await serve({
    "/": ["text/html", "<p>no link"],
    "/guide/a.html?x": ["text/html", `<a href="b.html">b</a><img src="../c.png">`],
    "/service-worker.js": ["text/javascript", text("service-worker.js")],
    "/node_modules/baselink/web.js": ["text/javascript", text("node_modules/baselink/web.js")],
    "/node_modules/baselink/baselink.wasm": ["application/wasm", text("node_modules/baselink/baselink.wasm")],
  });
  t.after(server.end);
  const browser = await chromium();
  t.after(browser.end);
  const page = await browser.open(server.url);
  await page.value(`navigator.serviceWorker.register("/service-worker.js", { type: "module" }).then(() => navigator.serviceWorker.ready).then(() => {})`);
  await page.until("navigator.serviceWorker.ready.then(({ active }) => active.state === 'activated')");
  await page.send("Page.navigate", { url: `${server.url}guide/a.html?x` });
  await page.until("document.links.length === 1");
  assert.equal(
    await page.value("document.body.innerHTML"),
    `<a href="https://www.example.org/guide/b.html">b</a><img src="https://www.example.org/c.png">`,
  );
});
