// The instance of `require`, exported for `import`.
import baselink from "./node.cjs";

export const { rewrite, links, base, resolve, relativize, initSync, RewriterStream } = baselink;
export default baselink.default;
