// A reverse proxy for a site that was built for another URL. Links in its pages, style sheets and feeds lead to the new URL.
//
//     node reverse-proxy.mjs http://127.0.0.1:8000/ https://www.example.org/docs/ 8001      # the site, its new URL, the port

import { createServer } from "node:http";
import { Readable } from "node:stream";

import { RewriterStream } from "baselink";

const [site, shown, port] = process.argv.slice(2);
const path = new URL(shown).pathname;
const formats = { "text/html": "html", "application/xhtml+xml": "xhtml", "text/css": "css", "image/svg+xml": "svg" };

// Other relative paths mean the same in the new place.
function choose({ reference, target }) {
  if (!target.startsWith(site) || !/^[a-z][a-z0-9+.-]*:|^[/\\]/i.test(reference)) return undefined;
  const root = /^\/(?!\/)/.test(reference) ? path : shown;
  return root + target.slice(site.length);
}

createServer(async (request, response) => {
  const url = new URL(request.url.slice(path.length - 1), site);
  const { host, connection, ...headers } = request.headers;
  const body = ["GET", "HEAD"].includes(request.method) ? undefined : Readable.toWeb(request);
  const answer = await fetch(url, { method: request.method, headers, body, duplex: "half", redirect: "manual" });
  const given = new Headers(answer.headers);
  // These describe the bytes before the change, or the connection to the site.
  for (const name of ["content-length", "content-encoding", "transfer-encoding", "connection", "keep-alive", "etag"]) given.delete(name);
  const target = given.has("location") && new URL(given.get("location"), url).href;
  if (target) given.set("location", choose({ reference: target, target }) ?? target);
  response.setHeaders(given);
  response.writeHead(answer.status);
  const [type, charset] = (given.get("content-type") ?? "").toLowerCase().split(/\s*;\s*charset=/);
  const format = formats[type];
  const options = { url: url.href, format, charset, resolver: "whatwg", choose, maxBytes: 50_000_000 };
  const rewritten = format ? answer.body?.pipeThrough(new RewriterStream(options)) : answer.body;
  if (rewritten) Readable.fromWeb(rewritten).on("error", () => response.destroy()).pipe(response);
  else response.end();
}).listen(port, "127.0.0.1");
