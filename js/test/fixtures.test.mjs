// The package gives the expected bytes, links and base for every case of ../fixtures, and the results of the command.

import assert from "node:assert/strict";
import { test } from "node:test";
import { base, links, rewrite, RewriterStream } from "../pkg/node.mjs";
import { cases, CODED, command, hasCommand } from "./cases.mjs";

const all = [...cases()];
const known = all.filter(({ name, options }) => options && !CODED.test(name));

function field(text) {
  return text === null ? "-" : text.replaceAll("\\", "\\\\").replaceAll("\t", "\\t").replaceAll("\n", "\\n");
}

function row({ entity, element, attribute, reference, outcome, reason, target }) {
  return [entity, element, attribute, reference, outcome, reason, target].map(field).join("\t");
}

/** Reads a stream to its end. */
async function collected(stream) {
  return Buffer.from(await new Response(stream).arrayBuffer());
}

test("few cases need options that the package lacks", () => assert.equal(all.length - known.length, 19));

test("a compressed body is left as it is", () => {
  for (const { options, input } of all.filter(({ name }) => CODED.test(name))) {
    assert.deepEqual(Buffer.from(rewrite(input, options)), input);
  }
});

test("a case gives the expected result", async (t) => {
  for (const { name, input, options, ...expected } of known) {
    await t.test(name, async () => {
      const given = Uint8Array.from(input);
      const output = rewrite(input, options);
      assert.deepEqual(Buffer.from(output), expected.expected);
      assert.deepEqual(Uint8Array.from(input), given);
      assert.deepEqual(links(input, options).map(row), expected.links);
      const found = base(input, options);
      assert.deepEqual([found.rule, found.source, field(found.base)], expected.base.split("\t").slice(-3));
      const chunks = new Blob([input]).stream();
      assert.deepEqual(await collected(chunks.pipeThrough(new RewriterStream(options))), expected.expected);
    });
  }
});

test("a string gives the same result as its UTF-8 bytes, with offsets in UTF-16 code units", () => {
  let count = 0;
  for (const { name, input, options } of known) {
    const text = input.toString();
    if (options.charset || !Buffer.from(text).equals(input)) continue;
    const output = Buffer.from(rewrite(input, { ...options, charset: "utf-8" }));
    assert.equal(rewrite(text, options), output.toString(), name);
    const units = (offset) => input.subarray(0, offset).toString().length;
    const expected = links(input, { ...options, charset: "utf-8" }).map(({ start, end, column, ...link }) => {
      const line = units(start - column + 1);
      return { ...link, start: units(start), end: units(end), column: units(start) - line + 1 };
    });
    assert.deepEqual(links(text, options), expected, name);
    count += 1;
  }
  assert(count > 450, `${count}`);
});

test("a case gives the result of the command", { skip: !hasCommand && "the command is absent" }, async (t) => {
  for (const { name, arguments: args, options, input } of known) {
    await t.test(name, () => {
      const given = [...args, "-"];
      assert.deepEqual(Buffer.from(rewrite(input, options)), command(["rewrite", "--quiet", ...given], input));
      const rows = command(["links", "--json", ...given], input).toString().split("\n").slice(0, -1);
      const found = links(input, options).map((link) => ({ path: "-", ...link }));
      assert.deepEqual(found, rows.map((line) => JSON.parse(line)));
      // The keys have the same order.
      assert.deepEqual(found.map((link) => Object.keys(link)), rows.map((line) => Object.keys(JSON.parse(line))));
    });
  }
});
