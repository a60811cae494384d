// A form that makes a valid work/v1 handoff. The rules are those of the desk itself, so what passes here passes there.

import { shaping, work } from "@a2a-edge/core";

const form = document.querySelector("form");
const section = document.querySelector("section");
const lines = (text) => text.split("\n").map((line) => line.trim()).filter((line) => line !== "");

/** How each field is read, as a member of the handoff; undefined where it is left out. */
const MEMBERS = {
  title: (text) => text,
  acceptance: (text) => lines(text),
  writes: (text) => lines(text),
  priority: (text) => text || undefined,
  labels: (text) => lines(text.replaceAll(",", "\n")),
};

/** What the form says, as a handoff. */
function handoff() {
  const members = Object.entries(MEMBERS).map(([name, read]) => [name, read(form.elements[name].value)]);
  return { skill: "handoff", ...Object.fromEntries(members) };
}

/** What is wrong with one field: the desk tells the first fault of a request, so each field is asked for by itself. */
function wrong(name) {
  if (name === "details") {
    const text = form.elements.details.value;
    return problem(() => shaping.inbound({ parts: [{ text }] }));
  }
  const { [name]: value } = handoff();
  return work.check({ skill: "handoff", title: "a title that is right", [name]: value });
}

function problem(run) {
  try {
    run();
  } catch (error) {
    return error;
  }
}

/** Shows what is wrong beside the field; returns whether it is right. */
function judge(name) {
  const found = wrong(name);
  const field = form.elements[name];
  field.setAttribute("aria-invalid", String(found !== undefined));
  const [violation] = found?.violations ?? [];
  const entry = /\[(\d+)\]$/.exec(violation?.field ?? "");
  const where = entry === null ? "" : `${Number(entry[1]) + 1}: `;
  document.getElementById(`${name}-wrong`).textContent = violation === undefined ? "" : where + violation.description;
  return found === undefined;
}

form.addEventListener("input", ({ target }) => {
  judge(target.name);
});

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const names = [...Object.keys(MEMBERS), "details"];
  const faulty = names.filter((name) => !judge(name));
  section.hidden = faulty.length > 0;
  if (faulty.length > 0) {
    form.elements[faulty[0]].focus();
    return;
  }
  const message = {
    messageId: crypto.randomUUID(),
    role: "ROLE_USER",
    parts: [{ text: form.elements.details.value }],
    extensions: [work.URI],
    metadata: { [work.URI]: work.validate(handoff()) },
  };
  section.querySelector("pre").textContent = JSON.stringify(message, null, 2);
});
