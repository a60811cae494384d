// The bundle, with a trap to fall into: after a request to /arm the module ends, the next time that it draws random
// bytes, as a module ends at an instruction that must not be reached.

import Desk, { Session } from "./index.js";
import trap from "./trap.wasm";

const { exports } = new WebAssembly.Instance(trap);
const draw = crypto.getRandomValues.bind(crypto);
let armed = false;

crypto.getRandomValues = (array) => {
  if (armed) {
    armed = false;
    exports.trap();
  }
  return draw(array);
};

export default class extends Desk {
  fetch(request) {
    if (new URL(request.url).pathname !== "/arm") return super.fetch(request);
    armed = true;
    return new Response();
  }
}

export { Session };
