// Answers the calls of judge.py by the npm package: JSON Lines in, JSON Lines out. A name such as baseElement is base_element.

import { createInterface } from "node:readline";
import * as baselink from "../../js/pkg/node.mjs";

const camel = (name) => name.replace(/_./g, (found) => found[1].toUpperCase());
const snake = (name) => name.replace(/[A-Z]/g, (found) => `_${found.toLowerCase()}`);

/** An argument: bytes are an object with the key `bytes`. */
const given = (value) => (value?.bytes === undefined ? value : Uint8Array.from(Buffer.from(value.bytes, "base64")));

const named = (object, name, inner) => Object.fromEntries(Object.entries(object).map(([key, value]) => [name(key), inner(value)]));

function plain(value) {
  if (value instanceof Uint8Array) return { bytes: Buffer.from(value).toString("base64") };
  if (Array.isArray(value)) return value.map(plain);
  return value !== null && typeof value === "object" ? named(value, snake, plain) : value;
}

function answer(name, given_, options_) {
  const [args, options] = [given_.map(given), named(options_, camel, (value) => value)];
  if (name === "version") return baselink.version;
  if (name === "capture_key") throw new Error("absent");
  if (["detect", "messages"].includes(name)) return baselink[name](...args);
  if (name !== "rewrite_links") return baselink[camel(name)](...args, options);
  const seen = [];
  const choose = (link) => {
    seen.push(link);
    return link.role === "embedded" ? `${link.target}#chosen` : undefined;
  };
  return [baselink.rewrite(...args, { ...options, choose }), seen];
}

for await (const line of createInterface({ input: process.stdin })) {
  let found;
  try {
    found = { value: plain(answer(...JSON.parse(line))) };
  } catch (error) {
    // Names in messages are written as in Python, too.
    found = { error: error.message.replace(/\b[a-z]+[A-Z][A-Za-z]+\b/g, snake) };
  }
  console.log(JSON.stringify(found));
}
