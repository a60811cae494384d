// envelope/v1: whom a message is for, what kind it is, what may be chosen and what it refers to. A request is the value
// of `message.metadata[URI]`. Lengths are in bytes of UTF-8; one line is a text that is not blank and has no line break.

import type { Json, Metadata } from "./a2a.js";
import * as doors from "./doors/validators.js";
import type { ValidationError } from "./error.js";
import { OK, demand, problem, result, text } from "./verdict.js";
import type { Handoffs } from "./work.js";

/** Identifies the extension. */
export const URI = "https://dispatch.foo/a2a/ext/envelope/v1";

/** What a client's message may be. */
export type Kind = "message" | "question" | "answer" | "handoff" | "notice";

/** A task or message that a message refers to. */
export interface Reference {
  /** What it names. */
  type: "task" | "message";
  /** One line of at most 512 bytes. */
  id: string;
}

/** What a client says of its message. */
export interface Envelope {
  /** Whom it is for: at most 50, each one line of at most 512 bytes; none means the owner. */
  to?: string[];
  /** What it is. */
  kind?: Kind;
  /** The message it replies to: one line of at most 512 bytes. */
  replyTo?: string;
  /** Whether its sender waits for an answer. */
  blocking?: boolean;
  /** The answers it offers: at most 20, each one line of at most 200 bytes. */
  choices?: string[];
  /** The answer it picks: one line of at most 200 bytes. */
  choice?: string;
  /** What it refers to: at most 50. */
  refs?: Reference[];
}

/** What a message opens that names no task: a task (`handoff`, `ask`), or none (`status`, `note`). */
export type Opens = "handoff" | "status" | "ask" | "note";

/** A message inside the host; every member may be missing. */
export interface Note {
  /** Its id at the host. */
  id?: string;
  /** The message that began its thread. */
  thread?: string;
  /** The message it replies to. */
  replyTo?: string;
  /** The address it is from. */
  from?: string;
  /** The addresses it is for. */
  to?: string[];
  /** What it is: a `Kind`, or a word of the host's own that begins with `x-`. */
  kind?: string;
  /** Its text. */
  body?: string;
  /** Whether its sender waits for an answer. */
  blocking?: boolean;
  /** The answers it offers. */
  choices?: string[];
  /** The answer it picks. */
  choice?: string;
  /** What it refers to. */
  refs?: Reference[];
  /** Its data. */
  data?: Json;
}

/** What the host writes back of a message while envelope/v1 is active. */
export interface Written {
  /** Its id at the host. */
  id: string;
  /** The message that began its thread. */
  thread: string;
  /** The address it is from. */
  from: string;
  /** What it is. */
  kind: string;
  /** The message it replies to. */
  replyTo?: string;
  /** Written only when true. */
  blocking?: true;
  /** Written when there are any. */
  choices?: string[];
  /** The answer it picks. */
  choice?: string;
  /** What it refers to. */
  refs: Reference[];
}

/** Whom a message is for or from, with the whole address. */
export type Address =
  | { kind: "human"; handle: string; address: string }
  | { kind: "agent"; owner?: string; handle: string; address: string }
  | { kind: "task"; id: string; address: string }
  | { kind: "run"; id: string; address: string }
  | { kind: "channel"; name: string; address: string }
  | { kind: "a2a"; alias: string; address: string };

/** What a host knows of those who may get messages. */
export interface Directory {
  /** Channels and the addresses of their members. */
  channels?: { name: string; members: string[] }[];
  /** Work items, and the address of the live session of each that has one. */
  workItems?: { id: string; liveSession?: string }[];
}

/** How a message reaches one recipient. */
export interface Delivery {
  /** The recipient's address. */
  recipient: string;
  /** Whether the message names the recipient, or a channel that it is a member of. */
  via: "direct" | "channel";
  /** Whether the recipient was told, or the message lies in a mailbox. */
  state: "held" | "notified";
  /** The live session that was told. */
  session: string | null;
}

/** What is wrong with an envelope; undefined for nothing. `null` is no envelope, and keeps the rules. */
export function check(envelope: unknown): ValidationError | undefined {
  return problem(doors.validateEnvelope(text(envelope)));
}

/**
 * The envelope, if it keeps the rules; null where there is none.
 *
 * @throws ValidationError with the first field at fault; `forbidden` where it asks for what a client may not.
 */
export function validate(envelope: unknown): Envelope | null {
  demand(doors.validateEnvelope(text(envelope)));
  return (envelope ?? null) as Envelope | null;
}

/** An envelope as JSON in, the verdict as JSON out: `{"ok":true}` or `{"ok":false,"error":{"code","field","message"}}`. */
export function validateJson(envelope: string): string {
  return doors.validateEnvelope(envelope) ?? OK;
}

/**
 * What a message opens that names no task, by its whole `metadata`: its work skill decides first, then its kind.
 *
 * @throws ValidationError for what is wrong with its work/v1 request, its envelope and the two together.
 */
export function opening(metadata: Metadata, handoffs: Handoffs = "taken"): Opens {
  return result<{ opens: Opens }>(doors.opening(text(metadata), handoffs === "taken")).opens;
}

/** The same from text to text, `{"opens"}` as `result`. */
export function openingJson(metadata: string, handoffs: Handoffs = "taken"): string {
  return doors.opening(metadata, handoffs === "taken");
}

/**
 * What the host writes back of a message while envelope/v1 is active.
 *
 * @throws ValidationError when the message has no `id` or no `from`.
 */
export function writeBack(message: Note): Written {
  return result(doors.writeBack(text(message)));
}

/** The same from text to text. */
export function writeBackJson(message: string): string {
  return doors.writeBack(message);
}

/**
 * Reads an address of at most 512 bytes.
 *
 * @throws ValidationError on `address`.
 */
export function parseAddress(address: string): Address {
  return result(doors.parseAddress(address));
}

/** The same from a text (no JSON) to a verdict. */
export function parseAddressJson(address: string): string {
  return doors.parseAddress(address);
}

/**
 * The addresses in the `to` of a message inside the host: one to 50.
 *
 * @throws ValidationError with the first that is none.
 */
export function recipients(message: { to: readonly string[] }): Address[] {
  demand(doors.recipients(text(message)));
  return message.to.map(parseAddress);
}

/** Whether a message inside the host names one to 50 addresses, from text to a verdict without a result. */
export function recipientsJson(message: string): string {
  return doors.recipients(message);
}

/**
 * Whom a message inside the host reaches, each recipient once.
 *
 * @throws ValidationError when the sender, a recipient or the directory is not what it should be.
 */
export function deliver(sender: string, message: { to: readonly string[] }, directory: Directory = {}): Delivery[] {
  const verdict = doors.deliver(sender, text(message), text(directory));
  return result<{ deliveries: Delivery[] }>(verdict).deliveries;
}

/** The same from text to text, `{"deliveries"}` as `result`. */
export function deliverJson(sender: string, message: string, directory: string): string {
  return doors.deliver(sender, message, directory);
}
