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

/** A document of the type of `data`. */
function like(data, output) {
  return typeof data === "string" ? decoder.decode(output) : output;
}

function rewrite(data, options) {
  return like(data, call("rewrite", ...bytes(data, options)));
}

function rewriteReport(data, options) {
  const [output, report] = call("rewrite_report", ...bytes(data, options));
  return { output: like(data, output), ...JSON.parse(report) };
}

function links(data, options) {
  return JSON.parse(call("links", ...bytes(data, options)));
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
