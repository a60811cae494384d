// The module of the store's suite, as the platform calls it.

import { DurableObject } from "cloudflare:workers";
import * as module from "./glue.js";

export default { fetch: (request, env, context) => module.fetch(request, env, context) };

export class Kept extends DurableObject {
  #store = new module.Kept(this.ctx, this.env);

  fetch(request) {
    return this.#store.fetch(request);
  }
}
