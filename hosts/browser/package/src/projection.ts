// Where an A2A task stands, from what a host knows of it, and what gate/v1 and work/v1 say of that.

import * as doors from "./doors/validators.js";
import type { Note } from "./envelope.js";
import type { Gate } from "./gate.js";
import { result, text } from "./verdict.js";

/** The A2A state without its prefix. */
export type State =
  | "SUBMITTED"
  | "WORKING"
  | "COMPLETED"
  | "FAILED"
  | "CANCELED"
  | "INPUT_REQUIRED"
  | "REJECTED"
  | "AUTH_REQUIRED";

/** The sub-state of a task that is being worked on. */
export type Stage = "review" | "landing";

/** How far a piece of work is. */
export type Phase = "draft" | "queued" | "working" | "review" | "landing" | "landed" | "dropped";

/** A work item. */
export interface WorkItem {
  /** Its id at the host. */
  id: string;
  /** What it is. */
  title: string;
  /** `draft`, `ready`, `working`, `review`, `landing`, `landed`, `dropped`, or a word of the host's own. */
  status: string;
  /** How far it is, when the status does not say so. */
  phase?: Phase;
  /** Whether somebody who may decide has approved it. */
  approved?: boolean;
}

/** A pull request. */
export interface Pr {
  /** http or https, at most 2,048 bytes. */
  url: string;
  /** From 1. */
  number: number;
  state?: "open" | "merged";
}

/** How much of one file changed. */
export interface FileStat {
  path: string;
  insertions: number;
  deletions: number;
}

/** How much changed, over all files and for each. */
export interface Diffstat {
  files: number;
  insertions: number;
  deletions: number;
  perFile: FileStat[];
}

/** A command that was run, and what came of it. */
export interface EvidenceItem {
  command: string;
  exitCode: number;
  durationMs: number;
  summary: string;
}

/** What shows that work is done. */
export interface Evidence {
  items: EvidenceItem[];
}

/** All that is known of a task. Everything is optional; `{}` is an ask of which nothing is known. */
export interface Facts {
  /** The A2A task. */
  id?: string;
  /** The A2A conversation. */
  contextId?: string;
  /** What it was opened for: `ask` where nothing is said. */
  skill?: "ask" | "handoff";
  /** The address of the client. */
  client?: string;
  /** When it was opened: RFC 3339. */
  createdAt?: string;
  /** When the client canceled it. */
  canceledAt?: string;
  /** When the owner declined it. */
  declinedAt?: string;
  /** The message that opened it. */
  root?: Note;
  /** The messages that the client may see, oldest first. */
  scope?: Note[];
  /** How each delivery of the root stands: `held`, `notified`, `answered`, or a word of the host's own. */
  rootDeliveries?: string[];
  /** The answer to the root. */
  answer?: Note;
  /** The questions that wait for the client, first opened first. */
  openQuestions?: Note[];
  /** The gates that wait for the owner. */
  openGates?: Omit<Gate, "waitingOn">[];
  /** The work item of a handoff, or that it is no longer there. */
  task?: WorkItem | "deleted";
  /** Who dropped the work item. */
  dropped?: "client" | "other";
  /** Whether the work item that an ask was for has been dropped. */
  recipientTaskDropped?: boolean;
  /** What the work has yielded. */
  work?: { pr?: Pr; diffstat?: Diffstat; evidence?: Evidence };
}

/** What work/v1 says of a work item. */
export interface WorkState {
  /** The work item's id. */
  task: string;
  /** What it is. */
  title: string;
  /** As the host has it. */
  status: string;
  /** The sub-state, while there is one. */
  stage?: Stage;
}

/** Where a task stands and why. */
export interface Projected {
  /** The row of the protocol's table that matched. */
  row: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12;
  /** The A2A state. */
  state: State;
  /** What is said to the client. */
  text: string;
  /** The message whose words the text is, if it is one's. */
  messageId?: string;
  /** The sub-state, while the task is in review or landing. */
  stage?: Stage;
  /** Every open gate, while the task waits for one. */
  gates?: Gate[];
  /** The work item, if there is one. */
  work?: WorkState;
}

/**
 * Where a task stands: the first row of the table that matches. It knows nothing of the past; that a terminal state is
 * final is for whoever stores the task to keep.
 *
 * @param system the address that speaks for the host; `agent:dispatch` where none is given
 * @throws ValidationError on the first member of the wrong type, such as `openGates[0].openedAt`.
 */
export function project(facts: Facts, system = ""): Projected {
  return result(doors.project(text(facts), system));
}

/** The same from text to text. */
export function projectJson(facts: string, system = ""): string {
  return doors.project(facts, system);
}
