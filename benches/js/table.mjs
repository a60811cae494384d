// table.mjs CORE COMPONENT MODULES CORPUS [--quick]: how long a validation takes in Node, by the two npm packages and by
// ajv with a schema that says all that JSON Schema can say of work/v1.
//
// The contenders take turns in short batches, and the median of their batches counts.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [core, component, modules, file, ...flags] = process.argv.slice(2);
const load = (...path) => import(pathToFileURL(resolve(...path)));
const { work } = await load(core, "dist/index.js");
const { work: interfaced } = await load(component, "dist/a2a-edge.js");
const { default: Ajv } = createRequire(resolve(modules, "x.js"))("ajv/dist/2020.js");
const schema = JSON.parse(readFileSync(new URL("../work-request.schema.json", import.meta.url), "utf8"));
const satisfies = new Ajv({ strict: false }).compile(schema);
const { requests, measured } = JSON.parse(readFileSync(file, "utf8"));

const OK = '{"ok":true}';
const TURNS = flags.includes("--quick") ? 50 : 1001;
// In nanoseconds; so short that most are over before somebody else has the processor.
const BATCH = 2e5;

function parsed(text) {
  try {
    return satisfies(JSON.parse(text));
  } catch {
    return false;
  }
}

// They must do the same work, or their times mean nothing.
for (const text of requests) {
  const takes = work.validateJson(text) === OK;
  if (takes !== parsed(text) || takes !== (interfaced.validateJson(text, "taken") === OK)) throw new Error(`the contenders disagree on ${text.slice(0, 300)}`);
}
console.log(`\nIn Node ${process.version}, all contenders agree on ${requests.length} requests.`);

function batch(once, runs) {
  const begun = process.hrtime.bigint();
  for (let run = 0; run < runs; run++) once();
  return Number(process.hrtime.bigint() - begun);
}

/** Lets each have its turns, and prints a line for each; the first is the measure of the others. */
function contest(title, bytes, contenders) {
  const entered = Object.entries(contenders).map(([name, once]) => {
    batch(once, 1000);
    let runs = 1;
    // The quickest of three, which nobody interrupted.
    while (Math.min(batch(once, runs), batch(once, runs), batch(once, runs)) < BATCH) runs *= 2;
    return { name, once, runs, times: [] };
  });
  for (let turn = 0; turn < TURNS; turn++) {
    for (const { once, runs, times } of entered) times.push(batch(once, runs) / runs);
  }
  console.log(`${title}, ${bytes} bytes`);
  const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];
  const measure = median(entered[0].times);
  for (const { name, times } of entered) {
    const nanos = median(times);
    const [time, rate, ratio] = [nanos.toFixed(0), ((bytes * 1e3) / nanos).toFixed(1), (nanos / measure).toFixed(2)];
    console.log(`  ${name.padEnd(32)} ${time.padStart(12)} ${rate.padStart(10)} ${ratio.padStart(7)}×`);
  }
}

const heading = ["ns", "MB/s", "ratio"];
console.log(`\n${"a handoff, validated in Node".padEnd(34)} ${heading[0].padStart(12)} ${heading[1].padStart(10)} ${heading[2].padStart(8)}`);
for (const [name, text] of Object.entries(measured)) {
  const value = JSON.parse(text);
  contest(`${name}, from text`, Buffer.byteLength(text), {
    "@a2a-edge/core": () => work.validateJson(text),
    "@a2a-edge/component": () => interfaced.validateJson(text, "taken"),
    "JSON.parse and ajv": () => parsed(text),
  });
  contest(`${name}, from an object`, Buffer.byteLength(text), {
    "@a2a-edge/core": () => work.check(value),
    ajv: () => satisfies(value),
  });
}
