// What the page says of a text: which kind of object it is, and each verdict with its place. No DOM here.

import { ValidationError, activation, envelope, gate, projection, shaping, work } from "@a2a-edge/core";
import * as coordination from "@a2a-edge/core/coordination";
import { locate, placeOf, steps } from "./json.js";

/** The extensions that a desk declares, by name. */
export const DECLARED = [
  { name: "work/v1", uri: work.URI },
  { name: "envelope/v1", uri: envelope.URI },
  { name: "gate/v1", uri: gate.URI },
  { name: "session-coordination/v1", uri: coordination.URI },
];

/** The rows of the projection's table, each with the state that it means. */
export const ROWS = [
  ["The client called it off", "CANCELED"],
  ["It was declined, or its work was dropped by another than the client", "REJECTED"],
  ["The system closed the ask, or its recipient's work was dropped", "FAILED"],
  ["The handoff's work item is gone", "FAILED"],
  ["The ask has an answer", "COMPLETED"],
  ["The work has landed", "COMPLETED"],
  ["A question to the client is open", "INPUT_REQUIRED"],
  ["A gate is open", "AUTH_REQUIRED"],
  ["The work is under way", "WORKING"],
  ["The handoff is approved, and nobody has taken it", "SUBMITTED"],
  ["Nobody has taken the ask in hand", "SUBMITTED"],
  ["Otherwise", "WORKING"],
];

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * Reads a text: `{kind: "message" | "task" | "facts" | "nothing", …}`. `header` is the value of `A2A-Extensions`; each
 * verdict is `{name, ok, text, range?}`.
 */
export function read(text, header = "") {
  if (text.trim() === "") return { kind: "nothing", verdicts: [] };
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    return unreadable(text);
  }
  // The core refuses what JSON.parse lets pass, such as a member that stands twice.
  const strict = JSON.parse(projection.projectJson(text));
  if (strict.error?.field === "facts" && strict.error.message.startsWith("expected JSON")) return unreadable(text);
  if (!isObject(value)) return unreadable(text);
  const inner = isObject(value.message) ? "message" : isObject(value.task) && isObject(value.task.status) ? "task" : "";
  const object = inner === "" ? value : value[inner];
  if (isObject(object.status) && typeof object.status.state === "string") return readTask(text, object, inner);
  if (inner === "message" || "parts" in object || "role" in object || "messageId" in object) {
    return readMessage(text, object, inner, header);
  }
  return readFacts(text, value, header);
}

function unreadable(text) {
  const { message } = JSON.parse(projection.projectJson(text)).error;
  const range = placeOf(message, text) ?? { start: 0, end: text.length };
  return { kind: "nothing", verdicts: [{ name: "JSON", ok: false, text: message, range }] };
}

/** A verdict of a check, its place found by the A2A path of its first violation. */
function verdict(text, inner, name, wrong, right) {
  if (wrong === undefined) return { name, ok: true, text: right };
  const [{ field, description }] = wrong.violations;
  const path = steps(shaping.a2aPath(field));
  // Paths of a message begin with it, whether or not the text has it within an object.
  if (path[0] === "message" && inner === "") path.shift();
  const code = wrong.code === "invalid" ? "" : ` (${wrong.code})`;
  return { name, ok: false, field, text: `${description}${code}`, range: locate(text, path) };
}

/** What a function throws for a value that breaks a rule. */
function caught(run) {
  try {
    return { result: run() };
  } catch (error) {
    if (error instanceof ValidationError) return { wrong: error };
    throw error;
  }
}

/** Which extensions a request activates, of those that the desk declares. */
function active(headers, message) {
  const asked = Array.isArray(message.extensions) ? message.extensions.filter((uri) => typeof uri === "string") : [];
  const requested = activation.requested([headers], asked);
  const declared = DECLARED.map(({ uri }) => uri);
  const uris = activation.activate(declared, requested);
  const unknown = requested.filter((uri) => !declared.includes(uri));
  return { uris, named: asked, unknown, echo: activation.formatHeader(uris) };
}

const OPENS = {
  handoff: "opens a task: a handoff of work",
  status: "opens no task: it is answered with how handoffs stand",
  ask: "opens a task: a question",
  note: "opens no task: it is passed on",
};

function readMessage(text, message, inner, header) {
  const metadata = isObject(message.metadata) ? message.metadata : {};
  const request = metadata[work.URI];
  const check = (...rest) => verdict(text, inner, ...rest);
  const parts = caught(() => shaping.inbound({ ...message, parts: message.parts ?? [] }));
  const opens = caught(() => envelope.opening(metadata));
  const verdicts = [
    check("metadata", shaping.checkMetadata(message.metadata ?? null), "within 64 KiB"),
    check("work/v1", work.check(request), request == null ? "not used" : "keeps the rules"),
    check("envelope/v1", envelope.check(metadata[envelope.URI]), metadata[envelope.URI] == null ? "not used" : "keeps the rules"),
    check("parts", parts.wrong, "become a body and data"),
  ];
  const faults = verdicts.some(({ ok }) => !ok);
  if (!faults) {
    const continues = typeof message.taskId === "string" && message.taskId !== "";
    verdicts.push(check("altogether", continues ? undefined : opens.wrong, continues ? "continues a task" : OPENS[opens.result]));
  }
  const draft = request == null ? {} : caught(() => work.shapeDraft(request));
  return { kind: "message", verdicts, active: active(header, message), draft: draft.result, inbound: parts.result };
}

function readFacts(text, facts, header) {
  const asked = active(header, {});
  const projected = caught(() => projection.project(facts));
  if (projected.wrong !== undefined) {
    const [{ field, description }] = projected.wrong.violations;
    const path = field === "facts" ? [] : steps(field);
    return {
      kind: "facts",
      active: asked,
      verdicts: [{ name: "facts", ok: false, field, text: description, range: locate(text, path) }],
    };
  }
  return {
    kind: "facts",
    active: asked,
    verdicts: [],
    projected: projected.result,
    task: shaping.task(facts, { active: asked.uris, messageId: "status-1" }),
  };
}

function readTask(text, task, inner) {
  const verdicts = [];
  const prefix = inner === "" ? [] : [inner];
  const note = (name, wrong, right, path, within) => {
    const field = wrong?.violations[0].field;
    const more = field === undefined ? [] : steps(field.replace(/^(artifact|message\.metadata)\.?/, ""));
    const range = locate(text, [...prefix, ...path, ...(wrong ? [...within, ...more] : [])]);
    verdicts.push({ name, ok: wrong === undefined, field, text: wrong?.violations[0].description ?? right, range });
  };
  const said = (name, holder, path) => {
    if (!isObject(holder?.metadata)) return;
    for (const { name: extension, uri } of DECLARED) {
      if (uri in holder.metadata) note(`${extension} on ${name}`, undefined, "says something", [...path, "metadata", uri], []);
    }
    note(`metadata of ${name}`, shaping.checkMetadata(holder.metadata), "within 64 KiB", [...path, "metadata"], []);
  };
  said("the task", task, []);
  said("its status message", task.status.message, ["status", "message"]);
  for (const [index, artifact] of (Array.isArray(task.artifacts) ? task.artifacts : []).entries()) {
    const state = artifact?.metadata?.[work.URI];
    const path = ["artifacts", index];
    if (state === undefined) note(`artifact ${artifact?.artifactId ?? index}`, undefined, "the host's own", path, []);
    else note(`artifact ${artifact.artifactId}`, shaping.checkArtifact(state), "is one of work/v1's", path, ["metadata", work.URI]);
  }
  const [part] = task.status.message?.parts ?? [];
  return { kind: "task", verdicts, state: task.status.state.replace("TASK_STATE_", ""), text: part?.text ?? "" };
}
