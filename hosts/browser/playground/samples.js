// What one may begin with.

import { envelope, gate, work } from "@a2a-edge/core";

const pretty = (value) => JSON.stringify(value, null, 2);

export const SAMPLES = [
  {
    name: "A handoff",
    text: pretty({
      messageId: "m-1",
      role: "ROLE_USER",
      parts: [{ text: "The export API has no limit." }],
      extensions: [work.URI, gate.URI],
      metadata: {
        [work.URI]: {
          skill: "handoff",
          title: "Add rate limiting",
          acceptance: ["100 requests a minute for each key", "429 with Retry-After beyond"],
          writes: ["src/export/**"],
          priority: "high",
          labels: ["API"],
        },
      },
    }),
  },
  {
    name: "One that breaks a rule",
    text: pretty({
      messageId: "m-2",
      role: "ROLE_USER",
      parts: [{ text: "Which region first?" }],
      extensions: [envelope.URI],
      metadata: {
        [work.URI]: { skill: "handoff", title: "Fix it", writes: ["src/ok.rs", "../up"] },
        [envelope.URI]: { to: ["human:ada"], kind: "question", refs: [{ type: "file", id: "x" }] },
      },
    }),
  },
  {
    name: "Facts at a gate",
    header: `${work.URI}, ${gate.URI}`,
    text: pretty({
      id: "task-1",
      contextId: "ctx-1",
      skill: "handoff",
      openGates: [{ id: "m-9", type: "task-proposal", openedAt: "2026-01-02T03:04:05.678Z" }],
      task: { id: "t-1", title: "Add rate limiting", status: "draft" },
    }),
  },
  {
    name: "Facts in review",
    header: `${work.URI}, ${envelope.URI}`,
    text: pretty({
      id: "task-1",
      contextId: "ctx-1",
      skill: "handoff",
      client: "agent:wyat/a2a.acme",
      scope: [{ id: "m-11", thread: "m-1", from: "run:r-1", kind: "message", body: "Nearly there." }],
      task: { id: "t-1", title: "Add rate limiting", status: "review", approved: true },
      work: { pr: { url: "https://example.org/pull/7", number: 7, state: "open" } },
    }),
  },
  {
    name: "A task",
    text: pretty({
      id: "task-1",
      contextId: "ctx-1",
      status: {
        state: "TASK_STATE_COMPLETED",
        message: { messageId: "m-12", role: "ROLE_AGENT", parts: [{ text: "Landed." }] },
      },
      artifacts: [
        {
          artifactId: "pr",
          parts: [{ url: "https://example.org/pull/7" }, { text: "Pull request #7 (merged)" }],
          metadata: { [work.URI]: { kind: "pr", url: "https://example.org/pull/7", number: 0 } },
        },
      ],
      metadata: { [work.URI]: { task: "t-1", title: "Add rate limiting", status: "landed" } },
    }),
  },
];
