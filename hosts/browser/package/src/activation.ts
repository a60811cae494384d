// Which extensions take part in a request (A2A 1.0, §4.6). URIs are compared exactly: another version of an extension
// is another extension.

import type { AgentExtension } from "./a2a.js";
import * as doors from "./doors/validators.js";
import { result, text } from "./verdict.js";

export type { AgentExtension } from "./a2a.js";

/**
 * Reads the values of the `A2A-Extensions` header. Each is a list with commas between its entries; spaces around an
 * entry are dropped, and so is an entry that is empty or stood there before.
 */
export function parseHeader(values: readonly string[]): string[] {
  return result(doors.parseHeader(text(values)));
}

/** Everything that a request asks for: the URIs of its header, then those of `message.extensions` that are not among them. */
export function requested(headerValues: readonly string[], messageExtensions: readonly string[] = []): string[] {
  return result(doors.requested(text(headerValues), text(messageExtensions)));
}

/** URIs as one value of the `A2A-Extensions` header; null where there are none and the header is left out. */
export function formatHeader(uris: readonly string[]): string | null {
  return result(doors.formatHeader(text(uris)));
}

/** The required extensions that a request does not ask for, in the order of declaration. */
export function requiredMissing(declared: readonly AgentExtension[], requested: readonly string[]): string[] {
  return result(doors.requiredMissing(text(declared), text(requested)));
}

/** The declared URIs that a request asks for: those active for it, in the order of declaration. */
export function activate(declared: readonly string[], requested: readonly string[]): string[] {
  return result(doors.activate(text(declared), text(requested)));
}

/**
 * A copy of an agent card with declarations in its `capabilities.extensions`. An entry that the card has for a URI
 * stays as it is.
 *
 * @throws ValidationError when a member of the card is of another type than A2A gives it.
 */
export function declareOnCard<Card extends object>(
  card: Card,
  declared: readonly AgentExtension[],
): Card & { capabilities: { extensions: AgentExtension[] } } {
  return result(doors.declareOnCard(text(card), text(declared)));
}
