// Code that every entry point contains: the functions of src/lib.rs, for strings, bytes and objects of JavaScript.
//
//     rewrite("<a href=../x>", { url: "https://a.example/b/c.html" })   // '<a href=https://a.example/x>'
//
// build.mjs puts this code between the function `instantiate`, which is generated from src/lib.rs, and an entry point.
//
// Deliberately absent: rules about links, and checks of options, which are in Rust.

/** The memory that an instance may keep, in bytes. After a call that took more, a new instance replaces it. */
const KEPT = 64 * 1024 * 1024;

/** The options that take several values. */
const LISTS = ["enable", "attributes"];

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The compiled module; undefined until it is loaded. */
let compiled;
/** The instance of the module: its functions and its memory. */
let instance;

function start(module) {
  compiled = module;
  instance = instantiate(module);
}

/** Calls a function of the instance. If memory runs out, the instance aborts, and a new one replaces it. */
function call(name, ...values) {
  if (!instance) throw new TypeError("baselink is not loaded yet: call `await init()` first");
  try {
    return instance.functions[name](...values);
  } catch (error) {
    if (error instanceof TypeError) throw error;
    instance = instantiate(compiled);
    const message = "the document or the list of its links is too large: the command baselink has no such limit";
    throw new RangeError(message, { cause: error });
  } finally {
    if (instance.memory.buffer.byteLength > KEPT) instance = instantiate(compiled);
  }
}

/** A string or a URL as a string. Any other value stays. */
function plain(value) {
  return value instanceof URL ? value.href : value;
}

function text(value, name) {
  const given = plain(value);
  if (typeof given === "string") return given;
  throw new TypeError(`${name} must be a string${isPromise(value) ? ", and not a promise" : ""}`);
}

function isPromise(value) {
  return typeof value?.then === "function";
}

/** The options; `example` is shown to the author of a program that passes a single value. */
function object(options = {}, example = '{ url: "https://…" }') {
  if (options !== null && typeof options === "object" && !(options instanceof URL)) return options;
  throw new TypeError(`options must be an object, such as ${example}`);
}

/** Options as a list for Rust: names and values in turn. Options that are undefined or null are omitted. */
function pairs(options, example) {
  const list = [];
  for (const [name, value] of Object.entries(object(options, example))) {
    if (value === undefined || value === null) continue;
    for (const one of LISTS.includes(name) && Array.isArray(value) ? value : [value]) list.push(name, plain(one));
  }
  return list;
}

/** A view of an ArrayBuffer, or of the memory of another view; undefined for any other value. */
function view(data) {
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  // An object of another realm, such as that of a test, is not an instance of this realm's class.
  const isBuffer = Object.prototype.toString.call(data) === "[object ArrayBuffer]";
  return isBuffer ? new Uint8Array(data) : undefined;
}

/** The arguments for Rust: a document as bytes, and a list of options. A string is UTF-8, whatever it declares. */
function bytes(data, options) {
  const list = pairs(options);
  if (typeof data === "string") return [encoder.encode(data), ["charset", "utf-8", ...list]];
  const given = view(data);
  if (given) return [given, list];
  throw new TypeError(`data must be a string, an ArrayBuffer or a Uint8Array${adviceOn(data)}`);
}

/** The way from a value without bytes to its bytes; empty if there is none. */
function adviceOn(data) {
  if (isPromise(data)) return ": await it first";
  if (typeof data?.arrayBuffer === "function") return ": pass await data.arrayBuffer()";
  return typeof data?.pipeThrough === "function" ? ": use data.pipeThrough(new RewriterStream(options))" : "";
}

/** The length of a block of bytes. */
const BLOCK = 64;

/** A function that converts an offset in UTF-8 to UTF-16 code units. It takes the time of a block. */
function units(utf8) {
  // The first byte of a character counts its units: a character of four bytes has two.
  const count = (from, to) => {
    let sum = 0;
    for (; from < to; from++) sum += ((utf8[from] & 0xc0) !== 0x80) + (utf8[from] >= 0xf0);
    return sum;
  };
  const before = new Uint32Array(Math.ceil((utf8.length + 1) / BLOCK));
  for (let at = 1; at < before.length; at++) before[at] = before[at - 1] + count((at - 1) * BLOCK, at * BLOCK);
  return (offset) => before[Math.floor(offset / BLOCK)] + count(offset - (offset % BLOCK), offset);
}

/** Lets the rows of a string count UTF-16 code units. */
function located(rows, data, [utf8]) {
  if (typeof data !== "string" || data.length === utf8.length) return rows;
  const unit = units(utf8);
  for (const row of rows) {
    const line = unit(row.start - row.column + 1);
    row.start = unit(row.start);
    row.end = unit(row.end);
    row.column = row.start - line + 1;
  }
  return rows;
}

/** A document of the type of `data`. */
function like(data, output) {
  return typeof data === "string" ? decoder.decode(output) : output;
}

/** Calls a function that takes the option `choose`. An exception of `choose` ends the choice, and is thrown after the call. */
function rewritten(name, given, choose) {
  if (choose === undefined || choose === null) return call(name, ...given);
  if (typeof choose !== "function") throw new TypeError("choose must be a function");
  let failure;
  const result = call(name, ...given, (json) => {
    if (failure) return undefined;
    try {
      // The place of the link is not known yet.
      const { line, column, start, end, ...link } = JSON.parse(json);
      const reference = choose(link);
      return reference === undefined || reference === null ? undefined : text(reference, "the result of choose");
    } catch (error) {
      failure = { error };
      return undefined;
    }
  });
  if (failure) throw failure.error;
  return result;
}

function rewrite(data, given) {
  const { choose, ...options } = object(given);
  return like(data, rewritten("rewrite", bytes(data, options), choose));
}

function rewriteReport(data, all) {
  const { choose, ...options } = object(all);
  const given = bytes(data, options);
  const [output, json] = rewritten("rewrite_report", given, choose);
  const report = JSON.parse(json);
  located(report.diagnostics, data, given);
  return { output: like(data, output), ...report };
}

function links(data, options) {
  const given = bytes(data, options);
  return located(JSON.parse(call("links", ...given)), data, given);
}

function base(data, options) {
  return JSON.parse(call("base", ...bytes(data, options)));
}

/** The only option of the next two functions. */
const RESOLVER = '{ resolver: "whatwg" }';

function resolve(base, reference, options) {
  return call("resolve", text(base, "base"), text(reference, "reference"), pairs(options, RESOLVER));
}

function relativize(base, target, options) {
  return call("relativize", text(base, "base"), text(target, "target"), pairs(options, RESOLVER));
}

class RewriterStream extends TransformStream {
  constructor(given) {
    const { maxBytes, ...options } = object(given);
    const most = maxBytes ?? Infinity;
    if (typeof most !== "number") throw new TypeError("maxBytes must be a number");
    // An error about an option is thrown here, not at the end of the stream.
    rewrite(new Uint8Array(), options);
    const chunks = [];
    let size = 0;
    super({
      transform(chunk) {
        const part = view(chunk);
        if (!part) throw new TypeError(`a chunk must be a Uint8Array${typeof chunk === "string" ? ": use a TextEncoderStream first" : ""}`);
        size += part.length;
        if (!(size <= most)) throw new RangeError(`the document has more than ${most} bytes`);
        chunks.push(part);
      },
      flush(controller) {
        const whole = new Uint8Array(size);
        let length = 0;
        for (const chunk of chunks.splice(0)) {
          whole.set(chunk, length);
          length += chunk.length;
        }
        controller.enqueue(rewrite(whole, options));
      },
    });
  }
}

function initSync(module) {
  if (!compiled) start(module instanceof WebAssembly.Module ? module : new WebAssembly.Module(module));
}
