// A Cloudflare Worker in front of a site. It makes the links of pages absolute.
//
//     npx workerd serve worker.capnp --external-addr origin=127.0.0.1:8000      # wrangler needs only this file

import { RewriterStream } from "baselink";

export default {
  async fetch(request) {
    const response = await fetch(request);
    if (!response.headers.get("content-type")?.startsWith("text/html")) return response;
    const headers = new Headers(response.headers);
    headers.delete("content-length");
    const stream = new RewriterStream({ url: request.url, format: "html", resolver: "whatwg" });
    return new Response(response.body.pipeThrough(stream), { status: response.status, headers });
  },
};
