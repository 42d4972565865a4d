// Makes the links of a feed absolute, those in the HTML of its entries included, after any generator has written it:
//
//     "build": "eleventy && node feed.mjs _site/feed.xml https://a.example/feed.xml"

import { readFileSync, writeFileSync } from "node:fs";
import { rewrite } from "baselink";

const [file, url] = process.argv.slice(2);
writeFileSync(file, rewrite(readFileSync(file), { url, format: "xml" }));
