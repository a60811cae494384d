/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json };

/** Data of extensions, each under its own key. */
export type Metadata = { readonly [key: string]: Json };

/** Where a task stands (A2A 1.0, §4.1.3). */
export type TaskState =
  | "TASK_STATE_SUBMITTED"
  | "TASK_STATE_WORKING"
  | "TASK_STATE_COMPLETED"
  | "TASK_STATE_FAILED"
  | "TASK_STATE_CANCELED"
  | "TASK_STATE_INPUT_REQUIRED"
  | "TASK_STATE_REJECTED"
  | "TASK_STATE_AUTH_REQUIRED";

/** One piece of a message or of an artifact: exactly one of these contents (A2A 1.0, §4.1.6). */
export type Part = ({ text: string } | { raw: string } | { url: string } | { data: Json }) & {
  metadata?: Metadata;
  filename?: string;
  mediaType?: string;
};

/** One turn of a conversation (A2A 1.0, §4.1.4). */
export interface Message {
  /** Chosen by its sender. */
  messageId: string;
  /** The conversation. */
  contextId?: string;
  /** The task it belongs to. */
  taskId?: string;
  /** Who speaks. */
  role: "ROLE_USER" | "ROLE_AGENT";
  /** At least one. */
  parts: Part[];
  /** Data of extensions, each under its own key. */
  metadata?: Metadata;
  /** URIs of the extensions that contributed to the message. */
  extensions?: string[];
  /** Tasks it refers to. */
  referenceTaskIds?: string[];
}

/** An output of a task (A2A 1.0, §4.1.7). */
export interface Artifact {
  /** Unique within its task. */
  artifactId: string;
  /** A name for people. */
  name?: string;
  /** What it is. */
  description?: string;
  /** At least one. */
  parts: Part[];
  /** Data of extensions, each under its own key. */
  metadata?: Metadata;
  /** URIs of the extensions that contributed to the artifact. */
  extensions?: string[];
}

/** A task's state, with what there is to say about it (A2A 1.0, §4.1.2). */
export interface TaskStatus {
  /** Where the task stands. */
  state: TaskState;
  /** For the client. */
  message?: Message;
  /** Since when: RFC 3339. */
  timestamp?: string;
}

/** A unit of work (A2A 1.0, §4.1.1). */
export interface Task {
  /** Made by the server. */
  id: string;
  /** The conversation it belongs to. */
  contextId?: string;
  /** Where it stands. */
  status: TaskStatus;
  /** What it has yielded. */
  artifacts?: Artifact[];
  /** Its messages, oldest first. */
  history?: Message[];
  /** Data of extensions, each under its own key. */
  metadata?: Metadata;
}

/** An extension that an agent declares on its card (A2A 1.0, §4.4.4). */
export interface AgentExtension {
  /** Identifies the extension and its version. */
  uri: string;
  /** What it is for. */
  description?: string;
  /** Whether every request must ask for it. */
  required?: boolean;
  /** What else a client should know. */
  params?: { readonly [member: string]: Json };
}
