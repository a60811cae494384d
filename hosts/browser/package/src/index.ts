/**
 * The rules of a2a-edge for JavaScript: activation of extensions, work/v1, envelope/v1, gate/v1, the projection of a
 * task's state and the shaping of A2A objects. Session coordination is at `@a2a-edge/core/coordination`.
 */

export * as activation from "./activation.js";
export * as envelope from "./envelope.js";
export * as gate from "./gate.js";
export * as projection from "./projection.js";
export * as shaping from "./shaping.js";
export * as work from "./work.js";
export { ValidationError } from "./error.js";
export type { Code, Violation } from "./error.js";
