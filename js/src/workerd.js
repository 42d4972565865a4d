// Cloudflare Workers, where code may not be compiled, and the import of a .wasm file is a module.
import module from "./baselink.wasm";

start(module);

async function init() {}

export { init as default, initSync, rewrite, links, base, resolve, relativize, RewriterStream };
