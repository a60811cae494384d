// The component, transpiled: the same calls, the same bytes; and the example that embeds it in Node.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import * as component from "@a2a-edge/component";
import { publint } from "publint";

const calls = JSON.parse(readFileSync("calls.json", "utf8"));

/** The arguments as the component takes them: options instead of empty texts, lists instead of their JSON. */
function given(door, passed) {
  if (door === "projection.projectJson") return [passed[0], passed[1] || undefined];
  if (door === "shaping.taskJson") return [passed[0], passed[1] || undefined, JSON.parse(passed[2]), passed[3]];
  return passed;
}

test("every call that the component knows is answered as by the Rust API", () => {
  let known = 0;
  for (const { door, arguments: passed, answer } of calls) {
    const [room, name] = door.split(".");
    if (!name.endsWith("Json") || component[room]?.[name] === undefined) continue;
    assert.equal(component[room][name](...given(door, passed)), answer, JSON.stringify({ door, passed }));
    known++;
  }
  assert.ok(known > 100, `only ${known} calls`);
});

test("publint finds nothing", async () => {
  const { messages } = await publint({ pkgDir: "node_modules/@a2a-edge/component", strict: true, pack: false });
  assert.deepEqual(messages, []);
});

test("the example runs", () => {
  mkdirSync("example", { recursive: true });
  copyFileSync(join(process.env.A2A_EDGE_ROOT, "examples/node/validate.mjs"), "example/validate.mjs");
  const run = (request) => execFileSync(process.execPath, ["example/validate.mjs"], { input: request, encoding: "utf8" });
  assert.match(run('{"skill":"handoff","title":"Fix it"}'), /^a handoff: Fix it$/m);
  assert.match(run('{"skill":"handoff","title":"Fix it","writes":["../up"]}'), /^invalid: work\.writes\[0\]: expected a path/m);
});
