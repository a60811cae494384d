// gate/v1: what a task waits on its owner for. It is only written, never read from a client.

import type { Json } from "./a2a.js";
import * as doors from "./doors/validators.js";
import { result, text } from "./verdict.js";

/** Identifies the extension. */
export const URI = "https://dispatch.foo/a2a/ext/gate/v1";

/** A gate that waits for the owner. Nothing else of a gate ever reaches a client. */
export interface Gate {
  /** The message that raised it. */
  id: string;
  /** `task-proposal`, `tool-approval`, `scope`, `wake`, or a word of the host's own. */
  type: string;
  /** Since when it is open: RFC 3339, in UTC, with milliseconds. */
  openedAt: string;
  /** Whom it waits for. */
  waitingOn: "owner";
}

/** The value of `status.message.metadata[URI]`. */
export interface GateState {
  /** Every open gate. */
  gates: Gate[];
}

/** What is said to a client that waits for a gate of this type. */
export function sentence(type: string): string {
  return doors.gateSentence(type);
}

/** Whether a message's data makes it a gate: an object whose `type` is a string that does not begin with `x-`. */
export function isGateData(data: Json): boolean {
  return result(doors.isGateData(text(data)));
}
