// A Cloudflare Worker in front of a site. It makes the links of pages absolute.
//
//     npx workerd serve worker.capnp --external-addr origin=127.0.0.1:8000      # wrangler needs only this file

import { RewriterStream } from "baselink";

export default {
  async fetch(request) {
    const response = await fetch(request);
    if (!response.headers.get("content-type")?.startsWith("text/html")) return response;
    // The stream takes two to four times the memory of the document, and Cloudflare gives a worker 128 MB for all requests.
    const maxBytes = 10_000_000;
    const stream = new RewriterStream({ url: response.url || request.url, format: "html", resolver: "whatwg", maxBytes });
    // An answer to HEAD and the status 304 have no body.
    const rewritten = new Response(response.body?.pipeThrough(stream), response);
    // Both describe the bytes before the change.
    for (const name of ["content-length", "etag"]) rewritten.headers.delete(name);
    return rewritten;
  },
};
