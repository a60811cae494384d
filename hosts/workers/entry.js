// Between the platform and the module: names every request, and sees to it that a module that has trapped answers for
// what it was doing. A trap leaves the promises of its requests forever open; here they are rejected, and the next
// request finds a fresh instance.

import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
import * as module from "./glue.js";

// What the instance is doing: the reject functions of calls that have not ended.
const inFlight = new Set();
let trapped = false;
// Tells the objects that theirs belongs to an instance that is gone.
let instance = 0;

// A stack overflow is a RangeError, and leaves the instance as unfit as any other trap.
const isTrap = (error) => error instanceof WebAssembly.RuntimeError || error instanceof RangeError;

function note(error) {
  if (!isTrap(error) || trapped) return;
  trapped = true;
  console.error(JSON.stringify({ event: "trap", inFlight: inFlight.size, why: error.message }));
  for (const reject of inFlight) reject(error);
  inFlight.clear();
}

// Where a trap in a continuation shows up: no caller is there to catch it.
addEventListener("error", (event) => note(event.error));
addEventListener("unhandledrejection", (event) => note(event.reason));

function revive() {
  if (!trapped) return;
  module.__wbg_reset_state();
  trapped = false;
  instance += 1;
}

async function call(run) {
  revive();
  let mine;
  try {
    return await new Promise((resolve, reject) => {
      mine = reject;
      inFlight.add(reject);
      Promise.resolve(run()).then(resolve, reject);
    });
  } catch (error) {
    note(error);
    throw error;
  } finally {
    inFlight.delete(mine);
  }
}

// A stream outlives the call that opened it: each of its reads is a call of its own, so that a trap ends it.
function guarded(response) {
  if (response.headers.get("content-type") !== "text/event-stream") return response;
  const reader = response.body.getReader();
  const mine = instance;
  const source = {
    async pull(controller) {
      if (trapped || instance !== mine) throw new Error("the stream's instance is gone");
      const { done, value } = await call(() => reader.read());
      if (done) controller.close();
      else controller.enqueue(value);
    },
    // What an instance that is gone had is gone with it.
    cancel: (reason) => (trapped || instance !== mine ? undefined : reader.cancel(reason)),
  };
  return new Response(new ReadableStream(source, { highWaterMark: 0 }), response);
}

function failure(id) {
  const error = {
    code: 500,
    status: "INTERNAL",
    message: "the server failed",
    details: [
      {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        reason: "INTERNAL_ERROR",
        domain: "a2a-edge",
        metadata: { requestId: id },
      },
    ],
  };
  return new Response(JSON.stringify({ error }), {
    status: 500,
    headers: { "content-type": "application/a2a+json", "x-request-id": id },
  });
}

export default class extends WorkerEntrypoint {
  async fetch(request) {
    const id = request.headers.get("cf-ray") ?? crypto.randomUUID();
    const start = Date.now();
    const named = new Request(request);
    named.headers.set("x-request-id", id);
    try {
      return await call(() => module.fetch(named, this.env, this.ctx));
    } catch (error) {
      const line = { event: "request", id, method: request.method, status: 500, ms: Date.now() - start };
      console.error(JSON.stringify({ ...line, why: String(error?.message ?? error) }));
      return failure(id);
    }
  }
}

export class Session extends DurableObject {
  #instance = -1;
  #session;

  // The session of the module's present instance. What it had in memory before is in storage.
  #current() {
    if (this.#instance !== instance) {
      this.#session = new module.Session(this.ctx, this.env);
      this.#instance = instance;
    }
    return this.#session;
  }

  fetch(request) {
    return call(() => this.#current().fetch(request)).then(guarded);
  }

  alarm() {
    return call(() => this.#current().alarm());
  }
}
