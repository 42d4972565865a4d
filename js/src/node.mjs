// Entry point for `import` in Node, Deno and Bun. It exports the functions of node.cjs, so both share one instance.
import baselink from "./node.cjs";

export const { rewrite, rewriteReport, links, base, resolve, relativize, detect, messages, version, initSync, RewriterStream } = baselink;
export default baselink.default;
