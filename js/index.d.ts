/** The bytes of a document, such as the result of `await response.arrayBuffer()`. */
export type Bytes = ArrayBuffer | ArrayBufferView;

/**
 * A document: a string, or its bytes. A string is never decoded again, whatever encoding it declares; a lone surrogate
 * becomes U+FFFD.
 */
export type Data = string | Bytes;

/** The rules by which references are resolved; `"whatwg"` is what browsers do. */
export type Resolver = "rfc1808" | "rfc3986" | "whatwg";

/** The format of a document. A document of the format `"other"` stays unchanged. */
export type Format =
  | "html"
  | "xhtml"
  | "svg"
  | "xml"
  | "css"
  | "script"
  | "manifest"
  | "jsonfeed"
  | "message"
  | "mbox"
  | "http"
  | "other";

/** A group of further places that count as links. */
export type Group = "social" | "lazy" | "json" | "headers" | "text" | "manifest" | "scripts" | "rare";

/** The options of `resolve` and `relativize`. */
export interface ResolveOptions {
  /** The rules of resolution. Default: `"rfc1808"`. */
  resolver?: Resolver | null | undefined;
}

/** The options of every function that takes a document. `undefined` and `null` mean the default. */
export interface Options extends ResolveOptions {
  /** The absolute URL from which the document was retrieved (RFC 1808, section 3.3). Default: unknown. */
  url?: string | URL | null | undefined;
  /** The format; `"script"`, `"manifest"` and `"jsonfeed"` require `enable`. Default: detected from the first bytes; `"html"` for other text. */
  format?: Format | null | undefined;
  /**
   * The encoding, by a label of the Encoding Standard; in a string, which is not decoded, the encoding of queries. Default: as the
   * document declares; UTF-8 for a string.
   */
  charset?: string | null | undefined;
  /**
   * The treatment of `#x`. `"auto"` rewrites it only if a browser would leave the page. Default: `"rewrite"`; `"auto"` in a
   * page that records that it was saved.
   */
  fragments?: "rewrite" | "keep" | "auto" | null | undefined;
  /** The treatment of the `href` of a `base` element. Default: `"absolute"`. */
  baseElement?: "absolute" | "keep" | null | undefined;
  /** Groups of further places that count as links, such as `"lazy"`, or `"all"`. Default: none. */
  enable?: Group | "all" | Iterable<Group | "all"> | null | undefined;
  /** Further attributes that count as links, such as `"*[data-src]=url"`. Default: none. */
  attributes?: string | Iterable<string> | null | undefined;
  /** The treatment of links to files that a browser saved with the page. Default: `"keep"`. */
  localCopies?: "keep" | "rewrite" | null | undefined;
  /** The scheme of `//host/x` in a document without a base. Default: none, and the link is left. */
  assumeScheme?: string | null | undefined;
  /** The use of the field `Content-Location`: `"base"`, or `"label"`, which is never a base. Default: `"base"`. */
  contentLocation?: "base" | "label" | null | undefined;
  /** The treatment of messages with a DKIM or ARC signature. Default: `"rewrite"`. */
  dkim?: "rewrite" | "keep" | null | undefined;
}

/**
 * A link for {@link RewriteOptions.choose}. It has a target. Its line and column are 0, because they are not known yet; its start and
 * end are offsets in the decoded bytes of its own document, such as a part of a message.
 */
export type LinkToChoose = Link & { target: string };

/** The options of `rewrite` and `rewriteReport`. */
export interface RewriteOptions extends Options {
  /**
   * Chooses the reference of each link, relative or absolute, that has a target and may be changed. It returns a reference,
   * which is escaped for its place, or `undefined` to keep the link as it is; `link.target` makes it absolute, as without
   * this option. It may be called twice for a link. Its exceptions are thrown by the caller. Default: the target.
   *
   * @example
   * rewrite('<img src="/i.png">', { url, choose: (link) => (link.kind === "image" ? `/proxy?url=${encodeURIComponent(link.target)}` : undefined) });
   */
  choose?: ((link: LinkToChoose) => string | URL | null | undefined) | null | undefined;
}

/** A link of a document, with its outcome in {@link rewrite}. The keys are those of `baselink links --json`. */
export interface Link {
  /** The document or message in the data: `""` for the outermost one, `"1.2"` for a body part. */
  entity: string;
  /** The line, counted from 1. */
  line: number;
  /** The column, counted from 1, in the units of the offsets. */
  column: number;
  /** The offset at which the link begins: in a string in UTF-16 code units, as `slice` counts, in other data in bytes. */
  start: number;
  /** The offset at which the link ends. */
  end: number;
  /** The element; `null` in a style sheet. */
  element: string | null;
  /** The attribute; `null` in text. */
  attribute: string | null;
  /** The reference, as written. */
  reference: string;
  /** The base URL that the reference is resolved against. */
  base: string | null;
  /** The rule of RFC 1808, section 3, that gave the base. */
  rule: Rule;
  /** The source that gave the base: `"base-element"`, `"retrieval"` and so on. */
  source: string;
  /** The URL that the link leads to; `null` if it is unknown. */
  target: string | null;
  /** The role of the link in the document. */
  role: "embedded" | "navigation" | "metadata";
  /** The outcome of the link in {@link rewrite}. */
  outcome: Outcome;
  /** The reason for `"left"` and `"not-editable"`. */
  reason: Reason | null;
  /** The kind of target that the place asks for; the target itself may be of another type. */
  kind: "document" | "frame" | "image" | "script" | "style" | "media" | "object" | "other";
  /** The value of the attribute `rel` of the element. */
  rel: string | null;
}

/** The outcome of a link in {@link rewrite}. */
export type Outcome = "rewritten" | "absolute" | "no-base" | "left" | "not-editable";

/** The reason why a link was kept unchanged or could not be edited. */
export type Reason =
  | "id-reference"
  | "empty"
  | "placeholder"
  | "fragment"
  | "entity"
  | "base-unusable"
  | "unresolvable"
  | "base-element"
  | "local-copy"
  | "no-value"
  | "escape"
  | "undecodable"
  | "encoding"
  | "signed"
  | "dkim"
  | "sibling-part"
  | "label"
  | "becomes-base"
  | "transfer"
  | "doubt"
  | "custom-property"
  | "growth"
  | "kept"
  | "chosen"
  | "nowhere";

/** A rule of RFC 1808, section 3: the base is in the document, in the document around it, the retrieval URL, or absent. */
export type Rule = "3.1" | "3.2" | "3.3" | "3.4";

/** A place where a base may be declared (RFC 1808, section 3), and the base found there. */
export interface Level {
  /** The document or message that declares the base. */
  entity: string;
  /** The rule. */
  rule: Rule;
  /** The source: `"base-element"`, `"retrieval"` and so on. */
  source: string;
  /** The value, as written. */
  value: string | null;
  /** The result. */
  status: "taken" | "passed-over" | "absent" | "invalid";
  /** The reason for the result, for people. */
  reason: string;
}

/** The base URL of a document, and every level at which a base may be declared. */
export interface Base {
  /** The base URL; `null` if there is none. */
  base: string | null;
  /** The rule that gave it. */
  rule: Rule;
  /** The source that gave it. */
  source: string;
  /** Every level, innermost first. */
  chain: Level[];
}

/**
 * Makes every relative link of a document absolute. No other byte changes.
 *
 * @returns A string for a string, and new bytes for bytes. Without `url`, and without a base in the document, the result equals
 * the document; `rewriteReport(…).counts["no-base"]` counts the links that stay.
 * @throws {TypeError} For a wrong argument, never for a document.
 * @throws {RangeError} If the document needs more memory than there is.
 * @example
 * rewrite('<a href="../x.html">', { url: "https://a.example/b/c.html" }); // '<a href="https://a.example/x.html">'
 */
export function rewrite(data: string, options?: RewriteOptions): string;
export function rewrite(data: Bytes, options?: RewriteOptions): Uint8Array<ArrayBuffer>;
export function rewrite(data: Data, options?: RewriteOptions): string | Uint8Array<ArrayBuffer>;

/** An anomaly of a document. The keys are those of `baselink rewrite --json`. */
export interface Diagnostic {
  /** The kind of the anomaly. */
  code: string;
  /** A sentence for people. */
  message: string;
  /** The line, counted from 1. */
  line: number;
  /** The column, counted from 1, in the units of the offsets. */
  column: number;
  /** The offset at which the anomaly begins, in the units of {@link Link.start}. */
  start: number;
  /** The offset at which the anomaly ends. */
  end: number;
}

/** A rewritten document, and a report. */
export interface Rewritten<Output> {
  /** The document with absolute links. */
  output: Output;
  /** Every link, in document order. */
  links: Link[];
  /** The number of links with each outcome. */
  counts: Record<Outcome, number>;
  /** The number of links with each reason that occurs. */
  reasons: Partial<Record<Reason, number>>;
  /** Every anomaly, in document order. */
  diagnostics: Diagnostic[];
}

/**
 * Does the same as {@link rewrite}, and reports what happened to the links.
 *
 * @throws {TypeError} For a wrong argument, never for a document.
 * @throws {RangeError} If the document needs more memory than there is.
 * @example
 * rewriteReport("<img src=''>", { url: "https://a.example/" }).reasons; // { empty: 1 }
 */
export function rewriteReport(data: string, options?: RewriteOptions): Rewritten<string>;
export function rewriteReport(data: Bytes, options?: RewriteOptions): Rewritten<Uint8Array<ArrayBuffer>>;
export function rewriteReport(data: Data, options?: RewriteOptions): Rewritten<string | Uint8Array<ArrayBuffer>>;

/**
 * Lists every link of a document, in document order.
 *
 * @throws {TypeError} For a wrong argument, never for a document.
 * @throws {RangeError} If the document needs more memory than there is.
 * @example
 * links("<img srcset='y 2x'>", { url: "https://a.example/" })[0].target; // 'https://a.example/y'
 */
export function links(data: Data, options?: Options): Link[];

/**
 * Finds the base URL of a document, and explains it. For a message, this is the base of the outermost heading.
 *
 * @throws {TypeError} For a wrong argument, never for a document.
 * @throws {RangeError} If the document needs more memory than there is.
 * @example
 * base("<base href=/b/>", { url: "https://a.example/" }).base; // 'https://a.example/b/'
 */
export function base(data: Data, options?: Options): Base;

/**
 * Resolves a reference against a base URL.
 *
 * @throws {TypeError} If the base is not an absolute URL, or if the reference has no target.
 * @example
 * resolve("https://a.example/b/c/d", "../g"); // 'https://a.example/b/g'
 */
export function resolve(base: string | URL, reference: string, options?: ResolveOptions): string;

/**
 * Finds a short reference that means `target` in a document with this base: a fragment, a query, a relative path, an
 * absolute path, or else `target` itself.
 *
 * @throws {TypeError} If the base is not an absolute URL.
 * @example
 * relativize("https://a.example/b/c/d", "https://a.example/b/g"); // '../g'
 */
export function relativize(base: string | URL, target: string | URL, options?: ResolveOptions): string;

/** The format of an archive, which {@link detect} also finds. */
export type ArchiveFormat = "warc" | "wacz" | "har" | "webarchive";

/**
 * Detects the format of a document from its file name, if it has one, and its first bytes; 2,048 bytes are enough.
 *
 * @returns A value of the option `format`, or the name of a format of archives; `"other"` if the format is unknown.
 * @throws {TypeError} For a wrong argument.
 * @example
 * detect("a.svg", new Uint8Array()); // 'svg'
 */
export function detect(name: string | null | undefined, head: Bytes): Format | ArchiveFormat;

/**
 * The messages of a mailbox (mbox). Each has its bytes from the mailbox, without the line `From `.
 *
 * @throws {TypeError} For a wrong argument.
 * @throws {RangeError} If the mailbox needs more memory than there is.
 * @example
 * messages(new Uint8Array(await response.arrayBuffer())).map((message) => rewrite(message, { format: "message" }));
 */
export function messages(data: Bytes): Uint8Array<ArrayBuffer>[];

/** The version of the package, such as `"0.1.0"`. */
export const version: string;

/** The options of {@link RewriterStream}. */
export interface StreamOptions extends RewriteOptions {
  /**
   * The largest document in bytes. A longer one fails the stream with a `RangeError`, before it is buffered. The stream takes two to
   * four times this memory. Default: no limit.
   */
  maxBytes?: number | null | undefined;
}

/**
 * Rewrites a stream of bytes. The base may follow the links, so the stream is buffered until its end. The chunks are copied.
 *
 * @example
 * // A document of 10 MB takes up to 40 MB. An answer to HEAD has no body. Both headers describe the bytes before the change.
 * const stream = new RewriterStream({ url: response.url, resolver: "whatwg", maxBytes: 10e6 });
 * const rewritten = new Response(response.body?.pipeThrough(stream), response);
 * for (const name of ["content-length", "etag"]) rewritten.headers.delete(name);
 * return rewritten;
 */
export class RewriterStream extends TransformStream<Bytes, Uint8Array<ArrayBuffer>> {
  /** @throws {TypeError} For a wrong option. */
  constructor(options?: StreamOptions);
}

/** A compiled WebAssembly module. Without the library `dom`, TypeScript has no name for this type. */
type Module = typeof globalThis extends { WebAssembly: { Module: { prototype: infer Compiled } } } ? Compiled : never;

/** The file `baselink.wasm`: compiled, or its bytes. */
export type Binary = Module | ArrayBuffer | ArrayBufferView<ArrayBuffer>;

/** The file `baselink.wasm`: compiled, its bytes, a response with them, or its URL. */
export type Source = Binary | Response | string | URL;

/**
 * Loads the package in a browser. Until it is loaded, every other function except `initSync` throws. In Node and in
 * Cloudflare Workers the package is loaded when it is imported, and this function does nothing.
 *
 * @param source By default, the file `baselink.wasm` of the package.
 * @example
 * await init();
 */
export default function init(source?: Source | Promise<Source>): Promise<void>;

/**
 * Loads the package in a browser from WebAssembly that your program has already loaded.
 *
 * @example
 * initSync(bytes);
 */
export function initSync(source: Binary): void;

// Without this, TypeScript exports `Module`, too.
export {};
