// Entry point for browsers and bundlers. Bundlers recognize `new URL` with `import.meta.url` as a file of the package.

/** Compiles the module from a source: the compiled module, its bytes, a response with its bytes, or its URL. */
async function load(source = new URL("./baselink.wasm", import.meta.url)) {
  source = await source;
  if (source instanceof WebAssembly.Module) return source;
  if (typeof source === "string" || source instanceof URL) source = await fetch(source);
  if (!(source instanceof Response)) return WebAssembly.compile(source);
  if (!source.ok) throw new Error(`${source.url} has the status ${source.status}`);
  // `compileStreaming` rejects any other type.
  if (source.headers.get("content-type") === "application/wasm") return WebAssembly.compileStreaming(source);
  return WebAssembly.compile(await source.arrayBuffer());
}

/** The promise of the first call of `init`, for which other calls wait. After a failure, the next call is the first. */
let first;

async function init(source) {
  if (compiled) return;
  first ??= load(source).then(initSync, (error) => {
    first = undefined;
    throw error;
  });
  await first;
}

export { init as default, initSync, rewrite, rewriteReport, links, base, resolve, relativize, detect, messages, version, RewriterStream };
