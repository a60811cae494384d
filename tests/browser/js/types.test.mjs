// The types say what the functions give and take: what they gave is written down as TypeScript and compiled against
// the package's own declarations, where a member too many, missing or of another type is an error.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import * as core from "@a2a-edge/core";
import * as coordination from "@a2a-edge/core/coordination";

const calls = JSON.parse(readFileSync("calls.json", "utf8"));
const types = "node_modules/@a2a-edge/core/dist";

/** Compiles a TypeScript file that imports the package; returns what the compiler says. */
function compile(name, source) {
  mkdirSync("typed", { recursive: true });
  const file = join("typed", `${name}.ts`);
  writeFileSync(file, source);
  const options = ["--noEmit", "--strict", "--exactOptionalPropertyTypes", "--target", "es2022", "--module", "nodenext", "--types", ""];
  try {
    execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", ...options, file], { encoding: "utf8" });
    return "";
  } catch (error) {
    return error.stdout;
  }
}

const IMPORTS = `import { ValidationError, activation, envelope, gate, projection, shaping, work } from "@a2a-edge/core";
import * as coordination from "@a2a-edge/core/coordination";
`;

/** What the functions gave, by function, and what they took. */
function observed() {
  const given = new Map();
  const taken = new Map();
  const note = (map, name, value) => map.set(name, [...(map.get(name) ?? []), value]);
  for (const { door, arguments: passed, answer } of calls) {
    const [room, json] = door.split(".");
    const name = json.replace(/Json$/, "");
    if (room === "coordination") continue;
    const verdict = JSON.parse(answer);
    if (!verdict.ok) continue;
    const parsed = json.endsWith("Json") && name !== "parseAddress" && name !== "deliver" ? JSON.parse(passed[0]) : passed[0];
    if (name === "project") note(taken, "projection.project", parsed);
    if (room === "work" && name === "validate" && parsed !== null) note(taken, "work.Request", parsed);
    if (room === "envelope" && name === "validate" && parsed !== null) note(taken, "envelope.Envelope", parsed);
    if (verdict.result === undefined || name === "metadataBudget") continue;
    const result = name === "deliver" ? verdict.result.deliveries : name === "opening" ? verdict.result.opens : verdict.result;
    note(given, `${room}.${name}`, result);
  }
  given.set("coordination.catalogue", [coordination.catalogue()]);
  given.set("coordination.overlap", [coordination.overlap("a", "b"), coordination.overlap("a", "a")]);
  return { given, taken };
}

test("what the functions give is of their types", () => {
  const { given } = observed();
  let source = IMPORTS;
  for (const [name, values] of given) {
    // A generic result depends on its argument.
    if (name === "activation.declareOnCard") continue;
    for (const value of values) source += `check<ReturnType<typeof ${name}>>(${JSON.stringify(value)});\n`;
  }
  source += "function check<T>(value: T): T { return value; }\nvoid [ValidationError, activation, envelope, gate, projection, shaping, work, coordination];\n";
  // And the compiler looks: a member that is not declared, one missing and one out of range are errors.
  for (const wrong of ['{ row: 12, state: "WORKING", text: "", extra: 1 }', '{ row: 12, state: "WORKING" }', '{ row: 13, state: "WORKING", text: "" }']) {
    source += `// @ts-expect-error\ncheck<projection.Projected>(${wrong});\n`;
  }
  assert.equal(compile("given", source), "");
});

test("every declared member of a result is given by some call", () => {
  const { given } = observed();
  const seen = (name, inner = (value) => [value]) => {
    const members = (given.get(name) ?? []).flatMap(inner).flatMap((value) => Object.keys(value ?? {}));
    return [...new Set(members)].sort();
  };
  const declared = (file, name) => {
    const [, body] = new RegExp(`interface ${name} {\n([^]*?)\n}`).exec(readFileSync(join(types, `${file}.d.ts`), "utf8"));
    return [...body.matchAll(/^ {4}(\w+)\??:/gm)].map(([, member]) => member).sort();
  };
  const each = (value) => value;
  for (const [file, name, members] of [
    ["work", "Draft", seen("work.shapeDraft")],
    ["envelope", "Delivery", seen("envelope.deliver", each)],
    ["envelope", "Written", seen("envelope.writeBack")],
    ["projection", "Projected", seen("projection.project")],
    ["projection", "WorkState", seen("projection.project", ({ work = {} }) => [work])],
    ["gate", "Gate", seen("projection.project", ({ gates = [] }) => gates)],
    ["shaping", "Inbound", seen("shaping.inbound")],
    ["coordination", "Overlap", seen("coordination.overlap")],
    ["coordination", "Operation", seen("coordination.catalogue", each)],
    ["coordination", "Param", seen("coordination.catalogue", (operations) => operations.flatMap(({ params }) => params))],
  ]) {
    assert.deepEqual(members, declared(file, name), name);
  }
});

test("what the functions take may be written down", () => {
  const { taken } = observed();
  let source = IMPORTS;
  for (const [name, values] of taken) {
    const type = name === "projection.project" ? "projection.Facts" : name;
    for (const value of values) source += `export const _${source.length}: ${type} = ${JSON.stringify(value)};\n`;
  }
  assert.ok(taken.get("work.Request").length > 2 && taken.get("projection.project").length > 20);
  const told = compile("taken", source);
  // Members that the rules ignore are no part of the types; nothing else may be wrong.
  const others = told.split("\n").filter((line) => /error TS/.test(line) && !/TS2353|TS2322.*undefined/.test(line));
  assert.deepEqual(others, [], told);
});

test("the parameters of each operation are typed", () => {
  const source = `${IMPORTS}
const claim = coordination.validate("claims.acquire", { resourceId: "src/**" });
const resource: string = claim.resourceId;
const lease: number | undefined = claim.leaseSeconds;
const type: "exclusive" | "shared" | undefined = claim.claimType;
const key: string | undefined = claim.idempotencyKey;
const wrong: ValidationError | undefined = coordination.check("requests.create", {});
const request = work.validate({ skill: "status" });
if (request?.skill === "handoff") request.writes satisfies string[] | undefined;
const address = envelope.parseAddress("human:wyat");
if (address.kind === "human") address.handle satisfies string;
const state: gate.GateState = { gates: projection.project({}).gates ?? [] };
activation.declareOnCard({ name: "x" }, []).capabilities.extensions[0]?.uri satisfies string | undefined;
shaping.a2aPath("to") satisfies string;
void [resource, lease, type, key, wrong, state];
`;
  const wrong = [
    'coordination.check("claims.take", {})',
    'coordination.validate("claims.release", {}).claim',
    'coordination.validate("requests.list", {}).idempotencyKey',
    'work.check({}, "maybe")',
  ];
  const lines = wrong.map((line) => `// @ts-expect-error\n${line};\n`).join("");
  assert.equal(compile("sample", source + lines), "");
});

test("no declaration says any", () => {
  const files = readdirSync(types, { recursive: true }).filter((file) => file.endsWith(".d.ts"));
  assert.ok(files.length > 8);
  for (const file of files) {
    const code = readFileSync(join(types, file), "utf8").replace(/\/\*[^]*?\*\/|\/\/.*/g, "");
    assert.doesNotMatch(code, /\bany\b/, file);
  }
});

test("an error says every field at fault, as data and in a sentence", () => {
  const found = coordination.check("claims.acquire", { resourceId: "/x", leaseSeconds: 1, idempotencyKey: "" });
  assert.ok(found instanceof coordination.ValidationError && found instanceof core.ValidationError && found instanceof Error);
  assert.equal(found.name, "ValidationError");
  assert.equal(found.code, "invalid");
  assert.deepEqual(found.violations.map(({ field }) => field), ["resourceId", "leaseSeconds", "idempotencyKey"]);
  assert.match(found.message, /^resourceId: expected .* \(and 2 more\)$/);
  assert.throws(() => core.envelope.validate({ urgent: true }), { name: "ValidationError", code: "forbidden" });
  assert.throws(() => core.projection.project([]), { code: "invalid", violations: [{ field: "facts", description: "expected an object" }] });
  assert.equal(coordination.check("claims.take", {}).code, "not-found");
  assert.equal(core.work.check(undefined), undefined);
  assert.equal(core.work.validate(undefined), null);
  const request = { skill: "status" };
  assert.equal(core.work.validate(request), request);
});
