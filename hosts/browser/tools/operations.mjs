// operations.mjs GLUE OUT: writes the types of the operations' parameters, from the catalogue that the module itself
// gives, so that they are never others than those that are checked.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [glue, out] = process.argv.slice(2);
const module = await import(pathToFileURL(join(glue, "coordination_glue.js")));
module.initSync({ module: readFileSync(join(glue, "coordination_glue_bg.wasm")) });
const operations = JSON.parse(module.catalogue());

const words = (names) => names.map((name) => JSON.stringify(name)).join(" | ");

// The limits of a shape, where a type cannot hold them.
const limits = {
  line: ({ maxChars }) => `one line of at most ${maxChars} characters`,
  text: ({ maxChars }) => `at most ${maxChars} characters`,
  filled: ({ maxChars }) => `at most ${maxChars} characters, not blank`,
  id: ({ maxChars }) => `an id of at most ${maxChars} characters`,
  "https-url": ({ maxChars }) => `an https URL of at most ${maxChars} characters`,
  resource: () => "a path, a glob or `scheme:id`",
  integer: ({ min, max }) => `a whole number from ${min} to ${max}`,
  list: ({ maxItems }) => `at most ${maxItems}`,
  set: ({ maxItems }) => `at most ${maxItems}, all different`,
};

function type(shape, indent) {
  switch (shape.type) {
    case "choice":
      return words(shape.of) + (shape.nullable ? " | null" : "");
    case "integer":
      return "number";
    case "flag":
      return "boolean";
    case "artifact":
      return `Artifact${shape.or ? ` | ${type(shape.or, indent)}` : ""}`;
    case "list":
    case "set": {
      const entry = type(shape.of, indent);
      return entry.includes("|") ? `(${entry})[]` : `${entry}[]`;
    }
    case "object":
      return `{\n${members(shape.params, `${indent}  `)}${indent}}`;
    default:
      return "string";
  }
}

const members = (params, indent) =>
  params
    .map(({ name, required, about, shape }) => {
      const limit = limits[shape.type]?.(shape);
      const told = `${about}${limit ? `: ${limit}` : ""}`;
      return `${indent}/** ${told} */\n${indent}${name}${required ? "" : "?"}: ${type(shape, indent)};\n`;
    })
    .join("");

const key = {
  name: "idempotencyKey",
  required: false,
  about: "Makes a repeat harmless: 1 to 255 characters",
  shape: {},
};

const entry = ({ name, about, readOnly, params }) => {
  const all = members(readOnly ? params : [...params, key], "    ");
  return `  /** ${about}. */\n  ${JSON.stringify(name)}: {\n${all}  };\n`;
};

const text = operations.map(entry).join("");
const uses = text.includes("Artifact") ? 'import type { Artifact } from "./a2a.js";\n\n' : "";
writeFileSync(
  out,
  `${uses}/** What each operation of session-coordination/v1 takes. */
export interface Parameters {
${text}}

/** The name of an operation. */
export type OperationName = keyof Parameters;
`,
);
