// Chromium and its pages, controlled by the DevTools protocol over a pipe.
//
//     const page = await (await chromium()).open("https://a.example/");
//     await page.value("document.title")                              // the value of an expression in the page
//
// If Chromium is absent, a test is skipped; with BASELINK_REQUIRE_OUTSIDE=1, as CI sets it, it fails.
//
// Deliberately absent: a package for this protocol; even the smallest one has thousands of files.

import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

const paths = (process.env.PATH ?? "").split(":").map((folder) => join(folder, "chromium"));
const program = paths.find((path) => existsSync(path));
export const options = { skip: !program && !process.env.BASELINK_REQUIRE_OUTSIDE && "Chromium is absent", timeout: 120_000 };

/**
 * Starts a server for `files`, which maps each path to a media type and a body. A request with `If-None-Match` gets the status 304.
 * Returns its `url`, the paths `asked` for so far, and `end()`, which stops it.
 */
export async function serve(files) {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    const [type, body] = files[request.url] ?? ["text/plain", ""];
    const status = !files[request.url] ? 404 : request.headers["if-none-match"] ? 304 : 200;
    const headers = { "content-type": type, "content-length": Buffer.byteLength(body), etag: '"1"' };
    response.writeHead(status, headers).end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const end = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${server.address().port}/`, asked, end };
}

/** Starts Chromium. Returns `open(url)`, which opens a page, and `end()`, which stops Chromium. */
export async function chromium() {
  const profile = mkdtempSync(join(tmpdir(), "baselink-"));
  const unneeded = ["gpu", "dev-shm-usage", "background-networking"];
  // Without these flags, a page behind another one would be slow.
  const slow = ["background-timer-throttling", "renderer-backgrounding", "backgrounding-occluded-windows"];
  const flags = ["--headless", "--no-sandbox", ...[...unneeded, ...slow].map((name) => `--disable-${name}`)];
  const given = [...flags, "--remote-debugging-pipe", `--user-data-dir=${profile}`];
  const child = spawn(program, given, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
  const [, , , input, output] = child.stdio;

  const answers = new Map();
  const listeners = new Map();
  let number = 0;
  function send(method, params = {}, sessionId) {
    number += 1;
    input.write(`${JSON.stringify({ id: number, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => answers.set(number, { resolve, reject }));
  }
  let rest = "";
  output.setEncoding("utf8").on("data", (text) => {
    const messages = (rest + text).split("\0");
    rest = messages.pop();
    for (const { id, result, error, method, params, sessionId } of messages.map((message) => JSON.parse(message))) {
      if (!id) listeners.get(sessionId)?.(method, params);
      else if (error) answers.get(id).reject(new Error(error.message));
      else answers.get(id).resolve(result);
    }
  });

  async function open(url, prepare = async () => {}) {
    const { targetId } = await send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page((method, params) => send(method, params, sessionId));
    listeners.set(sessionId, (method, params) => page.heard(method, params));
    await page.send("Page.enable");
    await prepare(page);
    await page.send("Page.navigate", { url });
    return page;
  }

  async function end() {
    const ended = new Promise((resolve) => child.on("exit", resolve));
    child.kill();
    await ended;
    // Its other processes may still write to the profile.
    for (let left = 20; existsSync(profile); left -= 1) {
      try {
        rmSync(profile, { recursive: true, force: true });
      } catch (error) {
        if (left === 0) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }
  return { open, end };
}

class Page {
  /** The events of the page, in order. */
  events = [];

  constructor(send) {
    this.send = send;
  }

  heard(method, params) {
    this.events.push({ method, params });
  }

  /** The value of an expression in the page; if the value is a promise, the value of that promise. */
  async value(expression) {
    const given = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", given);
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  /** Waits until an expression is true. */
  async until(expression) {
    for (let times = 0; times < 400; times++) {
      if (await this.value(expression).catch(() => false)) return;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error(`still not true: ${expression}`);
  }

  /** Presses a key that types no character, such as `Tab`. */
  async press(key) {
    const code = { Tab: 9, ArrowRight: 39, End: 35, Enter: 13 }[key];
    const given = { key, code: key, windowsVirtualKeyCode: code };
    await this.send("Input.dispatchKeyEvent", { type: "rawKeyDown", ...given });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...given });
  }

  async size(width, height = 900) {
    await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
  }

  async scheme(value) {
    await this.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value }] });
  }

  /** A PNG of the whole page, or of the visible part if `whole` is false. */
  async picture({ whole = true } = {}) {
    const { data } = await this.send("Page.captureScreenshot", { captureBeyondViewport: whole });
    return Buffer.from(data, "base64");
  }
}
