// The script of the page. It reads a document as bytes, and shows its base, its links and the rewritten bytes as text nodes.
//
// build.mjs puts three constants above it: `baselink`, the package; `PACKED`, its compressed WebAssembly in base64; `EXAMPLES`.
//
// Deliberately absent: rules about bases and links, which the package has, and markup made from the text of a document.

/** The maximum number of bytes that are shown of a document. */
const SHOWN = 200_000;
/** The maximum number of marked links. */
const MARKED = 500;
/** The maximum number of rows in other lists. */
const ROWS = 100;
/** The maximum size in bytes of a document. */
const READ = 64_000_000;
/** The maximum size in bytes of a document whose links are listed, which takes a second. A larger one can only be downloaded. */
const LISTED = 2_000_000;
/** The maximum number of links for which the standards are compared. */
const COMPARED = 20_000;

const RESOLVERS = { rfc1808: "RFC 1808", rfc3986: "RFC 3986", whatwg: "URL Standard" };
const LEVELS = {
  3.1: "Embedded in the content",
  3.2: "Base of the enclosing entity",
  3.3: "URL of the retrieval",
  3.4: "No base",
};
const STATUS = { taken: "counts", "passed-over": "does not count", absent: "nothing there", invalid: "cannot serve" };
const SOURCES = {
  "base-element": "<base href>",
  "xml-base": "xml:base",
  "base-header": "field Base",
  "content-base": "field Content-Base",
  "content-location": "field Content-Location",
  "snapshot-content-location": "field Snapshot-Content-Location",
  encapsulating: "the base of the enclosing entity",
  retrieval: "the URL of the retrieval",
  "saved-base": "saved <base>",
  default: "no base",
};
const OUTCOMES = {
  rewritten: "rewritten",
  absolute: "absolute already",
  left: "left as it is",
  "no-base": "without a base",
  "not-editable": "not editable",
};

const $ = (id) => document.getElementById(id);

/** An element with its properties and children; text becomes text nodes. */
function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

function count(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

/** The current document: its bytes, its file name, its encoding if known, and its URL from an example or a WARC record. */
let shown;
/** The options for this document from the form. */
let chosen;
/** The marked links in the order of the text, each with its element. */
let marks = [];

// Reading

/** The decoder with which bytes are shown; the package finds the encoding by itself. */
function decoder(bytes) {
  const mark = bytes[0] * 256 + bytes[1];
  if (mark === 0xfeff) return new TextDecoder("utf-16be");
  if (mark === 0xfffe) return new TextDecoder("utf-16le");
  try {
    // With `stream`, a character that is cut at the end is not an error.
    new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, SHOWN), { stream: true });
    return new TextDecoder("utf-8", { ignoreBOM: true });
  } catch {
    return new TextDecoder("windows-1252");
  }
}

/** The first response record in a WARC file, as bytes and URL; undefined if there is none. The package reads the HTTP message. */
function warc(bytes) {
  const decode = new TextDecoder("latin1");
  if (decode.decode(bytes.subarray(0, 5)) !== "WARC/") return;
  const text = decode.decode(bytes);
  for (let at = 0; text.startsWith("WARC/", at); ) {
    const [end, line] = text.slice(at).match(/\r?\n(\r?\n)/) ?? [];
    if (!end) return;
    const start = text.indexOf(end, at) + end.length;
    const field = (name) => text.slice(at, start).match(new RegExp(`^${name}:[ \\t]*<?(.*?)>?\\r?$`, "im"))?.[1];
    const stop = start + Number(field("Content-Length"));
    if (!(stop >= start)) return;
    if (field("WARC-Type") === "response") return { bytes: bytes.slice(start, stop), url: field("WARC-Target-URI") };
    at = stop + 2 * line.length;
  }
}

/** The URL that the user typed; empty if the URL in the form belongs to the current document. */
function typedUrl() {
  const url = $("url").value;
  return url === shown.url ? "" : url;
}

/** Shows a document, and puts `url` and `format` into the form. Without `url`, a URL that the user typed stays in the form. */
function open(bytes, name, { url, format = "", charset, example } = {}) {
  if (bytes.length > READ) {
    $("error").textContent = `${name} is too large for this page, which reads ${READ / 1e6} MB. The command baselink reads any size.`;
    return;
  }
  const record = warc(bytes);
  $("note").textContent = "";
  if (record) $("note").textContent = "This is the HTTP response in the first such record of a WARC file. The record gave the URL.";
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) $("note").textContent = "This file is compressed by gzip. Unpack it first.";
  if (record) ({ bytes, url, format } = { ...record, format: "http" });
  $("url").value = url ?? typedUrl();
  shown = { bytes, name: record ? `${name}.http` : name, charset, url };
  $("name").textContent = name;
  $("format").value = format;
  for (const button of document.querySelectorAll(".examples button")) {
    button.setAttribute("aria-pressed", String(button.textContent === example));
  }
  edit(false);
  show();
}

async function openFile(file) {
  open(new Uint8Array(await file.arrayBuffer()), file.name);
}

function openText(text) {
  open(new TextEncoder().encode(text), "document.txt", { charset: "utf-8" });
}

/** Switches between the editor and the document with its links. */
function edit(isEditing) {
  $("edit").setAttribute("aria-pressed", String(isEditing));
  $("edit").textContent = isEditing ? "Show links" : "Edit";
  $("input").hidden = !isEditing;
  $("text").hidden = isEditing;
  if (!isEditing) return;
  const { bytes } = shown;
  if (bytes.length > SHOWN) $("note").textContent = "This document is too long to be edited here.";
  $("input").value = decoder(bytes).decode(bytes.subarray(0, SHOWN));
  $("input").readOnly = bytes.length > SHOWN;
  $("input").focus();
}

// Writing

/** The message of the error that `call` throws; empty if it throws none. */
function failure(call) {
  try {
    call();
    return "";
  } catch (error) {
    return `${error.message}.`;
  }
}

function show() {
  const { bytes, charset } = shown;
  const url = $("url").value.trim() || null;
  const wrong = failure(() => baselink.base(new Uint8Array(), { url }));
  $("url").setAttribute("aria-invalid", String(wrong !== ""));
  const given = { url: wrong ? null : url, format: $("format").value || null, charset };
  const options = { ...given, resolver: $("resolver").value };
  let found;
  // A WARC file without a response is an error.
  const unread = failure(() => (found = baselink.base(bytes, options)));
  $("error").textContent = unread || (wrong && `${wrong} The document is shown without this URL.`);
  if (!found) return;
  chosen = options;
  const isListed = bytes.length <= LISTED;
  const links = isListed ? baselink.links(bytes, options) : [];
  showBase(found, links);
  showLinks(bytes, links);
  $("edits").textContent = "A document of this size is rewritten when you download it.";
  $("output").replaceChildren();
  if (isListed) showEdits(bytes, baselink.rewrite(bytes, options), links);
  showResolvers(bytes, given, links.length);
}

function source(name) {
  return SOURCES[name] ?? name.replaceAll("-", " ");
}

function showBase({ base: url, rule, source: origin, chain }, links) {
  const result = url ? [element("strong", {}, url), `by rule ${rule}, ${source(origin)}`] : [element("strong", {}, "none"), "Relative links stay as they are."];
  $("result").replaceChildren(...result);
  let inner;
  for (const [number, title] of Object.entries(LEVELS)) {
    const levels = chain.filter((level) => level.rule === number);
    const status = ["taken", "invalid", "passed-over", "absent"].find((status) => levels.some((level) => level.status === status)) ?? "absent";
    const heading = element("h3", {}, element("span", { className: "number" }, number), title);
    heading.append(element("span", { className: "status" }, STATUS[status]));
    const about = element("div", { className: "about" }, heading, ...levels.slice(0, ROWS).map(foundAt));
    const box = element("div", { className: "level", role: "group", "aria-label": `${number} ${title}`, "data-status": status });
    if (inner) box.append(inner);
    box.append(about);
    inner = box;
  }
  $("chain").replaceChildren(inner);
  showParts(links);
}

/** An element with the base found at a level, and the reason why it counts or not. */
function foundAt({ source: name, value, status, reason }) {
  const found = element("div", { className: "found" });
  if (value !== null) {
    const from = name === "retrieval" || name === "encapsulating" ? [] : [`${source(name)} `];
    found.append(element("p", { className: "value" }, ...from, element("code", {}, value === "" ? "(empty)" : value)));
  }
  found.append(element("p", { className: "reason" }, reason));
  if (value !== null) found.dataset.status = status;
  return found;
}

/** Lists the documents inside the document or message, with the bases of their links. */
function showParts(links) {
  const parts = new Map();
  for (const { entity, element: owner, base, rule, source: name } of links) {
    if (entity === "" || owner === "base") continue;
    const key = JSON.stringify([entity, base]);
    const part = parts.get(key) ?? { entity, base, rule, name, links: 0 };
    part.links += 1;
    parts.set(key, part);
  }
  const rows = [...parts.values()];
  $("parts").replaceChildren();
  if (rows.length === 0) return;
  const list = element("ul", { className: "parts", "aria-label": "Documents inside" });
  for (const { entity, base, rule, name, links } of rows.slice(0, ROWS)) {
    const title = `Document ${entity} inside, with ${count(links, "link")}: `;
    list.append(element("li", {}, title, element("code", {}, base ?? "none"), `, by ${rule}, ${source(name)}`));
  }
  $("parts").append(list);
}

/** The end of the shown bytes. It cuts no character: the limit is a multiple of four, for UTF-16, and moves back to the start of a character of UTF-8. */
function end(bytes) {
  let at = Math.min(bytes.length, SHOWN);
  while (at < bytes.length && (bytes[at] & 0xc0) === 0x80) at -= 1;
  return at;
}

function showLinks(bytes, links) {
  const decode = ((with_) => (from, to) => with_.decode(bytes.subarray(from, to)))(decoder(bytes));
  const until = end(bytes);
  const inside = links.filter((link) => link.end <= until);
  const text = new DocumentFragment();
  let at = 0;
  marks = [];
  for (const link of inside.slice(0, MARKED)) {
    if (link.start < at) continue;
    const mark = element("span", { className: "link", role: "button", tabIndex: -1, "data-outcome": link.outcome }, decode(link.start, link.end));
    text.append(decode(at, link.start), mark);
    marks.push({ mark, link });
    at = link.end;
  }
  text.append(decode(at, until));
  $("text").replaceChildren(text);
  $("text").scrollTop = 0;

  const limits = [];
  if (bytes.length > LISTED) limits.push(`The links of a document of more than ${LISTED / 1e6} MB are not listed.`);
  if (until < bytes.length) limits.push(`The first ${count(until, "byte")} of ${count(bytes.length, "byte")} are shown.`);
  if (inside.length > MARKED) limits.push(`The first ${count(MARKED, "link")} of ${count(links.length, "link")} are marked.`);
  if (limits.length > 0) limits.push("The download is complete.");
  if (links.length === 0 && bytes.length <= LISTED) limits.push("No link was found.");
  $("more").textContent = limits.join(" ");

  const outcomes = Object.entries(OUTCOMES).map(([outcome, words]) => [outcome, words, links.filter((link) => link.outcome === outcome).length]);
  const rows = outcomes.filter(([, , number]) => number > 0);
  document.querySelector(".legend").replaceChildren(
    ...rows.map(([outcome, words, number]) => element("li", { "data-outcome": outcome }, `${number.toLocaleString("en")} `, element("span", {}, words))),
  );
  choose(marks.find(({ link }) => link.outcome === "rewritten" && link.element !== "base")?.mark ?? marks[0]?.mark);
}

/** Makes a mark the current one, which Tab reaches, and shows the details of its link. */
function choose(mark) {
  const chosen = marks.find((one) => one.mark === mark);
  for (const { mark } of marks) {
    mark.classList.toggle("current", mark === chosen?.mark);
    mark.tabIndex = mark === chosen?.mark ? 0 : -1;
  }
  $("details").firstElementChild.replaceChildren();
  if (!chosen) return;
  const { reference, entity, element: name, attribute, line, base, rule, source: origin, target, outcome, reason } = chosen.link;
  const place = [name, attribute && `[${attribute}]`].filter(Boolean).join("") || "text";
  const row = (title, ...content) => $("details").firstElementChild.append(element("dt", {}, title), element("dd", {}, ...content));
  row("Link", element("code", {}, reference === "" ? "(empty)" : reference), ` in ${place}, line ${line}${entity && `, document ${entity} inside`}`);
  row("Base", element("code", {}, base ?? "none"));
  row("Rule", `${rule}, ${source(origin)}`);
  row("Leads to", element("code", { className: "target" }, target ?? "unknown"));
  row("Outcome", `${OUTCOMES[outcome]}${reason ? `: ${reason.replaceAll("-", " ")}` : ""}`);
}

/**
 * Splits two texts into pairs of old and new text, in order. The texts of a pair are equal or changed. The pairs are found by the
 * positions of the links, between which nothing changes. If that fails (base64, counts in a heading), the rest is compared line by
 * line. If the texts are only the beginnings of the documents, the new text is longer than needed.
 */
function* changes(before, after, links, isWhole) {
  let [from, to] = [0, 0];
  for (const [at, { start, end }] of links.entries()) {
    const kept = before.slice(from, start);
    const next = links[at + 1]?.start;
    const behind = before.slice(end, next);
    const isLast = next === undefined && isWhole;
    const found = isLast ? after.length - behind.length : after.indexOf(behind, to + kept.length);
    if (behind === "" || !after.startsWith(kept, to) || found < to + kept.length || !after.startsWith(behind, found)) break;
    yield [kept, kept];
    yield [before.slice(start, end), after.slice(to + kept.length, found)];
    [from, to] = [end, found];
  }
  const rest = before.slice(from);
  if (after.startsWith(rest, to) && (!isWhole || to + rest.length === after.length)) return yield [rest, rest];

  const [old, now] = [rest, after.slice(to)].map((text) => text.match(/[^\n]*\n|[^\n]+/g) ?? []);
  for (let [i, j] = [0, 0]; i < old.length || (isWhole && j < now.length); ) {
    let [a, b] = [1, 1];
    if (old[i] !== now[j]) [a, b] = nextEqual(old.slice(i), now.slice(j)) ?? [old.length - i, isWhole ? now.length - j : old.length - i];
    yield [old.slice(i, i + a).join(""), now.slice(j, j + b).join("")];
    [i, j] = [i + a, j + b];
  }
}

/** The positions of the nearest equal lines of two texts; undefined if they are 100 or more lines away. */
function nextEqual(old, now) {
  for (let distance = 1; distance < 100; distance++) {
    for (let step = 0; step <= distance; step++) {
      if (step < old.length && old[step] === now[distance - step]) return [step, distance - step];
    }
  }
}

function showEdits(bytes, rewritten, links) {
  // Text with one character per byte, so that offsets in it are offsets of bytes.
  const each = new TextDecoder("latin1");
  const codes = new Map(Array.from({ length: 256 }, (_, byte) => [each.decode(Uint8Array.of(byte)), byte]));
  const shownAs = decoder(rewritten);
  const decode = (text) => shownAs.decode(Uint8Array.from(text, (character) => codes.get(character)));
  const until = end(bytes);
  const edits = links.filter((link) => link.outcome === "rewritten");
  const near = edits.filter((link) => link.end <= until).slice(0, MARKED);
  const isWhole = near.length === edits.length && until === bytes.length;
  const before = each.decode(bytes.subarray(0, Math.min(edits[near.length]?.start ?? until, until)));
  const after = each.decode(isWhole ? rewritten : rewritten.subarray(0, 8 * SHOWN));
  const output = new DocumentFragment();
  for (const change of changes(before, after, near, isWhole)) {
    const [old, now] = change.map(decode);
    let [head, tail] = [0, 0];
    const least = Math.min(old.length, now.length);
    while (head < least && old[head] === now[head]) head += 1;
    while (tail < least - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
    const [gone, made] = [old, now].map((text) => text.slice(head, text.length - tail));
    output.append(now.slice(0, head));
    if (gone) output.append(element("del", {}, gone));
    if (made) output.append(element("ins", {}, made));
    output.append(now.slice(now.length - tail));
  }
  $("output").replaceChildren(output);
  $("output").scrollTop = 0;
  const number = edits.length === 0 ? "No link is" : `${count(edits.length, "link")} ${edits.length === 1 ? "is" : "are"}`;
  $("edits").textContent = `${number} rewritten. Every byte without a mark is as it was.`;
}

function showResolvers(bytes, given, number) {
  const note = (text) => $("resolvers").replaceChildren(element("p", { className: "note" }, text));
  if (bytes.length > LISTED || number > COMPARED) return note("A document of this size is not compared.");
  const lists = Object.keys(RESOLVERS).map((resolver) => baselink.links(bytes, { ...given, resolver }));
  const rows = lists[0].map((link, at) => [link, lists.map((list) => list[at]?.target ?? "unknown")]);
  const differing = rows.filter(([, targets]) => new Set(targets).size > 1);
  if (differing.length === 0) return note("Nowhere in this document: RFC 1808, RFC 3986 and the URL Standard agree on each link.");
  const groups = differing.slice(0, ROWS).map(([{ reference, line }, targets]) => {
    const link = element("th", { scope: "rowgroup", colSpan: 2 }, element("code", {}, reference), ` in line ${line}`);
    const rows = Object.entries(RESOLVERS).map(([resolver, name], at) => {
      const target = element("td", {}, element("code", {}, targets[at]));
      const row = element("tr", {}, element("th", { scope: "row" }, name), target);
      row.toggleAttribute("data-is-used", resolver === $("resolver").value);
      return row;
    });
    return element("tbody", {}, element("tr", {}, link), ...rows);
  });
  $("resolvers").replaceChildren(element("table", {}, ...groups));
  const limit = `The first ${count(ROWS, "link")} of ${count(differing.length, "link")}.`;
  if (differing.length > ROWS) $("resolvers").append(element("p", { className: "note" }, limit));
}

function download() {
  const url = URL.createObjectURL(new Blob([baselink.rewrite(shown.bytes, chosen)], { type: "application/octet-stream" }));
  element("a", { href: url, download: `absolute-${shown.name}` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

// Events

/** True if a paste into `field` replaces its whole text. */
const isReplaced = (field) => field.selectionStart === 0 && field.selectionEnd === field.value.length;
const isField = (target) => target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && target.type === "text");

$("file").addEventListener("change", async ({ target }) => {
  if (target.files[0]) await openFile(target.files[0]);
  // Allows choosing the same file again.
  target.value = "";
});
$("edit").addEventListener("click", () => edit($("input").hidden));
$("download").addEventListener("click", download);
for (const id of ["format", "resolver"]) $(id).addEventListener("change", show);

let waiting;
for (const id of ["url", "input"]) {
  $(id).addEventListener("input", () => {
    clearTimeout(waiting);
    if (id === "input") shown = { ...shown, bytes: new TextEncoder().encode($("input").value), charset: "utf-8" };
    waiting = setTimeout(show, 150);
  });
}

document.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("paste", (event) => {
  // Text that replaces the whole text of the editor is another document.
  const isInEditor = event.target === $("input") && isReplaced(event.target);
  if (isField(event.target) && !isInEditor) return;
  event.preventDefault();
  if (isInEditor) $("edit").focus();
  const [file] = event.clipboardData.files;
  if (file) openFile(file);
  else openText(event.clipboardData.getData("text/plain"));
});
for (const type of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(type, (event) => {
    event.preventDefault();
    document.documentElement.classList.toggle("dropping", type === "dragover");
    if (type !== "drop") return;
    const [file] = event.dataTransfer.files;
    if (file) openFile(file);
    else openText(event.dataTransfer.getData("text/plain"));
  });
}

for (const type of ["pointerover", "focusin", "click"]) {
  $("text").addEventListener(type, ({ target }) => target.classList.contains("link") && choose(target));
}
$("text").addEventListener("keydown", (event) => {
  const at = marks.findIndex(({ mark }) => mark === event.target);
  const next = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: marks.length - 1 }[event.key];
  if (at < 0 || next === undefined) return;
  event.preventDefault();
  marks[Math.min(Math.max(next, 0), marks.length - 1)].mark.focus();
});

const packed = Uint8Array.from(atob(PACKED), (character) => character.charCodeAt(0));
const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
await baselink.init(new Response(unpacked).arrayBuffer());

const list = document.querySelector(".examples");
list.append("Examples:");
for (const { title, name, url, text } of EXAMPLES) {
  const button = element("button", { type: "button", "aria-pressed": "false" }, title);
  const bytes = new TextEncoder().encode(text);
  button.addEventListener("click", () => open(bytes, name, { url, example: title }));
  list.append(button);
}
list.querySelector("button").click();
