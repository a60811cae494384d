// work/v1: handing a piece of work over, and asking how it stands. A request is the value of `message.metadata[URI]`.
// Lengths are in bytes of UTF-8; one line is a text that is not blank and has no line break.

import * as doors from "./doors/validators.js";
import type { ValidationError } from "./error.js";
import { OK, demand, problem, result, text } from "./verdict.js";

/** Identifies the extension. */
export const URI = "https://dispatch.foo/a2a/ext/work/v1";

/** How much a piece of work matters. */
export type Priority = "urgent" | "high" | "medium" | "low" | "none";

/** A piece of work that a client hands over. */
export interface Handoff {
  skill: "handoff";
  /** What it is: one line of at most 200 bytes. */
  title: string;
  /** When it is done: at most 20 entries, each one line of at most 500 bytes. */
  acceptance?: string[];
  /** Paths or globs that it will write to: at most 50, each one line of at most 512 bytes inside the repository. */
  writes?: string[];
  /** How much it matters to the client. */
  priority?: Priority;
  /** At most 10, each one line of at most 50 bytes. */
  labels?: string[];
}

/** A look at how handoffs stand. */
export interface Status {
  skill: "status";
  /** The A2A task of one handoff, at most 512 bytes; all of the client's where none is named. */
  task?: string;
}

/** What a client asks for. */
export type Request = Handoff | Status;

/** Whether a host takes handoffs; `refused` makes one invalid, like a skill that does not exist. */
export type Handoffs = "taken" | "refused";

/** What an accepted handoff becomes before anybody has approved it. */
export interface Draft {
  /** As the client sent it. */
  title: string;
  /** As the client sent them. */
  acceptance: string[];
  /** As the client sent them. */
  writes: string[];
  /** The client's, but at most medium. */
  priority: "medium" | "low" | "none";
  /** `a2a` first, then the client's under `a2a/`, in lower case. */
  labels: string[];
  /** Always the highest, so that none of the work's own gates decides itself. */
  risk: "highest";
}

/** What is wrong with a request; undefined for nothing. `null` is no request, and keeps the rules. */
export function check(request: unknown, handoffs: Handoffs = "taken"): ValidationError | undefined {
  return problem(doors.validateWork(text(request), handoffs === "taken"));
}

/**
 * The request, if it keeps the rules; null where there is none.
 *
 * @throws ValidationError with the first field at fault.
 */
export function validate(request: unknown, handoffs: Handoffs = "taken"): Request | null {
  demand(doors.validateWork(text(request), handoffs === "taken"));
  return (request ?? null) as Request | null;
}

/** A request as JSON in, the verdict as JSON out: `{"ok":true}` or `{"ok":false,"error":{"code","field","message"}}`. */
export function validateJson(request: string, handoffs: Handoffs = "taken"): string {
  return doors.validateWork(request, handoffs === "taken") ?? OK;
}

/**
 * The draft of a handoff.
 *
 * @throws ValidationError when it breaks a rule; on `work.skill` when it is none.
 */
export function shapeDraft(handoff: Handoff): Draft {
  return result(doors.shapeDraft(text(handoff)));
}

/** The same from text to text, the draft as `result`. */
export function shapeDraftJson(handoff: string): string {
  return doors.shapeDraft(handoff);
}
