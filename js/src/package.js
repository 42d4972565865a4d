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

const version = "VERSION";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

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

/** True for an array, a set or any other iterable of values. */
function isList(value) {
  return typeof value !== "string" && typeof value[Symbol.iterator] === "function";
}

/** Options as a list for Rust: names and values in turn. Options that are undefined or null are omitted. */
function pairs(options, example) {
  const list = [];
  for (const [name, value] of Object.entries(object(options, example))) {
    if (value === undefined || value === null) continue;
    for (const one of LISTS.includes(name) && isList(value) ? value : [value]) list.push(name, plain(one));
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

/** The arguments for Rust: a document as bytes, true if it is a string, and a list of options. */
function bytes(data, options) {
  const list = pairs(options);
  if (typeof data === "string") return [encoder.encode(data), true, list];
  const given = view(data);
  if (given) return [given, false, list];
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

/** A document of the type of `data`. If a part of a message in a string got bytes of another encoding, it is `data` itself. */
function like(data, output) {
  if (typeof data !== "string") return output;
  try {
    return decoder.decode(output);
  } catch {
    return data;
  }
}

/** Calls a function that takes the option `choose`. An exception of `choose` ends the choice, and is thrown after the call. */
function rewritten(name, given, choose) {
  if (choose === undefined || choose === null) return call(name, ...given);
  if (typeof choose !== "function") throw new TypeError("choose must be a function");
  let failure;
  const result = call(name, ...given, (json) => {
    if (failure) return undefined;
    try {
      const reference = choose(JSON.parse(json));
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
  located(report.links, data, given);
  located(report.diagnostics, data, given);
  return { output: like(data, output), ...report };
}

function links(data, options) {
  const given = bytes(data, options);
  return located(JSON.parse(call("links", ...given)), data, given);
}

function base(data, options) {
  const { base, rule, source, chain } = JSON.parse(call("base", ...bytes(data, options)));
  return { base, rule, source, chain };
}

/** The bytes of an argument that takes no string. */
function buffer(value, name) {
  const given = view(value);
  if (given) return given;
  throw new TypeError(`${name} must be an ArrayBuffer or a Uint8Array`);
}

function detect(name, head) {
  return call("detect", name === null || name === undefined ? undefined : text(name, "name"), buffer(head, "head"));
}

function messages(data) {
  return call("messages", buffer(data, "data"));
}

/** The only option of the next two functions. */
const RESOLVER = '{ resolver: "whatwg" }';

function resolve(base, reference, options) {
  return call("resolve", text(base, "base"), text(reference, "reference"), pairs(options, RESOLVER));
}

function relativize(base, target, options) {
  return call("relativize", text(base, "base"), text(target, "target"), pairs(options, RESOLVER));
}

/** The length of the blocks in which a stream is buffered, in bytes. */
const BUFFERED = 64 * 1024;

class RewriterStream extends TransformStream {
  constructor(given) {
    const { maxBytes, choose, ...options } = object(given);
    const most = maxBytes ?? Infinity;
    if (typeof most !== "number") throw new TypeError("maxBytes must be a number");
    // An error about an option is thrown here, not at the end of the stream.
    rewrite(new Uint8Array(), { choose, ...options });
    const list = pairs(options);
    const blocks = [];
    let size = 0;
    super({
      // The chunk is copied, because its writer may fill the same memory again.
      transform(chunk) {
        const part = view(chunk);
        if (!part) throw new TypeError(`a chunk must be a Uint8Array${typeof chunk === "string" ? ": use a TextEncoderStream first" : ""}`);
        if (!(size + part.length <= most)) throw new RangeError(`maxBytes: the document has more than ${most} bytes`);
        for (let at = 0; at < part.length; ) {
          const filled = size % BUFFERED;
          if (filled === 0) blocks.push(new Uint8Array(BUFFERED));
          const copied = part.subarray(at, at + BUFFERED - filled);
          blocks.at(-1).set(copied, filled);
          size += copied.length;
          at += copied.length;
        }
      },
      flush(controller) {
        // The output is written to the blocks of the input.
        const free = [];
        let read = 0;
        const next = () => {
          if (read === size) return undefined;
          const block = blocks[free.length];
          free.push(block);
          const part = block.subarray(0, size - read);
          read += part.length;
          return part;
        };
        const write = (piece) => {
          for (let at = 0; at < piece.length; at += BUFFERED) {
            const part = piece.subarray(at, at + BUFFERED);
            const block = free.pop() ?? new Uint8Array(BUFFERED);
            block.set(part);
            controller.enqueue(block.subarray(0, part.length));
          }
        };
        rewritten("rewrite_blocks", [size, next, write, list], choose);
      },
    });
  }
}

function initSync(module) {
  if (!compiled) start(module instanceof WebAssembly.Module ? module : new WebAssembly.Module(module));
}
