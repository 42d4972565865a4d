// Code that every entry point contains: the functions of src/lib.rs, for strings, bytes and objects of JavaScript.
//
//     rewrite("<a href=../x>", { url: "https://a.example/b/c.html" })   // '<a href=https://a.example/x>'
//
// build.mjs puts this code between the function `instantiate`, which is generated from src/lib.rs, and an entry point.
//
// Deliberately absent: rules about links, and checks of the names and values of options, which are in Rust. This code checks
// only types.

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

function text(value, name) {
  if (value instanceof URL) return value.href;
  if (typeof value === "string") return value;
  throw new TypeError(`${name} must be a string`);
}

function object(options = {}) {
  if (options === null || typeof options !== "object") throw new TypeError("options must be an object");
  return options;
}

/** Options as a list for Rust: names and values in turn. Options that are undefined or null are omitted. */
function pairs(options) {
  const list = [];
  for (const [name, value] of Object.entries(object(options))) {
    if (value === undefined || value === null) continue;
    if (name === "choose") throw new TypeError("choose is an option of rewrite");
    for (const one of LISTS.includes(name) && Array.isArray(value) ? value : [value]) list.push(name, text(one, name));
  }
  return list;
}

/** The arguments for Rust: a document as bytes, and a list of options. A string is UTF-8, whatever it declares. */
function bytes(data, options) {
  const list = pairs(options);
  if (typeof data === "string") return [encoder.encode(data), ["charset", "utf-8", ...list]];
  if (data instanceof Uint8Array) return [data, list];
  throw new TypeError("data must be a string or a Uint8Array");
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

function resolve(base, reference, options) {
  return call("resolve", text(base, "base"), text(reference, "reference"), pairs(options));
}

function relativize(base, target, options) {
  return call("relativize", text(base, "base"), text(target, "target"), pairs(options));
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
        if (!(chunk instanceof Uint8Array)) throw new TypeError("a chunk must be a Uint8Array");
        size += chunk.length;
        if (!(size <= most)) throw new RangeError(`the document has more than ${most} bytes`);
        chunks.push(chunk);
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
