// The package in Node: arguments and errors, strings, streams, memory, and the entry point for browsers.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import init, * as baselink from "../pkg/node.mjs";
import { pkg } from "./cases.mjs";
import { serve } from "./chromium.mjs";

const { base, detect, initSync, links, messages, relativize, resolve, rewrite, rewriteReport, RewriterStream, version } = baselink;
const url = "https://a.example/b/c.html";
const bytes = (text) => new TextEncoder().encode(text);

function fails(work, message) {
  assert.throws(work, (error) => {
    assert.equal(error.message, message);
    return error instanceof TypeError;
  });
}

test("a string gives a string, and bytes give bytes", () => {
  assert.equal(rewrite("<a href=../x>", { url }), "<a href=https://a.example/x>");
  assert.deepEqual(rewrite(bytes("<a href=../x>"), { url }), bytes("<a href=https://a.example/x>"));
  // A Buffer is a Uint8Array. The result is a plain Uint8Array with a memory of its own.
  const output = rewrite(Buffer.from("<p>"), { url });
  assert.deepEqual([output.constructor, output.buffer.byteLength], [Uint8Array, 3]);
  assert.equal(rewrite("", { url }), "");
  assert.equal(rewrite("<a href=x>"), "<a href=x>");
});

test("an ArrayBuffer and every view of one are bytes, in any realm (bug 403)", async () => {
  const page = Uint8Array.from([0, 0, ...bytes("<a href=../x>")]);
  const parts = [page.slice(2).buffer, new DataView(page.buffer, 2), new Uint8ClampedArray(page.buffer, 2)];
  for (const data of [...parts, runInNewContext("new Uint8Array(list).buffer", { list: [...page.slice(2)] })]) {
    const output = rewrite(data, { url });
    assert.deepEqual(output, bytes("<a href=https://a.example/x>"));
    assert.deepEqual(rewriteReport(data, { url }).output, output);
    assert.deepEqual(links(data, { url }).map(({ start }) => start), [8]);
    const chunks = new ReadableStream({ start: (controller) => (controller.enqueue(data), controller.close()) });
    assert.equal(await new Response(chunks.pipeThrough(new RewriterStream({ url }))).text(), "<a href=https://a.example/x>");
  }
  assert.deepEqual(page.slice(2), bytes("<a href=../x>"));
});

test("a string is UTF-8, whatever it declares", () => {
  const page = "<meta charset=windows-1252><a href='é'>";
  const beginning = "<meta charset=windows-1252><a href='https://a.example/b/";
  assert.equal(rewrite(page, { url, resolver: "whatwg" }), `${beginning}%C3%A9'>`);
  const asBytes = rewrite(bytes(page), { url, resolver: "whatwg" });
  assert.equal(new TextDecoder().decode(asBytes), `${beginning}%C3%83%C2%A9'>`);
  assert.equal(rewrite("\ufeff<a href=x>", { url }), "\ufeff<a href=https://a.example/b/x>");
});

test("a string is never decoded; `charset` is the encoding of its queries (bug 725)", () => {
  // URL Standard, 4.4: a query has the encoding of its document, or UTF-8 if that is UTF-16.
  const page = "<meta charset=koi8-r><a href='/é?é'>é</a>";
  for (const [charset, query] of [["latin1", "%E9"], ["utf-8", "%C3%A9"], ["utf-16le", "%C3%A9"], [null, "%C3%A9"], [undefined, "%C3%A9"]]) {
    const options = { url, charset, resolver: "whatwg" };
    const expected = page.replace("/é?é", `https://a.example/%C3%A9?${query}`);
    assert.equal(rewrite(page, options), expected);
    assert.equal(rewriteReport(page, options).output, expected);
    assert.deepEqual(links(page, options).map(({ start, end, target }) => [page.slice(start, end), target]), [["/é?é", `https://a.example/%C3%A9?${query}`]]);
    assert.equal(base("<base href='/é'>", options).base, "https://a.example/%C3%A9");
  }
  assert.throws(() => rewrite("", { charset: "x" }), { name: "TypeError", message: /^charset: unknown encoding 'x'/ });
});

test("a string that would need bytes of another encoding stays (bug 729)", () => {
  const message = "Content-Type: text/html; charset=iso-8859-1\n\n<a href=x>";
  const options = { url: "http://h/", choose: () => "é" };
  assert.equal(rewrite(message, options), message);
  assert.equal(rewriteReport(message, options).output, message);
  assert.match(rewrite(message, { url: "http://h/" }), /http:\/\/h\/x/);
});

test("a lone surrogate is U+FFFD, in every string", () => {
  assert.equal(rewrite("<a href=x>\ud800<p>\udc00", { url }), "<a href=https://a.example/b/x>\ufffd<p>\ufffd");
  assert.equal(links("<a href=x>", { url: "https://a.example/\ud800/" })[0].base, "https://a.example/\ufffd/");
  assert.equal(resolve("https://a.example/", "\udfffx"), "https://a.example/\ufffdx");
  assert.equal(rewrite("<a href=x>😀", { url }), "<a href=https://a.example/b/x>😀");
});

test("`choose` gets each link, and its reference is escaped for the place", () => {
  const page = `<a href="/a?b&amp;c">é</a><img src='//i.example/x.png' srcset="y 2x" style="background: url(z)">`;
  const seen = [];
  const choose = (link) => {
    seen.push(link);
    if (link.kind === "document") return undefined;
    return link.element === "img" && link.attribute === "src" ? null : `/p?a&u='${link.target.slice(18)}")`;
  };
  // Quotes and parentheses end a URL without quotes in CSS (CSS Syntax 3, 4.3.6).
  assert.equal(
    rewrite(page, { url, choose }),
    `<a href="/a?b&amp;c">é</a><img src='//i.example/x.png' srcset="/p?a&amp;u='b/y&quot;) 2x" style="background: url(/p?a&amp;u=%27b/z%22%29)">`,
  );
  assert.deepEqual(seen.map(({ attribute, target }) => [attribute, target]), [
    ["href", "https://a.example/a?b&c"],
    ["src", "https://i.example/x.png"],
    ["srcset", "https://a.example/b/y"],
    ["style", "https://a.example/b/z"],
  ]);
  assert.deepEqual(seen[0], {
    entity: "",
    line: 0,
    column: 0,
    start: 9,
    end: 19,
    element: "a",
    attribute: "href",
    reference: "/a?b&c",
    base: url,
    rule: "3.3",
    source: "retrieval",
    target: "https://a.example/a?b&c",
    role: "navigation",
    outcome: "rewritten",
    reason: null,
    kind: "document",
    rel: null,
  });
});

test("`choose` works for parts of a message, in bytes, in a report and in a stream", async () => {
  const mail = "Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n<img src=3D'x'>=C3=A9\n";
  const expected = "Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n<img src=3D'https://p.example/?u=3Dx'>=C3=A9\n";
  const options = { url, choose: ({ reference }) => new URL(`https://p.example/?u=${reference}`) };
  assert.equal(rewrite(mail, options), expected);
  const { output, counts, reasons } = rewriteReport(bytes(mail), { ...options, choose: undefined });
  assert.notDeepEqual(output, bytes(expected));
  const report = rewriteReport(bytes(mail), options);
  assert.deepEqual([report.output, report.counts, report.reasons], [bytes(expected), counts, reasons]);
  assert.deepEqual(rewriteReport("<a href=x>", { url, choose: () => {} }).reasons, { kept: 1 });
  const stream = new Blob([mail]).stream().pipeThrough(new RewriterStream(options));
  assert.equal(await new Response(stream).text(), expected);
});

test("an exception in `choose` comes out of the call", async () => {
  const error = new Error("no");
  let calls = 0;
  const choose = () => {
    calls += 1;
    throw error;
  };
  for (const work of [rewrite, rewriteReport]) {
    calls = 0;
    assert.throws(() => work("<a href=x><a href=y>", { url, choose }), (thrown) => thrown === error);
    assert.equal(calls, 1);
  }
  const stream = new Blob(["<a href=x>"]).stream().pipeThrough(new RewriterStream({ url, choose }));
  await assert.rejects(new Response(stream).text(), (thrown) => thrown === error);
  const nothing = () => {
    throw undefined;
  };
  assert.throws(() => rewrite("<a href=x>", { url, choose: nothing }), (thrown) => thrown === undefined);
  assert.equal(rewrite("<a href=x>", { url }), "<a href=https://a.example/b/x>");
});

test("`choose` may call the package", () => {
  const choose = ({ target }) => rewrite(`/${links(`<a href="${target}">`).length}`) + resolve(target, "?z");
  assert.equal(rewrite("<a href=x><a href=y>", { url, choose }), "<a href=/1https://a.example/b/x?z><a href=/1https://a.example/b/y?z>");
});

test("`choose` is a function that returns a string, and only for documents that are rewritten", () => {
  fails(() => rewrite("<a href=x>", { url, choose: "x" }), "choose must be a function");
  fails(() => rewrite("<a href=x>", { url, choose: async () => "x" }), "the result of choose must be a string, and not a promise");
  fails(() => new RewriterStream({ choose: 1 }), "choose must be a function");
  fails(() => links("<a href=x>", { url, choose: () => "x" }), "choose is an option of rewrite, rewriteReport and RewriterStream");
  fails(() => base("<a href=x>", { url, choose: () => "x" }), "choose is an option of rewrite, rewriteReport and RewriterStream");
});

test("a link has the keys of the command, and offsets in bytes", () => {
  assert.deepEqual(links(bytes("é\n<img srcset='y 2x'>"), { url, format: "html" }), [
    {
      entity: "",
      line: 2,
      column: 14,
      start: 16,
      end: 17,
      element: "img",
      attribute: "srcset",
      reference: "y",
      base: url,
      rule: "3.3",
      source: "retrieval",
      target: "https://a.example/b/y",
      role: "embedded",
      outcome: "rewritten",
      reason: null,
      kind: "image",
      rel: null,
    },
  ]);
  assert.deepEqual(links("a { background: url(#) }", { format: "css" }).map(({ element, attribute }) => [element, attribute]), [
    [null, null],
  ]);
});

test("offsets and columns of a string count UTF-16 code units (bug 375)", () => {
  for (const before of ["", "é", "€😀", "\ud800", "\ufeff", "é".repeat(31), "😀".repeat(16), "€".repeat(1000)]) {
    for (const end of ["", "\n", "\r\n"]) {
      const page = `${before}${end}${before}<a href=/é😀>${before}<img src=x>`;
      const found = links(page, { url, format: "html" });
      assert.deepEqual(found.map(({ start, end }) => page.slice(start, end)), ["/é😀", "x"]);
      const line = before.length + end.length;
      for (const { start, column } of found) assert.equal(column, start + 1 - (end ? line : 0));
    }
  }
});

test("a report has counts, reasons and diagnostics (bug 374)", () => {
  const page = "<img src=''><a href=x><a href=mailto:y>\n<a href='z";
  const { output, links: listed, diagnostics, ...report } = rewriteReport(page, { url });
  assert.equal(output, rewrite(page, { url }));
  const counts = { rewritten: 1, absolute: 1, "no-base": 0, left: 1, "not-editable": 0 };
  assert.deepEqual(report, { counts, reasons: { empty: 1 } });
  assert.equal(listed.length, 3);
  assert.deepEqual(diagnostics, []);
  const [{ message, ...found }] = rewriteReport("é\n<base href=/x>", { url }).diagnostics;
  assert.match(message, /^the href of this base element is relative, but RFC 1808/);
  assert.deepEqual(found, { code: "base-relative", line: 2, column: 1, start: 2, end: 16 });
  assert.deepEqual(rewriteReport(bytes(page), { url }).output, bytes(output));
  fails(() => rewriteReport(page, { url: 1 }), "url must be a string");
});

test("a report lists the links, too (bug 730)", () => {
  const page = "é<a href=x><img src=''>";
  for (const data of [page, bytes(page)]) assert.deepEqual(rewriteReport(data, { url }).links, links(data, { url }));
});

test("detect, messages and version (bug 731)", () => {
  assert.equal(detect("a.svg", bytes("")), "svg");
  for (const name of [null, undefined, "inbox"]) assert.equal(detect(name, bytes("From: me@h.example\n\n")), "message");
  assert.equal(detect(null, bytes("WARC/1.1\r\n")), "warc");
  // RFC 4155: the line `From ` and the empty line before the next one are not part of a message.
  const mailbox = "From a\nSubject: x\n\ny\n\nFrom b\nSubject: z\n\nw\n";
  assert.deepEqual(messages(bytes(mailbox)), [bytes("Subject: x\n\ny\n"), bytes("Subject: z\n\nw\n")]);
  fails(() => detect(1, bytes("")), "name must be a string");
  fails(() => detect(null, "x"), "head must be an ArrayBuffer or a Uint8Array");
  fails(() => messages(mailbox), "data must be an ArrayBuffer or a Uint8Array");
  assert.equal(version, JSON.parse(readFileSync(join(pkg, "package.json"))).version);
});

test("a base has levels, each with its reason", () => {
  const message = "Content-Type: text/html\nContent-Base: https://b.example/\n\n<a href=x>";
  const found = base(message, { format: "message" });
  assert.deepEqual([found.base, found.rule, found.source], ["https://b.example/", "3.1", "content-base"]);
  const none = base("<a href=x>");
  assert.deepEqual([none.base, none.rule, none.source], [null, "3.4", "default"]);
  assert.deepEqual(Object.keys(none.chain[0]), ["entity", "rule", "source", "value", "status", "reason"]);
});

test("every option has an effect", () => {
  const cases = [
    ["<a href=?x>", { url: new URL(url) }, "<a href=https://a.example/b/c.html?x>"],
    ["a <a href=x>", { format: "html" }, "a <a href=https://a.example/b/x>"],
    ["<a href=x>", { format: "other" }, "<a href=x>"],
    ["<a href=../../../x>", { resolver: "whatwg" }, "<a href=https://a.example/x>"],
    ["<a href=#x>", { fragments: "keep" }, "<a href=#x>"],
    ["<base href=/d/><a href=x>", { baseElement: "keep" }, "<base href=/d/><a href=https://a.example/d/x>"],
    ["<img data-src=x.gif>", { enable: "lazy" }, "<img data-src=https://a.example/b/x.gif>"],
    ["<img data-src=x.gif>", { enable: ["social", "lazy"] }, "<img data-src=https://a.example/b/x.gif>"],
    ["<img data-src=x.gif>", { enable: new Set(["social", "lazy"]) }, "<img data-src=https://a.example/b/x.gif>"],
    ["<p y=x z=x>", { attributes: new Set(["p[y]=url"]).values() }, "<p y=https://a.example/b/x z=x>"],
    ["<p y=x z=x>", { attributes: ["p[y]=url", "p[z]=url"] }, "<p y=https://a.example/b/x z=https://a.example/b/x>"],
    ["<a href=//h/x>", { url: null, assumeScheme: "https" }, "<a href=https://h/x>"],
    ["<a href=x>", { fragments: undefined, dkim: null }, "<a href=https://a.example/b/x>"],
    ["Content-Location: http://d/\nContent-Type: text/html\n\n<a href=x>", { contentLocation: "label", url: "http://a/" }, /http:\/\/a\/x/],
    ["DKIM-Signature: v=1; h=to; bh=x; b=y\nContent-Type: text/html\n\n<a href=x>", { dkim: "keep" }, /<a href=x>/],
    ["<!-- saved from url=(0019)https://a.example/ --><img src=c_files/x>", { localCopies: "rewrite" }, /src=https/],
  ];
  for (const [page, options, expected] of cases) {
    const output = rewrite(page, { url, ...options });
    if (expected instanceof RegExp) assert.match(output, expected);
    else assert.equal(output, expected);
  }
  const latin = rewrite(Uint8Array.of(...bytes("<a href='?"), 0xe9, ...bytes("'>")), { url, charset: "latin1", resolver: "whatwg" });
  assert.equal(new TextDecoder().decode(latin), "<a href='https://a.example/b/c.html?%E9'>");
});

const NOT_DATA = "data must be a string, an ArrayBuffer or a Uint8Array";
const NOT_OPTIONS = 'options must be an object, such as { url: "https://…" }';
const ALL_OPTIONS =
  "url, format, charset, resolver, fragments, baseElement, enable, attributes, localCopies, assumeScheme, contentLocation, dkim";

test("a wrong argument throws a TypeError with one sentence", () => {
  fails(() => rewrite(), NOT_DATA);
  fails(() => links(Promise.resolve("")), `${NOT_DATA}: await it first`);
  fails(() => links(new Response("")), `${NOT_DATA}: pass await data.arrayBuffer()`);
  fails(() => links(new Blob([]).stream()), `${NOT_DATA}: use data.pipeThrough(new RewriterStream(options))`);
  fails(() => base("", null), NOT_OPTIONS);
  fails(() => rewrite("", { url: 1 }), "url must be a string");
  fails(() => rewrite("", { format: ["html"] }), "format must be a string");
  fails(() => rewrite("", { enable: ["lazy", 1] }), "enable must be a string");
  fails(() => rewrite("", { format: "warc" }), "format 'warc' is an archive of documents: the command baselink reads it");
  fails(() => resolve(url), "reference must be a string");
  fails(() => rewrite("", { format: "script" }), "format 'script' requires enable 'scripts'; by default such files have no links");
});

test("an option that is not there names the one that was meant (bug 401)", () => {
  for (const name of ["baseUrl", "base_url", "baseURI", "base", "href", "URL", "urll"]) {
    // The name is reported first, whatever the value is.
    for (const value of [url, 1, {}]) fails(() => rewrite("", { [name]: value }), `unknown option '${name}'; did you mean 'url'?`);
  }
  fails(() => base("", { base_element: "keep" }), "unknown option 'base_element'; did you mean 'baseElement'?");
  fails(() => links("", { encoding: "utf-8" }), "unknown option 'encoding'; did you mean 'charset'?");
  fails(() => new RewriterStream({ resolvr: "whatwg" }), "unknown option 'resolvr'; did you mean 'resolver'?");
  fails(() => rewrite("", { indent: 2 }), `unknown option 'indent': the options are ${ALL_OPTIONS}`);
  fails(() => resolve(url, "x", { url: 1 }), "unknown option 'url': the options are resolver");
});

test("an option of RewriterStream is named as such (bug 402)", () => {
  for (const read of [rewrite, links, base]) fails(() => read("", { maxBytes: 9 }), "maxBytes is an option of RewriterStream");
});

test("an error about a value names its option (bug 404)", () => {
  fails(() => rewrite("", { url: "b/c" }), "url: 'b/c' cannot be a base URL: give an absolute URL, with a scheme");
  fails(() => rewrite("", { assumeScheme: "mailto" }), "assumeScheme: URLs of the scheme 'mailto' have no host; use one such as https");
  fails(() => new RewriterStream({ dkim: "x" }), "dkim: unknown value 'x'; use rewrite or keep");
  fails(() => rewrite("", { contentLocation: "x" }), "contentLocation: unknown value 'x'; use base or label");
  fails(() => resolve(url, "x", { resolver: "x" }), "resolver: unknown resolver 'x'; use one of rfc1808, rfc3986, whatwg");
  for (const name of ["format", "charset", "fragments", "baseElement", "enable", "attributes", "localCopies"]) {
    assert.throws(() => rewrite("", { [name]: "x" }), (error) => error instanceof TypeError && error.message.startsWith(`${name}: `));
  }
});

test("a URL in place of the options names the option (bug 405)", () => {
  for (const given of [url, new URL(url)]) {
    for (const read of [rewrite, rewriteReport, links, base]) fails(() => read("", given), NOT_OPTIONS);
    fails(() => new RewriterStream(given), NOT_OPTIONS);
  }
  fails(() => resolve(url, "x", "whatwg"), 'options must be an object, such as { resolver: "whatwg" }');
});

test("a URL that is absolute, but cannot be a base, leaves the links (bug 407)", () => {
  const { output, reasons } = rewriteReport("<a href=x>", { url: "urn:x:y" });
  assert.deepEqual([output, reasons], ["<a href=x>", { "base-unusable": 1 }]);
});

test("a wrong base is a TypeError", () => {
  assert.throws(() => resolve("x", "y"), TypeError);
  assert.throws(() => relativize("x", "y"), TypeError);
  assert.throws(() => resolve("mailto:a@b", "y"), TypeError);
  for (const read of [resolve, relativize]) fails(() => read("x", "y"), "base: 'x' cannot be a base URL: give an absolute URL, with a scheme");
  fails(() => resolve("mailto:a@b", "y"), "reference: 'y' has no target: the scheme of the base URL has no relative form");
});

test("a reference is resolved, and made relative", () => {
  assert.equal(resolve("https://a.example/b", "../g"), "https://a.example/../g");
  assert.equal(resolve(new URL("https://a.example/b"), "../g", { resolver: "whatwg" }), "https://a.example/g");
  assert.equal(relativize("https://a.example/b/c/d", "https://a.example/b/g"), "../g");
});

test("HTML may begin with text (bug 362)", () => {
  for (const start of ["hello ", "&nbsp;", "\u{1f600}", "# Markdown\n\n", "{} "]) {
    const page = `${start}<a href=x>`;
    assert.equal(rewrite(page, { url }), `${start}<a href=https://a.example/b/x>`);
    assert.equal(Buffer.from(rewrite(bytes(page), { url })).toString(), `${start}<a href=https://a.example/b/x>`);
    assert.equal(links(page, { url }).length, 1);
  }
  for (const read of [rewrite, links, base]) {
    fails(() => read("WARC/1.1\r\n"), "format 'warc' is an archive of documents: the command baselink reads it");
  }
  assert.deepEqual(links(bytes("\0<a href=x>")), []);
});

test("any bytes are a document", () => {
  let state = 1808;
  const random = (below) => (state = (state * 1103515245 + 12345) % 2147483648) % below;
  const pieces = ["<a href=x>", "<!--", "<svg><style>@import 'x';", "From x\nContent-Type: multipart/mixed; boundary=a\n\n--a\n", "HTTP/1.1 200 OK\r\n\r\n", "WARC/1.0\r\n", "\0", "<base href='../y'>"];
  for (const format of ["html", "xhtml", "svg", "xml", "css", "message", "mbox", "http", "other", undefined]) {
    for (let count = 0; count < 100; count++) {
      const noise = Uint8Array.from({ length: random(40) }, () => random(256));
      const text = Array.from({ length: random(8) }, () => pieces[random(pieces.length)]).join("");
      if (!format && text.startsWith("WARC")) continue; // An archive.
      const document = Buffer.concat([bytes(text), noise, bytes(text)]);
      rewrite(document, { url, format });
      assert(Array.isArray(links(document, { url, format })));
      assert.equal(typeof base(document, { url, format }).rule, "string");
    }
  }
});

test("a stream is rewritten at its end", async () => {
  const source = new Blob(["<a href=x>", "<base href=/d/>"]).stream();
  const output = await new Response(source.pipeThrough(new RewriterStream({ url }))).text();
  assert.equal(output, "<a href=https://a.example/d/x><base href=https://a.example/d/>");
  const empty = await new Response(new Blob([]).stream().pipeThrough(new RewriterStream())).text();
  assert.equal(empty, "");
  const text = new ReadableStream({ start: (controller) => controller.enqueue("<p>") });
  await assert.rejects(new Response(text.pipeThrough(new RewriterStream())).text(), new TypeError("a chunk must be a Uint8Array: use a TextEncoderStream first"));
});

test("a stream copies its chunks, because the writer may fill them again (bug 722)", async () => {
  const page = bytes("<p>Text</p>".repeat(9000) + "<a href=x>");
  for (const length of [7, 4096, 65536, 65537]) {
    const stream = new RewriterStream({ url });
    const output = new Response(stream.readable).text();
    const [writer, buffer] = [stream.writable.getWriter(), new Uint8Array(length)];
    for (let at = 0; at < page.length; at += length) {
      const part = page.subarray(at, at + length);
      buffer.set(part);
      await writer.write(buffer.subarray(0, part.length));
    }
    await writer.close();
    assert.ok((await output) === new TextDecoder().decode(page).replace("x>", "https://a.example/b/x>"), `chunks of ${length} bytes`);
  }
});

const PEAK = `
const { RewriterStream } = require(process.argv[1]);
const [size, step] = process.argv.slice(2).map(Number);
const stream = new RewriterStream();
const chunk = new Uint8Array(step).fill(32);
const before = process.resourceUsage().maxRSS;
let length = 0;
async function read() {
  for await (const piece of stream.readable) length += piece.length;
}
async function write() {
  const writer = stream.writable.getWriter();
  for (let at = 0; at < size; at += step) await writer.write(chunk);
  await writer.close();
}
Promise.all([read(), write()]).then(() => console.log(length, ((process.resourceUsage().maxRSS - before) * 1024) / size));
`;

test("a stream takes less than three times the memory of a document with few links (bug 723)", () => {
  const size = 64 << 20;
  for (const step of [1 << 12, 1 << 16, 1 << 20]) {
    const found = spawnSync(process.execPath, ["-e", PEAK, join(pkg, "node.cjs"), size, step], { encoding: "utf8" });
    const [length, times] = found.stdout.split(" ").map(Number);
    assert.equal(length, size, found.stderr);
    assert.ok(times < 3, `${times} times with chunks of ${step} bytes`);
  }
});

test("a stream is no longer than maxBytes (bug 373)", async () => {
  const source = () => new Blob(["<a href=x>"]).stream();
  const output = (maxBytes) => new Response(source().pipeThrough(new RewriterStream({ url, maxBytes }))).text();
  for (const most of [10, 1e9, null, undefined]) assert.equal(await output(most), "<a href=https://a.example/b/x>");
  for (const most of [9, 0, NaN]) await assert.rejects(output(most), new RangeError(`maxBytes: the document has more than ${most} bytes`));
  fails(() => new RewriterStream({ maxBytes: "9" }), "maxBytes must be a number");
  fails(() => new RewriterStream(null), NOT_OPTIONS);
});

test("the example of RewriterStream keeps an absent body, and no header of the old bytes (bug 371)", async (t) => {
  const origin = await serve({ "/b/c": ["text/html", "<a href=x>"] });
  t.after(origin.end);
  const types = readFileSync(join(pkg, "index.d.ts"), "utf8");
  const [, example] = types.match(/@example\n((?: \*.*\n)+) \*\/\nexport class RewriterStream/);
  const rewritten = new Function("response", "RewriterStream", example.replaceAll(/^ \* /gm, ""));
  for (const [init, ...expected] of [
    [{}, 200, `<a href=${origin.url}b/x>`],
    [{ method: "HEAD" }, 200, ""],
    [{ headers: { "if-none-match": '"1"' } }, 304, ""],
  ]) {
    const response = await fetch(`${origin.url}b/c`, init);
    assert.deepEqual([response.headers.has("content-length"), response.headers.has("etag")], [true, true]);
    const changed = rewritten(response, RewriterStream);
    assert.deepEqual([changed.headers.has("content-length"), changed.headers.has("etag")], [false, false]);
    assert.deepEqual([changed.status, await changed.text()], expected);
  }
});

/** Loads the package, with weak references to the memories of its instances. Calls `onMemory` with each new memory. */
async function watched(name, onMemory) {
  const { Instance } = WebAssembly;
  const memories = [];
  WebAssembly.Instance = class extends Instance {
    constructor(...given) {
      super(...given);
      memories.push(new WeakRef(this.exports.memory));
      onMemory?.(this.exports.memory, memories.length);
    }
  };
  const web = await import(`../pkg/web.js?${name}`);
  web.initSync(readFileSync(join(pkg, "baselink.wasm")));
  return { web, memories, end: () => (WebAssembly.Instance = Instance) };
}

test("memory is freed after large documents", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  const { web, memories, end } = await watched("memory");
  const page = Buffer.alloc(60_000_000, "<p>a</p><a href=x>b</a>\n");
  for (const document of [page, page, "<a href=x>"]) web.rewrite(document, { url });
  for (let count = 0; count < 2000; count++) web.links(page.subarray(0, 10_000), { url });
  end();
  assert.equal(memories.length, 3);
  // The target of a weak reference used in this turn is kept until the next one.
  await new Promise((resolve) => setTimeout(resolve));
  collect();
  const kept = memories.map((memory) => memory.deref()?.buffer.byteLength ?? 0);
  assert(kept[2] > 0 && kept[2] < 5e6 && kept[0] + kept[1] === 0, `${kept}`);
});

test("a document that needs too much memory throws a RangeError, and the next one is read", async () => {
  // Takes nearly all memory that the first instance may have.
  const take = (memory, count) => count === 1 && memory.grow(65_536 - memory.buffer.byteLength / 65_536 - 100);
  const { web, memories, end } = await watched("range", take);
  const page = Buffer.alloc(10_000_000, "<a href=x>");
  assert.throws(() => web.rewrite(page, { url }), RangeError);
  assert.equal(web.rewrite("<a href=x>", { url }), "<a href=https://a.example/b/x>");
  end();
  assert.equal(memories.length, 2);
});

test("`require` and `import` give the same functions", async () => {
  const required = createRequire(import.meta.url)("../pkg/node.cjs");
  assert.deepEqual({ ...baselink }, { ...required });
  await init();
  initSync(readFileSync(join(pkg, "baselink.wasm")));
});

test("in a browser the functions wait for `init`, or `initSync`", async () => {
  const file = readFileSync(join(pkg, "baselink.wasm"));
  const response = (type) => new Response(file, { headers: { "content-type": type } });
  for (const [at, source] of [file, new WebAssembly.Module(file), response("application/wasm"), Promise.resolve(response("text/plain"))].entries()) {
    const web = await import(`../pkg/web.js?${at}`);
    fails(() => web.rewrite("<p>"), "baselink is not loaded yet: call `await init()` first");
    await assert.rejects(web.default(new Response("", { status: 404 })), { message: " has the status 404" });
    await Promise.all([web.default(source), web.default(source)]);
    assert.equal(web.rewrite("<a href=x>", { url }), "<a href=https://a.example/b/x>");
  }
  const web = await import("../pkg/web.js?sync");
  web.initSync(file);
  web.initSync(file);
  assert.equal(web.resolve(url, "x"), "https://a.example/b/x");
  assert.deepEqual(Object.keys(web), Object.keys(baselink));
});
