// The page: what is typed is read at once, and what is read stands beside it.

import { activation } from "@a2a-edge/core";
import { coloured } from "./json.js";
import { DECLARED, ROWS, read } from "./reading.js";
import { SAMPLES } from "./samples.js";

const [text, marks, header, samples, summary, results] = ["text", "marks", "header", "samples", "summary", "results"].map(
  (id) => document.getElementById(id),
);

/** An element with attributes and children; a function among the attributes is a listener. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

const card = (title, ...children) => element("section", { class: "card" }, element("h2", {}, title), ...children);

/** JSON in colours, with what stands in these ranges marked. */
function painted(source, ranges = []) {
  const pieces = [];
  let at = 0;
  const until = (end) => {
    if (end > at) pieces.push(source.slice(at, end));
    at = end;
  };
  const marked = ({ start, end }) => ranges.findIndex((range) => start < range.end && end > range.start);
  let open;
  let within = -1;
  const add = (piece) => (open ?? pieces).push(piece);
  const close = () => {
    if (open !== undefined) pieces.push(element("mark", {}, ...open));
    open = undefined;
  };
  for (const token of coloured(source)) {
    const mark = marked(token);
    if (mark !== within) close();
    if (open !== undefined) add(source.slice(at, token.start));
    else until(token.start);
    if (mark !== within && mark !== -1) open = [];
    within = mark;
    add(element("span", { class: token.kind }, token.text));
    at = token.end;
  }
  close();
  // What is no JSON any more is shown as it is.
  const [stray] = ranges.filter((range) => range.start >= at);
  if (stray !== undefined) {
    until(stray.start);
    pieces.push(element("mark", {}, source.slice(stray.start, stray.end)));
    at = Math.max(at, stray.end);
  }
  until(source.length);
  return pieces;
}

function json(value) {
  return element("pre", { class: "json", tabindex: "0" }, ...painted(JSON.stringify(value, null, 2)));
}

function show({ start, end }) {
  text.focus();
  text.setSelectionRange(start, end);
  const line = text.value.slice(0, start).split("\n").length - 1;
  const height = Number.parseFloat(getComputedStyle(text).lineHeight);
  text.scrollTop = Math.max(0, line * height - text.clientHeight / 3);
  text.scrollIntoView({ block: "nearest" });
}

function verdicts(list) {
  const line = ({ name, ok, field, text: told, range }) => {
    const name_ = element("strong", {}, name);
    const where = range === undefined ? [] : [" ", element("button", { class: "place", type: "button", click: () => show(range) }, field ?? "show")];
    const sign = element("span", { class: "sign", "aria-label": ok ? "right" : "wrong" }, ok ? "✓" : "✕");
    const said = ok ? [name_, " ", element("span", { class: "told" }, told)] : [name_, ...where, element("div", { class: "told" }, told)];
    return element("li", { class: ok ? "right" : "wrong" }, sign, element("div", {}, ...said));
  };
  return element("ul", { class: "verdicts" }, ...list.map(line));
}

/** The extensions as switches: each asks for its extension in the header, or takes that back. */
function extensions({ uris, named, unknown, echo }) {
  const one = ({ name, uri }) => {
    const click = () => {
      const asked = activation.parseHeader([header.value]);
      const others = asked.filter((other) => other !== uri);
      header.value = activation.formatHeader(asked.length > others.length ? others : [...asked, uri]) ?? "";
      update();
      results.querySelector(`[data-uri="${uri}"]`)?.focus();
    };
    // What the message itself names is not the header's to take back.
    const fixed = named.includes(uri) ? { disabled: "", title: `${uri}, named by message.extensions` } : { title: uri };
    const attributes = { type: "button", "aria-pressed": String(uris.includes(uri)), "data-uri": uri, click, ...fixed };
    return element("button", attributes, name);
  };
  const notes = [echo === null ? "None is active: the answer has no A2A-Extensions header." : `The answer says A2A-Extensions: ${echo}`];
  if (unknown.length > 0) notes.push(`Not declared here, and so ignored: ${unknown.join(", ")}`);
  return card(
    "Extensions",
    element("div", { class: "extensions", role: "group", "aria-label": "Extensions" }, ...DECLARED.map(one)),
    ...notes.map((note) => element("p", { class: "note" }, note)),
  );
}

function rows(row) {
  const line = ([when, means], index) => {
    const number = index + 1;
    const attributes = number === row ? { "aria-current": "true" } : {};
    return element("li", attributes, element("span", {}, String(number)), element("span", {}, when), element("span", { class: "means" }, means));
  };
  return element("ol", { class: "rows" }, ...ROWS.map(line));
}

function state(name, said) {
  return element("p", { class: "state" }, element("span", { class: "pill" }, name), element("span", {}, said));
}

const VIEWS = {
  nothing: ({ verdicts: list }) => (list.length === 0 ? [] : [card("Verdict", verdicts(list))]),
  message: ({ verdicts: list, active, draft, inbound }) => [
    extensions(active),
    card("Verdicts", verdicts(list)),
    ...(draft === undefined ? [] : [card("The draft it becomes", json(draft))]),
    ...(inbound === undefined ? [] : [card("What the owner reads", element("blockquote", {}, inbound.body))]),
  ],
  task: ({ verdicts: list, state: name, text: said }) => [
    card("State", state(name, said)),
    ...(list.length === 0 ? [] : [card("What it says", verdicts(list))]),
  ],
  facts: ({ verdicts: list, active, projected, task }) =>
    projected === undefined
      ? [card("Verdict", verdicts(list))]
      : [
          card("State", state(projected.state, projected.text), rows(projected.row)),
          extensions(active),
          card("The task as the client sees it", json(task)),
        ],
};

const KINDS = { message: "A message", task: "A task", facts: "Facts", nothing: "" };

function summarised({ kind, verdicts: list, projected }) {
  const wrong = list.filter(({ ok }) => !ok);
  if (kind === "nothing") return wrong.length === 0 ? "Nothing yet." : "This is no JSON object.";
  if (wrong.length > 0) return `${KINDS[kind]}, with ${wrong.length === 1 ? "one fault" : `${wrong.length} faults`}.`;
  return kind === "facts" ? `Facts: row ${projected.row} decides.` : `${KINDS[kind]}, as it should be.`;
}

function update() {
  const reading = read(text.value, header.value);
  const wrong = reading.verdicts.filter(({ ok }) => !ok);
  // The last line break needs something behind it to take its room.
  marks.replaceChildren(...painted(text.value, wrong.map(({ range }) => range)), "\n");
  summary.textContent = summarised(reading);
  summary.classList.toggle("bad", wrong.length > 0);
  results.replaceChildren(...VIEWS[reading.kind](reading));
  align();
}

function align() {
  marks.scrollTop = text.scrollTop;
  marks.scrollLeft = text.scrollLeft;
}

samples.append(...SAMPLES.map(({ name }, index) => element("option", { value: String(index) }, name)));
samples.addEventListener("change", () => {
  const sample = SAMPLES[Number(samples.value)];
  text.value = sample.text;
  header.value = sample.header ?? "";
  text.scrollTop = 0;
  update();
});
text.addEventListener("input", update);
header.addEventListener("input", update);
text.addEventListener("scroll", align);

text.value = SAMPLES[0].text;
update();
document.documentElement.dataset.ready = "true";
