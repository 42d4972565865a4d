// Every name of the package in TypeScript; installed.test.mjs runs the type checker on this file.

import init, { base, detect, initSync, links, messages, relativize, resolve, rewrite, rewriteReport, RewriterStream, version } from "baselink";
import type { ArchiveFormat, Base, Diagnostic, Format, Group, Level, Link, LinkToChoose, Options, Outcome, Reason, Rewritten, Source } from "baselink";

const format: Format = "html";
const options: Options = { url: new URL("https://a.example/"), format, resolver: "whatwg", enable: ["lazy"], charset: null, dkim: undefined };

const text: string = rewrite("<a href=x>", options);
const bytes: Uint8Array<ArrayBuffer> = rewrite(new Uint8Array(), options);
const buffers: Uint8Array<ArrayBuffer>[] = [rewrite(new ArrayBuffer(0), options), rewriteReport(new DataView(bytes.buffer)).output];
const either = (data: string | Uint8Array): string | Uint8Array => rewrite(data);
const report: Rewritten<string> = rewriteReport(text, options);
const kept: number | undefined = report.reasons.empty ?? report.counts["not-editable"];
const anomalies: Diagnostic[] = rewriteReport(bytes).diagnostics;
const found: Link[] = links(text, options);
const targets: (string | null)[] = found.map(({ outcome, target }) => (outcome === "rewritten" ? target : null));
const sets: string = rewrite(text, { enable: new Set<Group>(["lazy"]), attributes: new Set(["p[x]=url"]) });
const group: Group | "all" = "all";
const reasons: (Reason | Outcome)[] = links(text, { enable: group }).map(({ outcome, reason }) => reason ?? outcome);
const { base: url, chain }: Base = base(bytes);
const taken: Level | undefined = chain.find(({ status }) => status === "taken");
const resolved: string = resolve("https://a.example/", "x", { resolver: "rfc3986" });
const relative: string = relativize(new URL("https://a.example/"), resolved);
const response = new Response(new Blob([text]).stream().pipeThrough(new RewriterStream({ ...options, maxBytes: 1e6 })));
const choose = ({ kind, target }: LinkToChoose): string | undefined => (kind === "image" ? target.toLowerCase() : undefined);
const chosen: Rewritten<string> = rewriteReport(text, { ...options, choose });
const detected: Format | ArchiveFormat = detect("a.html", bytes);
const mails: string[] = messages(bytes).map((message) => rewrite(message).length + version);
const loaded: Promise<void> = init(fetch("https://a.example/baselink.wasm"));
const again = (source: Source): Promise<void> => init(source);
initSync(bytes);
const compiled = async (): Promise<void> => initSync(await WebAssembly.compile(bytes));

// @ts-expect-error The package exports only documented names.
import type { Module } from "baselink";
// @ts-expect-error No such value exists.
rewrite("", { resolver: "browser" });
// @ts-expect-error A choice is made at once.
rewrite("", { choose: async (link) => link.target });
// @ts-expect-error Only a document that is rewritten has a choice.
links("", { choose });
// @ts-expect-error No such group exists.
rewrite("", { enable: ["lasy"] });
// @ts-expect-error No such reason exists.
found.filter(({ reason }) => reason === "emtpy");
// @ts-expect-error No such outcome exists.
found.filter(({ outcome }) => outcome === "kept");
// @ts-expect-error No such option exists.
rewrite("", { base_element: "keep" });
// @ts-expect-error Data has to be a string or bytes.
links(new Blob());
// @ts-expect-error The URL is an option.
rewrite("", "https://a.example/");

export { again, anomalies, buffers, chosen, compiled, detected, either, kept, loaded, mails, reasons, relative, response, sets, taken, targets, url };
