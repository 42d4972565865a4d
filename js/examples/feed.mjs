// Makes the links of a feed absolute, including those in the HTML of its entries. Run it after the site generator:
//
//     "build": "eleventy && node feed.mjs _site/feed.xml https://a.example/feed.xml"

import { readFileSync, writeFileSync } from "node:fs";
import { rewrite } from "baselink";

const [file, url] = process.argv.slice(2);
writeFileSync(file, rewrite(readFileSync(file), { url, format: "xml", resolver: "whatwg" }));
