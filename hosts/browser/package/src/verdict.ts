// Between the text doors and objects.

import { type Code, ValidationError, type Violation } from "./error.js";

interface Refused {
  code: Code;
  field: string;
  message: string;
  violations?: [Violation, ...Violation[]];
}

type Verdict = { ok: true; result?: unknown } | { ok: false; error: Refused };

/** The verdict that finds nothing wrong and has no result. */
export const OK = '{"ok":true}';

/** JSON of a value; what has none, such as `undefined`, is null. */
export function text(value: unknown): string {
  return JSON.stringify(value) ?? "null";
}

/** What a verdict finds wrong; undefined for nothing. */
export function problem(verdict: string | undefined): ValidationError | undefined {
  if (verdict === undefined || verdict === OK) return undefined;
  const read = JSON.parse(verdict) as Verdict;
  return read.ok ? undefined : refused(read.error);
}

/** The result of a verdict. */
export function result<T>(verdict: string): T {
  const read = JSON.parse(verdict) as Verdict;
  if (!read.ok) throw refused(read.error);
  return read.result as T;
}

/** Throws what a verdict finds wrong. */
export function demand(verdict: string | undefined): void {
  const found = problem(verdict);
  if (found !== undefined) throw found;
}

function refused({ code, field, message, violations }: Refused): ValidationError {
  return new ValidationError(code, violations ?? [{ field, description: message }]);
}
