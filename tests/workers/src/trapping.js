// The bundle, with a trap to fall into: after a request to /arm the module ends, the next time that it draws random
// bytes, as a module ends at an instruction that must not be reached. After one to /break the next object that is asked
// fails, as one does that the platform has to move.

import Desk, { Session as Whole } from "./index.js";
import trap from "./trap.wasm";

const { exports } = new WebAssembly.Instance(trap);
const draw = crypto.getRandomValues.bind(crypto);
let armed = false;
let broken = false;

crypto.getRandomValues = (array) => {
  if (armed) {
    armed = false;
    exports.trap();
  }
  return draw(array);
};

export default class extends Desk {
  fetch(request) {
    const { pathname } = new URL(request.url);
    armed ||= pathname === "/arm";
    broken ||= pathname === "/break";
    return pathname === "/arm" || pathname === "/break" ? new Response() : super.fetch(request);
  }
}

export class Session extends Whole {
  fetch(request) {
    if (!broken) return super.fetch(request);
    broken = false;
    throw new Error("the object was moved");
  }
}
