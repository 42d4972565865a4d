// Entry point for Node, Deno and Bun. The module is loaded at once, so `init` does nothing.

async function init() {}

start(new WebAssembly.Module(require("node:fs").readFileSync(require("node:path").join(__dirname, "baselink.wasm"))));

module.exports = { default: init, initSync, rewrite, rewriteReport, links, base, resolve, relativize, detect, messages, version, RewriterStream };
