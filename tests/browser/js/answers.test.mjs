// The package gives the very bytes that the Rust API gives, in Node and in a page.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import * as core from "@a2a-edge/core";
import * as coordination from "@a2a-edge/core/coordination";
import { answers } from "./answers.mjs";
import { browser, open, serve } from "./chromium.mjs";

const calls = JSON.parse(readFileSync("calls.json", "utf8"));

function agree(given) {
  assert.equal(given.length, calls.length);
  given.forEach((answer, index) => assert.equal(answer, calls[index].answer, JSON.stringify(calls[index])));
}

test("Node", () => agree(answers(core, coordination, calls)));

test("texts of any length and script cross whole", () => {
  const { a2aPath } = core.shaping;
  for (const letter of ["a", "é", "漢", "😀"]) {
    for (const length of [0, 1, 49, 50, 51, 1000, 70_000]) {
      const line = "a".repeat(length);
      for (const text of [letter.repeat(length), letter + line, line + letter]) assert.equal(a2aPath(text), text);
      assert.equal(a2aPath(`${line}\ud83d${letter}`), `${line}\ufffd${letter}`);
    }
  }
});

test("Chromium", async (t) => {
  const server = await serve({ "/core/": join(process.env.A2A_EDGE_PACKAGES, "core"), "/": process.cwd() });
  const chromium = await browser();
  t.after(async () => {
    await chromium.close();
    server.close();
  });
  const { page, faults } = await open(chromium.context, `${server.url}/empty.html`);
  const given = await page.evaluate(async () => {
    const [core, coordination, { answers }, calls] = await Promise.all([
      import("/core/dist/index.js"),
      import("/core/dist/coordination.js"),
      import("/answers.mjs"),
      fetch("/calls.json").then((response) => response.json()),
    ]);
    return answers(core, coordination, calls);
  });
  agree(given);
  assert.deepEqual(faults, []);
});
