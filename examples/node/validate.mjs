// Validates a work/v1 request from standard input with the component, by its typed interface.

import { readFileSync } from "node:fs";
import { work } from "@a2a-edge/component";

const request = readFileSync(0, "utf8");
try {
  const read = work.validate(request, "taken");
  if (read === undefined) console.log("no request");
  else if (read.tag === "handoff") console.log(`a handoff: ${read.val.title}`);
  else console.log(`a look at ${read.val ?? "all handoffs"}`);
} catch (error) {
  // What an interface gives as an error is in the payload of what is thrown.
  const { code, field, message } = error.payload ?? {};
  if (code === undefined) throw error;
  console.log(`${code}: ${field}: ${message}`);
}
