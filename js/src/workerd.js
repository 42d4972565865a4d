// Entry point for Cloudflare Workers, which may not compile code. There, the import of a .wasm file gives a compiled module.
import module from "./baselink.wasm";

start(module);

async function init() {}

export { init as default, initSync, rewrite, rewriteReport, links, base, resolve, relativize, detect, messages, version, RewriterStream };
