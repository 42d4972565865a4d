// Browsers, and bundlers, which know `new URL` with `import.meta.url` for a file of the package.

/** The module that a source leads to: the module itself, its bytes, a response with its bytes, or its URL. */
async function load(source = new URL("./baselink.wasm", import.meta.url)) {
  source = await source;
  if (source instanceof WebAssembly.Module) return source;
  if (typeof source === "string" || source instanceof URL) source = await fetch(source);
  if (!(source instanceof Response)) return WebAssembly.compile(source);
  if (!source.ok) throw new Error(`${source.url} has the status ${source.status}`);
  // Any other type is an error to `compileStreaming`.
  if (source.headers.get("content-type") === "application/wasm") return WebAssembly.compileStreaming(source);
  return WebAssembly.compile(await source.arrayBuffer());
}

/** The first call of `init`, for which the others wait. After a failure the next one is the first. */
let first;

async function init(source) {
  if (compiled) return;
  first ??= load(source).then(initSync, (error) => {
    first = undefined;
    throw error;
  });
  await first;
}

export { init as default, initSync, rewrite, links, base, resolve, relativize, RewriterStream };
