// session-coordination/v1: what each operation takes, whether two resources overlap, and by what a repeat is known.

import * as doors from "./doors/coordination.js";
import type { ValidationError } from "./error.js";
import type { OperationName, Parameters } from "./operations.js";
import { demand, problem, result, text } from "./verdict.js";

export type { Artifact } from "./a2a.js";
export { ValidationError } from "./error.js";
export type { Code, Violation } from "./error.js";
export type { OperationName, Parameters } from "./operations.js";

/** Identifies the extension. */
export const URI = "https://j5a2a.com/extensions/session-coordination/v1";

/** What a parameter may be. Lengths are in characters. */
export type Shape =
  /** One line, not blank; text, which is not blank where it is required; text that is never blank; an https URL; an id. */
  | { type: "line" | "text" | "filled" | "https-url" | "id"; maxChars: number }
  /** One of these words. */
  | { type: "choice"; of: string[]; nullable?: true }
  /** A whole number, both ends included. */
  | { type: "integer"; min: number; max: number }
  /** Entries of one shape; those of a set differ. One at least where it is required. */
  | { type: "list" | "set"; maxItems: number; of: Shape }
  /** An object with these members. */
  | { type: "object"; params: Param[] }
  /** An A2A artifact, or where it may be instead what this shape says. */
  | { type: "artifact"; or?: Shape }
  /** True or false; a resource id. */
  | { type: "flag" | "resource" };

/** A parameter of an operation. */
export interface Param {
  name: string;
  required: boolean;
  /** What it means, for people. */
  about: string;
  shape: Shape;
}

/** An operation of the extension. */
export interface Operation {
  name: OperationName;
  /** What the caller's credential must have. */
  scope: "session:read" | "presence:write" | "session:write" | "tasks:send";
  /** Whether it changes nothing, whatever it is sent. All others take an `idempotencyKey`. */
  readOnly: boolean;
  /** What it does, for people. */
  about: string;
  params: Param[];
}

/** Whether two resources overlap. */
export interface Overlap {
  overlaps: boolean;
  /** Something that both name, when they do: a short path or the opaque id. */
  witness?: string;
}

/** Every operation, in the order of the card. */
export function catalogue(): Operation[] {
  return JSON.parse(doors.catalogue()) as Operation[];
}

/** What is wrong with the parameters of an operation, every field at fault; undefined for nothing. */
export function check(operation: OperationName, parameters: unknown): ValidationError | undefined {
  return problem(doors.validate(operation, text(parameters)));
}

/**
 * The parameters, if they keep the operation's rules.
 *
 * @throws ValidationError with every field at fault.
 */
export function validate<Name extends OperationName>(operation: Name, parameters: unknown): Parameters[Name] {
  demand(doors.validate(operation, text(parameters)));
  return parameters as Parameters[Name];
}

/** The same from text to text: `{"ok":false,"error":{"code","violations":[{"field","description"}]}}` when something is wrong. */
export function validateJson(operation: string, parameters: string): string {
  return doors.validate(operation, parameters);
}

/**
 * Whether two resource ids (paths, globs or `scheme:id`) overlap: decided exactly, whether or not a file exists.
 *
 * @throws ValidationError on `resources[0]` or `resources[1]`.
 */
export function overlap(one: string, other: string): Overlap {
  return result(doors.overlap(one, other));
}

/** The same from two texts (no JSON) to a verdict. */
export function overlapJson(one: string, other: string): string {
  return doors.overlap(one, other);
}

/**
 * By what a repeat under the same idempotency key is known for the same call: a digest of the operation's name and of
 * its parameters in canonical form, the key itself left out.
 *
 * @throws ValidationError when the parameters are no object.
 */
export function fingerprint<Name extends OperationName>(operation: Name, parameters: Parameters[Name]): string {
  return result(doors.fingerprint(operation, text(parameters)));
}

/** The same from text to text. */
export function fingerprintJson(operation: string, parameters: string): string {
  return doors.fingerprint(operation, parameters);
}
