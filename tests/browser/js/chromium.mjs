// Chromium, and a server on loopback for the files that it is to show.

import { createReadStream, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { extname, join, normalize } from "node:path";
import { chromium } from "playwright-core";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Serves folders under names: `{"/": folder, "/core": folder}`. The longest name that fits a path wins. */
export async function serve(folders) {
  const names = Object.keys(folders).sort((one, other) => other.length - one.length);
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://x").pathname));
    const name = names.find((name) => path.startsWith(name));
    let file = name === undefined ? undefined : join(folders[name], path.slice(name.length));
    if (file !== undefined && existsSync(file) && statSync(file).isDirectory()) file = join(file, "index.html");
    if (file === undefined || !existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

/** Starts Chromium with a profile of its own. */
export async function browser() {
  const profile = mkdtempSync(join(tmpdir(), "a2a-edge-chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM,
    args: FLAGS,
    timeout: 60_000,
  });
  context.setDefaultTimeout(30_000);
  return {
    context,
    async close() {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

/** A page that fails the test for whatever goes wrong in it. */
export async function open(context, url) {
  const page = await context.newPage();
  const faults = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
  await page.goto(url);
  return { page, faults };
}
