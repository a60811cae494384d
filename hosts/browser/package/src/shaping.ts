// A2A objects as a client sees them, and a client's message as the host keeps it: where metadata stands, how artifacts
// are cut to fit, and what becomes of parts.

import type { Artifact, Json, Metadata, Part, Task } from "./a2a.js";
import * as doors from "./doors/validators.js";
import type { Note, URI as ENVELOPE } from "./envelope.js";
import type { ValidationError } from "./error.js";
import type { Diffstat, Evidence, Facts, Pr } from "./projection.js";
import { demand, problem, result, text } from "./verdict.js";

export type { Artifact, Json, Message, Metadata, Part, Task, TaskState, TaskStatus } from "./a2a.js";

/** What a task is shaped by. */
export interface TaskOptions {
  /** URIs active for the request: they decide which metadata stands on the task, and what is said as plain text. */
  active?: readonly string[];
  /** The id of the status message where that quotes no other. */
  messageId: string;
  /** The address that speaks for the host; `agent:dispatch` where none is given. */
  system?: string;
}

/** The answer to an ask. */
export interface Answer {
  /** The message that answers. */
  messageId: string;
  /** What it says. */
  text?: string;
  /** The answer it picks of those that were offered. */
  choice?: string;
}

/** One of the four artifacts of work/v1. */
export type WorkArtifact =
  | ({ kind: "answer" } & Answer)
  | ({ kind: "pr" } & Pr)
  | ({ kind: "diffstat" } & Diffstat)
  | ({ kind: "evidence" } & Evidence);

/** A client's message inside the host. */
export interface Inbound {
  /** Its text: at most 65,536 bytes, never empty. */
  body: string;
  /** Its data under the URI of envelope/v1, so that nothing a client sends is taken for the host's own. */
  data?: { [uri in typeof ENVELOPE]: Json };
}

/**
 * A whole A2A task as a client sees it, but for its history and the time of its status.
 *
 * @throws ValidationError on the first fact of the wrong type.
 */
export function task(facts: Facts, { active = [], messageId, system = "" }: TaskOptions): Task {
  return result(doors.task(text(facts), system, text(active), messageId));
}

/** The same from text to text; `active` is a JSON list of URIs. */
export function taskJson(facts: string, system: string, active: string, messageId: string): string {
  return doors.task(facts, system, active, messageId);
}

/** What is wrong with an artifact of work/v1; undefined for nothing. Fields begin at `artifact`. */
export function checkArtifact(artifact: unknown): ValidationError | undefined {
  return problem(doors.validateArtifact(text(artifact)));
}

/** The same from text to text. */
export function validateArtifactJson(artifact: string): string {
  return doors.validateArtifact(artifact);
}

/**
 * An artifact of work/v1 as the A2A artifact: at most 64 KiB of compact JSON, files or items cut to fit.
 *
 * @param workActive whether work/v1 is active, and so whether its metadata is written
 * @throws ValidationError with the first field at fault.
 */
export function artifact(artifact: WorkArtifact, workActive: boolean): Artifact {
  return result(doors.artifact(text(artifact), workActive));
}

/** The same from text to text. */
export function artifactJson(artifact: string, workActive: boolean): string {
  return doors.artifact(artifact, workActive);
}

/** Says so when all metadata on one message together takes more than 65,536 bytes of compact JSON. */
export function checkMetadata(metadata: Metadata | null): ValidationError | undefined {
  return problem(doors.metadataBudget(text(metadata)));
}

/**
 * Holds metadata to its budget.
 *
 * @throws ValidationError on `message.metadata`.
 */
export function validateMetadata(metadata: Metadata | null): void {
  demand(doors.metadataBudget(text(metadata)));
}

/** The same from text to text. */
export function metadataBudgetJson(metadata: string): string {
  return doors.metadataBudget(metadata);
}

/**
 * What becomes of the parts of a client's message. Nothing is ever fetched.
 *
 * @throws ValidationError on a part that is not taken, or on `body` when there is neither text nor data or too much.
 */
export function inbound(message: { parts: readonly Part[] }): Inbound {
  return result(doors.inbound(text(message)));
}

/** The same from text to text. */
export function inboundJson(message: string): string {
  return doors.inbound(message);
}

/**
 * A message inside the host in full and safe to show: a line of the host's own, and every line of its sender's behind `> `.
 *
 * @throws ValidationError on the first member of the wrong type.
 */
export function push(message: Note): string {
  return result(doors.push(text(message)));
}

/** The same from text to text. */
export function pushJson(message: string): string {
  return doors.push(message);
}

/**
 * A message inside the host in one line, safe to show.
 *
 * @throws ValidationError on the first member of the wrong type.
 */
export function digest(message: Note): string {
  return result(doors.digest(text(message)));
}

/** The same from text to text. */
export function digestJson(message: string): string {
  return doors.digest(message);
}

/** The field of a violation as a path into the client's A2A request: `to[0]` is `message.metadata[…envelope/v1].to[0]`. */
export function a2aPath(field: string): string {
  return doors.a2aPath(field);
}
