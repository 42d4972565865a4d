// Converts a page to Markdown with absolute links. turndown alone copies links unchanged, and ignores <base>.
//
//     curl -s https://a.example/guide/ | node markdown.mjs https://a.example/guide/

import { text } from "node:stream/consumers";
import { rewrite } from "baselink";
import TurndownService from "turndown";

const [url] = process.argv.slice(2);
const page = rewrite(await text(process.stdin), { url, format: "html", resolver: "whatwg" });
console.log(new TurndownService().turndown(page));
