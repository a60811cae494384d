/** What kind of wrong it is. */
export type Code =
  /** A field breaks a rule. */
  | "invalid"
  /** A field asks for what a client may not do. */
  | "forbidden"
  /** A field names what is not there, or what the client may not see. */
  | "not-found"
  /** A part of a content type that is not taken. */
  | "unsupported";

/** A field at fault, and the rule that it breaks. */
export interface Violation {
  /** The field's path, such as `work.writes[1]` or `to[0]`. */
  readonly field: string;
  /** What was expected there: a fragment for a person, in lower case and without a final period. */
  readonly description: string;
}

/**
 * What is wrong with a value.
 *
 * The dispatch extensions tell the first field at fault, in the order of their rules; session coordination tells all.
 */
export class ValidationError extends Error {
  override readonly name = "ValidationError";
  /** What kind of wrong it is. */
  readonly code: Code;
  /** The fields at fault: one at least. */
  readonly violations: readonly [Violation, ...Violation[]];

  constructor(code: Code, violations: readonly [Violation, ...Violation[]]) {
    const [{ field, description }, ...more] = violations;
    const others = more.length === 0 ? "" : ` (and ${more.length} more)`;
    super(`${field}: ${description}${others}`);
    this.code = code;
    this.violations = violations;
  }
}
