// Node, Deno and Bun: everything is there at once, and `init` has nothing to do.

async function init() {}

start(new WebAssembly.Module(require("node:fs").readFileSync(require("node:path").join(__dirname, "baselink.wasm"))));

module.exports = { default: init, initSync, rewrite, links, base, resolve, relativize, RewriterStream };
