// The package is one that its users' tools take: exports, declarations, what a bundler leaves out.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { publint } from "publint";

const installed = "node_modules/@a2a-edge/core";
const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));

test("publint finds nothing", async () => {
  const { messages } = await publint({ pkgDir: installed, strict: true, pack: false });
  assert.deepEqual(messages, []);
});

test("the types are right for whoever may import them", () => {
  const attw = "node_modules/@arethetypeswrong/cli/dist/index.js";
  // There is no CommonJS in the package, and Node that knows no exports is long gone.
  const told = execFileSync(process.execPath, [attw, "--pack", installed, "--profile", "esm-only", "--format", "json"], {
    encoding: "utf8",
    env: { ...process.env, npm_config_cache: join(process.cwd(), "npm-cache") },
  });
  const { analysis } = JSON.parse(told);
  assert.ok(Object.keys(analysis.entrypoints).includes("./coordination"));
  const found = Object.values(analysis.problems ?? []).flat().filter(({ resolutionKind }) => !/node10|node16-cjs/.test(resolutionKind ?? ""));
  assert.deepEqual(found, []);
});

test("types stand first in every export", () => {
  for (const entry of Object.values(manifest.exports).filter((entry) => typeof entry === "object")) {
    assert.equal(Object.keys(entry)[0], "types");
  }
});

async function bundle(name, source) {
  mkdirSync("bundled", { recursive: true });
  const outfile = join("bundled", `${name}.mjs`);
  const { metafile } = await build({
    stdin: { contents: source, resolveDir: process.cwd() },
    bundle: true,
    format: "esm",
    metafile: true,
    outfile,
    logLevel: "silent",
  });
  const [{ inputs }] = Object.values(metafile.outputs);
  const kept = Object.entries(inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  return { outfile, kept: kept.map(([file]) => file.replace(/^.*dist\//, "")) };
}

test("a bundler leaves out what is not used", async () => {
  const { kept: nothing } = await bundle("nothing", 'import "@a2a-edge/core"; import "@a2a-edge/core/coordination";');
  assert.deepEqual(nothing, []);
  const { kept, outfile } = await bundle("one", 'import { work } from "@a2a-edge/core"; globalThis.wrong = work.check({ skill: "handoff" });');
  assert.deepEqual(
    kept.filter((file) => file !== "<stdin>").sort(),
    ["doors/start.js", "doors/validators.js", "doors/validators_glue.js", "error.js", "verdict.js", "work.js"],
  );
  // What is bundled runs, with the module beside it.
  for (const file of readdirSync(join(installed, "dist/doors")).filter((file) => file.endsWith(".wasm"))) {
    copyFileSync(join(installed, "dist/doors", file), join("bundled", file));
  }
  await import(pathToFileURL(outfile));
  assert.equal(globalThis.wrong.violations[0].field, "work.title");
});

test("nothing is published but what is meant to be", () => {
  const outermost = readdirSync(installed).sort();
  assert.deepEqual(outermost, ["LICENSE", "README.md", "dist", "package.json"]);
  assert.deepEqual(manifest.files, ["dist"]);
});
