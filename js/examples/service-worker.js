// A service worker for a copy of a site, such as one made by wget. It makes the links of pages lead to the original site.
//
//     navigator.serviceWorker.register("service-worker.js", { type: "module" });

import init, { RewriterStream } from "./node_modules/baselink/web.js";

const ORIGINAL = "https://www.example.org";

addEventListener("install", (event) => event.waitUntil(init()));

addEventListener("fetch", (event) => {
  if (event.request.mode === "navigate") event.respondWith(absolute(event.request));
});

async function absolute(request) {
  const [response] = await Promise.all([fetch(request), init()]);
  if (!response.headers.get("content-type")?.startsWith("text/html")) return response;
  const { pathname, search } = new URL(response.url);
  const stream = new RewriterStream({ url: ORIGINAL + pathname + search, format: "html", resolver: "whatwg" });
  const rewritten = new Response(response.body?.pipeThrough(stream), response);
  for (const name of ["content-length", "etag"]) rewritten.headers.delete(name);
  return rewritten;
}
