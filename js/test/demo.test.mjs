// The demo page of ../demo in Chromium, opened as a file: its output, and its safety.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { rewrite } from "../pkg/node.mjs";
import { cases, root } from "./cases.mjs";
import { chromium, options, serve } from "./chromium.mjs";

const file = pathToFileURL(join(root, "js", "demo", "dist", "index.html")).href;

describe("the page", options, () => {
  let browser;
  let page;

  before(async () => {
    browser = await chromium();
    page = await browser.open(file, async (page) => {
      for (const domain of ["Network", "Log", "Runtime"]) await page.send(`${domain}.enable`);
      await page.size(1280);
    });
    await page.until("document.querySelector('#chain .level')");
  });

  after(() => browser?.end());

  const texts = (selector) => page.value(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((element) => element.innerText)`);
  const text = async (selector) => (await texts(selector))[0];

  /** Drops a file on the page, and waits until it is shown. */
  async function drop(bytes, name) {
    const given = JSON.stringify(Buffer.from(bytes).toString("base64"));
    await page.value(`{
      const bytes = Uint8Array.from(atob(${given}), (character) => character.charCodeAt(0));
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([bytes], ${JSON.stringify(name)}));
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    }`);
    await page.until(`document.getElementById("name").textContent === ${JSON.stringify(name)}`);
  }

  /** Types a value into a field, and waits until the page has reacted. */
  async function type(id, value) {
    await page.value(`{
      const field = document.getElementById("${id}");
      field.value = ${JSON.stringify(value)};
      field.dispatchEvent(new Event(field.localName === "select" ? "change" : "input", { bubbles: true }));
      new Promise((resolve) => setTimeout(resolve, 200));
    }`);
  }

  /** Pastes text into the element with the selector `to`. */
  async function paste(given, to = "body") {
    await page.value(`{
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", ${JSON.stringify(given)});
      document.querySelector("${to}").dispatchEvent(new ClipboardEvent("paste", { clipboardData, bubbles: true, cancelable: true }));
    }`);
  }

  /** Presses the download button, waits for the file, and returns its bytes. */
  async function downloaded(folder, name) {
    await page.value("document.getElementById('download').click()");
    for (let times = 0; times < 400 && !readdirSync(folder).includes(name); times++) await new Promise((resolve) => setTimeout(resolve, 25));
    return readFileSync(join(folder, name));
  }

  const example = (title) => page.value(`[...document.querySelectorAll(".examples button")].find((one) => one.textContent === "${title}").click()`);

  test("it shows the chain, the links, the edits and the standards of its first example", async () => {
    assert.deepEqual(await texts("#result strong"), ["https://rail.example/trains/"]);
    const levels = await texts(".about");
    assert.deepEqual(levels.map((level) => level.split("\n").filter(Boolean)), [
      ["3.1", "Embedded in the content", "counts", "<base href> /trains/", "the first base element with an href, in tree order, relative to the outer base https://rail.example/2026/summer/index.html"],
      ["3.2", "Base of the enclosing entity", "nothing there", "the document is not inside another document"],
      ["3.3", "URL of the retrieval", "does not count", "https://rail.example/2026/summer/index.html", "an inner level gave the base"],
      ["3.4", "No base", "does not count", "an inner level gave the base"],
    ]);
    // Each level is inside the next outer one.
    assert.equal(await page.value("document.querySelector('.level .level .level .level h3 .number').textContent"), "3.1");
    assert.deepEqual(await texts(".legend li"), ["7 rewritten", "1 absolute already", "1 left as it is"]);
    assert.deepEqual(await texts("[data-outcome='left'].link"), ["{{ next_season }}"]);
    assert.deepEqual(await texts("del"), [".."]);
    assert.deepEqual((await texts("ins")).slice(0, 4), [
      "https://rail.example",
      "https://rail.example/trains/",
      "https://rail.example/trains/",
      "https://rail.example/trains/",
    ]);
    assert.deepEqual((await text("#resolvers table")).split(/[\t\n]+/), [
      "../../contact.html#desk in line 8",
      "RFC 1808", "https://rail.example/../contact.html#desk",
      "RFC 3986", "https://rail.example/contact.html#desk",
      "URL Standard", "https://rail.example/contact.html#desk",
    ]);
  });

  test("a link under the pointer shows its base, rule and target", async () => {
    const place = await page.value(`{
      const { x, y, width } = [...document.querySelectorAll(".link")].find((one) => one.textContent === "?day=mon").getBoundingClientRect();
      [x + width / 2, y + 5];
    }`);
    await page.send("Input.dispatchMouseEvent", { type: "mouseMoved", x: place[0], y: place[1] });
    assert.deepEqual(await texts("#details dt"), ["Link", "Base", "Rule", "Leads to", "Outcome"]);
    assert.deepEqual(await texts("#details dd"), [
      "?day=mon in a[href], line 7",
      "https://rail.example/trains/",
      "3.1, <base href>",
      "https://rail.example/trains/?day=mon",
      "rewritten",
    ]);
  });

  test("Tab reaches a link, and arrows the others", async () => {
    await page.value("document.getElementById('edit').focus()");
    await page.press("Tab");
    assert.equal(await page.value("document.activeElement.className"), "link current");
    await page.press("End");
    assert.equal(await page.value("document.activeElement.textContent"), "{{ next_season }}");
    assert.equal((await texts("#details dd"))[4], "left as it is: placeholder");
    await page.press("ArrowRight");
    assert.equal(await page.value("document.activeElement.textContent"), "{{ next_season }}");
    await page.press("Tab");
    assert.equal(await page.value("document.activeElement.id"), "download");
  });

  test("every control has a name, and the page has its landmarks and headings", async () => {
    const { nodes } = await page.send("Accessibility.getFullAXTree");
    const seen = nodes.filter(({ ignored }) => !ignored);
    const named = ["button", "textbox", "combobox", "region", "group", "form"];
    for (const { role, name } of seen.filter(({ role }) => named.includes(role.value))) assert(name?.value, role.value);
    const roles = seen.map(({ role }) => role.value);
    for (const role of ["banner", "main", "contentinfo", "region", "status"]) assert(roles.includes(role), role);
    assert.deepEqual(await texts("h1, h2"), [
      "What a link means depends on its base.",
      "The document\ntimetable.html",
      "Its base",
      "The same, with absolute links",
      "Where the standards differ",
    ]);
  });

  test("nothing is wider than the window, and every text has a contrast of 4.5, in light and dark", async () => {
    for (const title of ["a page", "a mail"]) {
      await example(title);
      for (const [width, scheme] of [[1280, "light"], [1280, "dark"], [390, "light"], [390, "dark"]]) {
        await page.size(width);
        await page.scheme(scheme);
        assert.equal(await page.value("document.documentElement.scrollWidth - document.documentElement.clientWidth"), 0);
        assert.deepEqual(await page.value(`(${faint})()`), [], `${width} ${scheme}`);
      }
    }
    const dark = await page.value("getComputedStyle(document.body).backgroundColor");
    await page.scheme("light");
    assert.notEqual(await page.value("getComputedStyle(document.body).backgroundColor"), dark);
    await page.size(1280);
  });

  test("markup and scripts in a document stay text, and no request is sent", async () => {
    const planted = `<base href="javascript:planted=1"><script>planted=1</script><img src=x onerror=planted=1>
<svg onload=planted=1><a href="javascript:planted=1">a</a><iframe srcdoc="<script>parent.planted=1</script>"></iframe>
<link rel=stylesheet href=https://a.example/x.css><style>@import "https://a.example/y.css";</style>`;
    await drop(Buffer.from(planted), "<img src=x onerror=planted=1>.html");
    assert.equal(await text("#text"), planted);
    await type("url", "https://a.example/<img src=x onerror=planted=1>");
    await page.value("document.querySelector('#text').querySelectorAll('.link').forEach((link) => link.click())");
    await page.value("document.getElementById('edit').click()");
    await page.value("document.getElementById('edit').click()");
    await type("resolver", "whatwg");
    await type("resolver", "rfc1808");
    assert.equal(await page.value("typeof planted"), "undefined");
    const names = await page.value("[...new Set([...document.querySelectorAll('main *')].map((one) => one.localName))]");
    assert.deepEqual(names.filter((name) => ["script", "img", "svg", "a", "iframe", "link", "style", "base"].includes(name)), []);
    await type("url", "b/c");
    assert.match(await text("#error"), /absolute/);

    const requests = page.events.filter(({ method }) => method === "Network.requestWillBeSent").map(({ params }) => params.request.url);
    assert.deepEqual(requests.filter((url) => !url.startsWith("data:")), [file]);
    const problems = page.events.filter(({ method }) => ["Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled"].includes(method));
    assert.deepEqual(problems, []);
    // The policy applies to the page's own script, too.
    const attempt = (work) => page.value(`new Promise((resolve) => setTimeout(async () => {
      try { resolve(await ${work}) } catch (error) { resolve(error.name) }
    }))`);
    const refused = await attempt(`new Promise((resolve) => {
      addEventListener("securitypolicyviolation", ({ effectiveDirective }) => resolve(effectiveDirective), { once: true });
      fetch("https://a.example/").catch(() => setTimeout(resolve, 1000, "nothing"));
    })`);
    assert.equal(refused, "connect-src");
    assert.equal(await attempt('(document.createElement("p").innerHTML = "<b>")'), "TypeError");
    assert.equal(await attempt('eval("1")'), "EvalError");
  });

  test("pasted and edited text is read as HTML, even if it begins with plain text", async () => {
    await type("url", "https://a.example/");
    await paste("hello <a href=x>");
    assert.equal(await text("#output"), "hello <a href=https://a.example/x>");
    await page.value("document.getElementById('edit').click()");
    await type("input", "é <a href=y>");
    await page.value("document.getElementById('edit').click()");
    assert.equal(await text("#output"), "é <a href=https://a.example/y>");
  });

  test("another document drops the URL of the example, and keeps one that was typed", async () => {
    const url = () => page.value("document.getElementById('url').value");
    const replace = async () => {
      await page.value("document.getElementById('edit').click(); document.getElementById('input').select()");
      await paste("<a href=new>", "#input");
    };
    for (const next of [() => paste("<a href=new>"), () => drop(Buffer.from("<a href=new>"), "new.html"), replace]) {
      await example("a page");
      assert.equal(await url(), "https://rail.example/2026/summer/index.html");
      await next();
      assert.equal(await url(), "");
      assert.equal(await text("#output"), "<a href=new>");
      assert.deepEqual(await texts("[aria-pressed=true]"), []);
      await type("url", "https://a.example/");
      await next();
      assert.equal(await url(), "https://a.example/");
      assert.equal(await text("#output"), "<a href=https://a.example/new>");
    }
    await example("a WARC record");
    await paste("<a href=new>");
    assert.equal(await url(), "", "the URL of the record");
  });

  test("with an invalid URL, the document is shown without a URL", async () => {
    const message = "url: 'b/c' cannot be a base URL: give an absolute URL, with a scheme. The document is shown without this URL.";
    await example("a page");
    await type("url", "b/c");
    assert.equal(await text("#error"), message);
    assert.equal(await text("#text .link:nth-of-type(2)"), "css/print.css");
    assert.match(await text("#output"), /<link rel="stylesheet" href="css\/print.css">/);
    await paste("<base href=https://a.example/><a href=new>");
    assert.equal(await text("#error"), message);
    assert.equal(await text("#output"), "<base href=https://a.example/><a href=https://a.example/new>");
    await type("url", "");
    assert.equal(await text("#error"), "");
  });

  test("a mail has the bases of its parts, and a WARC file its first response", async () => {
    await example("a mail");
    assert.deepEqual(await texts(".parts code"), ["http://www.example.net/letters/", "http://www.example.org/guide/", "http://www.example.edu/"]);
    await example("a WARC record");
    assert.equal(await page.value("document.getElementById('url').value"), "https://a.example/guide/");
    assert.deepEqual(await texts("ins"), ["https://a.example/guide/", "https://a.example", "https:"]);
    // The file begins with a record of another type.
    await drop(readFileSync(join(root, "fixtures", "archive", "plain.warc")), "plain.warc");
    assert.equal(await text("#name"), "plain.warc");
    assert.equal(await text("#text"), "HTTP/1.1 200 OK\r\n\r\n<p>");
  });

  test("from a server, the page requests nothing but itself", async (t) => {
    const server = await serve({ "/": ["text/html", readFileSync(new URL(file))] });
    t.after(server.end);
    const other = await browser.open(server.url);
    await other.until("document.querySelector('#chain .level')");
    assert.equal(await other.value("document.querySelectorAll('ins').length"), 7);
    assert.deepEqual(server.asked, ["/"]);
  });

  test("a compressed or too large file is reported", async () => {
    await drop(readFileSync(join(root, "fixtures", "archive", "members.warc.gz")), "members.warc.gz");
    assert.equal(await text("#note"), "This file is compressed by gzip. Unpack it first.");
    await page.value(`{
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([new Uint8Array(64_000_001)], "huge"));
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    }`);
    await page.until("document.getElementById('error').textContent");
    assert.equal(await text("#error"), "huge is too large for this page, which reads 64 MB. The command baselink reads any size.");
  });

  test("removing the marked insertions gives the document, and removing the deletions gives the result", async () => {
    const isText = (input) => Buffer.from(input.toString()).equals(input);
    const known = [...cases()].filter(({ options, input }) => ["html", "message", "http"].includes(options?.format) && isText(input));
    assert(known.length > 200, `${known.length}`);
    const url = "https://u.example/a/b.html";
    await type("url", url);
    const shown = await page.value(`(${showAll})(${JSON.stringify(known.map(({ input }) => input.toString()))})`);
    for (const [at, { name, input }] of known.entries()) {
      const output = new TextDecoder("utf-8", { ignoreBOM: true }).decode(rewrite(input, { url }));
      assert.deepEqual(shown[at], [input.toString(), output], name);
    }
  });

  test("a large document is shown in part, and downloaded as a whole", async () => {
    const folder = mkdtempSync(join(tmpdir(), "baselink-"));
    try {
      await page.send("Page.setDownloadBehavior", { behavior: "allow", downloadPath: folder });
      await type("url", "https://a.example/");
      // 800 links of 10 bytes, and 250,000 bytes of text in windows-1252 with CR LF.
      const large = Buffer.concat([Buffer.from("<p>\r\n"), Buffer.alloc(8000, "<a href=x>"), Buffer.alloc(250_000, "\xe9\r\n", "latin1"), Buffer.from("<a href=y>")]);
      await drop(large, "large.html");
      assert.equal(
        await text("#more"),
        "The first 200,000 bytes of 258,015 bytes are shown. The first 500 links of 801 links are marked. The download is complete.",
      );
      assert.equal(await page.value("document.querySelectorAll('.link').length"), 500);
      assert.equal(await page.value("document.querySelectorAll('#output ins').length"), 500);
      assert.equal(await page.value("document.getElementById('text').textContent.length"), 200_000);
      const expected = rewrite(large, { url: "https://a.example/" });
      assert.equal(expected.length, large.length + 801 * "https://a.example/".length);
      assert.deepEqual(await downloaded(folder, "absolute-large.html"), Buffer.from(expected));

      // Two million bytes of links are too many to be listed.
      const larger = Buffer.concat([Buffer.alloc(2_000_000, "<a href=x>"), Buffer.from("<base href=/d/>")]);
      await drop(larger, "larger.html");
      assert.equal(await text("#result strong"), "https://a.example/d/");
      assert.equal(
        await text("#more"),
        "The links of a document of more than 2 MB are not listed. The first 200,000 bytes of 2,000,015 bytes are shown. The download is complete.",
      );
      assert.equal(await text("#edits"), "A document of this size is rewritten when you download it.");
      assert.deepEqual(await downloaded(folder, "absolute-larger.html"), Buffer.from(rewrite(larger, { url: "https://a.example/" })));
    } finally {
      rmSync(folder, { recursive: true, maxRetries: 5 });
    }
  });
});

/** Runs in the page: drops each text, and returns the output without insertions, and without deletions. */
async function showAll(texts) {
  const shown = [];
  for (const [at, text] of texts.entries()) {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([text], `case ${at}`));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    while (document.getElementById("name").textContent !== `case ${at}`) await new Promise((resolve) => setTimeout(resolve, 1));
    const without = (name) => {
      const copy = document.getElementById("output").cloneNode(true);
      for (const element of copy.querySelectorAll(name)) element.remove();
      return copy.textContent;
    };
    shown.push([without("ins"), without("del")]);
  }
  return shown;
}

/** Runs in the page: the elements whose text has a contrast with its background below 4.5. */
function faint() {
  const context = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const painted = (...colours) => {
    context.clearRect(0, 0, 1, 1);
    for (const colour of colours) {
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
    }
    const parts = [...context.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => part / 255);
    const [red, green, blue] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
    if (!hasText || !element.checkVisibility()) continue;
    const behind = [];
    for (let around = element; around; around = around.parentElement) behind.unshift(getComputedStyle(around).backgroundColor);
    const [lighter, darker] = [painted(...behind), painted(...behind, getComputedStyle(element).color)].sort((a, b) => b - a);
    const contrast = (lighter + 0.05) / (darker + 0.05);
    if (contrast < 4.5) found.push(`${element.localName} ${element.className} ${contrast.toFixed(2)}`);
  }
  return found;
}
