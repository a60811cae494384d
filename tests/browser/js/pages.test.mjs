// The playground and the form, as a person uses them: by keyboard, on a phone and at a desk, in light and in dark.

import assert from "node:assert/strict";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { browser, open, serve } from "./chromium.mjs";

const packages = process.env.A2A_EDGE_PACKAGES;
const WORK = "https://dispatch.foo/a2a/ext/work/v1";
const GATE = "https://dispatch.foo/a2a/ext/gate/v1";

let server;
let chromium;

before(async () => {
  server = await serve({
    "/form/node_modules/@a2a-edge/core/": join(packages, "core"),
    "/form/": join(process.env.A2A_EDGE_ROOT, "examples/form"),
    "/": join(packages, "playground"),
  });
  chromium = await browser();
});

after(async () => {
  await chromium?.close();
  server?.close();
});

async function playground(t, { width = 1280, height = 900, colorScheme = "light" } = {}) {
  const { page, faults } = await open(chromium.context, "about:blank");
  t.after(() => page.close());
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme });
  await page.goto(server.url);
  await page.waitForSelector("html[data-ready]");
  return { page, faults, read: (text) => page.fill("#text", typeof text === "string" ? text : JSON.stringify(text, null, 2)) };
}

/** What is marked in the text. */
const marked = (page) => page.locator("#marks mark").allTextContents();

test("a message: what it activates, what it opens and what becomes of it", async (t) => {
  const { page, faults } = await playground(t);
  assert.equal(await page.textContent("#summary"), "A message, as it should be.");
  assert.deepEqual(await page.locator(".extensions [aria-pressed=true]").allTextContents(), ["work/v1", "gate/v1"]);
  assert.match(await page.textContent(".note"), new RegExp(`A2A-Extensions: ${WORK},${GATE}$`));
  assert.match(await page.textContent(".verdicts"), /opens a task: a handoff of work/);
  assert.match(await page.locator(".json").textContent(), /"risk": "highest"/);
  assert.deepEqual(await marked(page), []);
  assert.deepEqual(faults, []);
});

test("each fault is marked where it is, and found by keyboard", async (t) => {
  const { page, faults, read } = await playground(t);
  await page.selectOption("#samples", { label: "One that breaks a rule" });
  assert.equal(await page.textContent("#summary"), "A message, with 2 faults.");
  assert.deepEqual(await marked(page), ['"../up"', '"file"']);
  assert.deepEqual(await page.locator(".place").allTextContents(), ["work.writes[1]", "refs[0].type"]);
  await page.locator(".place").first().focus();
  await page.keyboard.press("Enter");
  const selected = await page.evaluate(() => getSelection().toString());
  assert.equal(selected, '"../up"');
  // What is missing is marked at the brace of what should hold it.
  await read({ role: "ROLE_USER", messageId: "m", parts: [{ text: "x" }], metadata: { [WORK]: { skill: "handoff" } } });
  assert.deepEqual(await marked(page), ["{"]);
  await read('{"messageId":"m","a":1,"a":2}');
  assert.equal(await page.textContent("#summary"), "This is no JSON object.");
  assert.match(await page.textContent(".told"), /duplicate key "a"/);
  assert.equal((await marked(page)).length, 1);
  assert.deepEqual(faults, []);
});

test("facts: the row that decides, and the task with the metadata of what is active", async (t) => {
  const { page, faults, read } = await playground(t);
  await page.selectOption("#samples", { label: "Facts at a gate" });
  assert.equal(await page.textContent(".pill"), "AUTH_REQUIRED");
  assert.match(await page.textContent(".rows [aria-current]"), /^8A gate is open/);
  const task = async () => JSON.parse(await page.locator(".json").textContent());
  assert.equal((await task()).status.message.metadata[GATE].gates[0].waitingOn, "owner");
  // Off and on again, by keyboard.
  await page.locator(`[data-uri="${GATE}"]`).focus();
  await page.keyboard.press("Space");
  assert.equal((await task()).status.message.metadata[GATE], undefined);
  assert.equal(await page.inputValue("#header"), WORK);
  assert.equal(await page.evaluate(() => document.activeElement.dataset.uri), GATE);
  await page.keyboard.press("Space");
  assert.equal((await task()).status.message.metadata[GATE].gates.length, 1);
  await read({ openGates: [{ id: "m", type: "wake", openedAt: "yesterday" }] });
  assert.deepEqual(await marked(page), ['"yesterday"']);
  assert.deepEqual(faults, []);
});

test("a task: what its metadata says, and an artifact that breaks a rule", async (t) => {
  const { page, faults } = await playground(t);
  await page.selectOption("#samples", { label: "A task" });
  assert.equal(await page.textContent(".pill"), "COMPLETED");
  assert.deepEqual(await marked(page), ["0"]);
  assert.equal(await page.locator(".wrong .place").textContent(), "artifact.number");
  assert.deepEqual(faults, []);
});

test("nothing is wider than a phone or a desk, and every letter can be read", async (t) => {
  for (const [width, colorScheme] of [[360, "light"], [360, "dark"], [768, "light"], [1440, "dark"], [1440, "light"]]) {
    const { page } = await playground(t, { width, colorScheme });
    for (const sample of await page.locator("#samples option").allTextContents()) {
      await page.selectOption("#samples", { label: sample });
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(overflow <= 0, `${sample} at ${width}: ${overflow} pixels too wide`);
      assert.deepEqual(await page.evaluate(faint), [], `${sample} in ${colorScheme}`);
    }
    const folder = process.env.SCREENSHOTS;
    if (folder) {
      for (const label of ["One that breaks a rule", "Facts at a gate"]) {
        await page.selectOption("#samples", { label });
        await page.screenshot({ path: join(folder, `${width}-${colorScheme}-${label.split(" ")[0]}.png`), fullPage: true });
      }
    }
  }
});

/** Texts whose contrast with what is behind them is below 4.5 (WCAG 2.2, 1.4.3), in a page. */
function faint() {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const light = ([red, green, blue]) => {
    const linear = [red, green, blue].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const found = [];
  for (const element of document.querySelectorAll("h1, h1 span, h2, p, li > *, button, code, pre, pre span, mark, strong, .told, select, input")) {
    const text = element.textContent || element.value;
    if (!text?.trim() || !element.checkVisibility()) continue;
    let behind = element;
    while (rgba(getComputedStyle(behind).backgroundColor)[3] < 255 && behind.parentElement) behind = behind.parentElement;
    let opacity = 1;
    for (let up = element; up; up = up.parentElement) opacity *= Number(getComputedStyle(up).opacity);
    const ground = rgba(getComputedStyle(behind).backgroundColor);
    const ink = rgba(getComputedStyle(element).color).map((c, index) => c * opacity + ground[index] * (1 - opacity));
    const [one, other] = [light(ink), light(ground)].sort((a, b) => b - a);
    const contrast = (one + 0.05) / (other + 0.05);
    if (contrast < 4.5) found.push(`${text.slice(0, 30)}: ${contrast.toFixed(2)}`);
  }
  return [...new Set(found)];
}

test("the form shows what is wrong beside the field as one types, and makes a message that is right", async (t) => {
  const { page, faults } = await open(chromium.context, `${server.url}/form/`);
  t.after(() => page.close());
  const wrong = (name) => page.textContent(`#${name}-wrong`);
  await page.getByRole("button").click();
  assert.match(await wrong("title"), /one line of at most 200 bytes, not blank/);
  assert.match(await wrong("details"), /expected text/);
  assert.equal(await page.evaluate(() => document.activeElement.id), "title");
  await page.fill("#title", "é".repeat(100));
  assert.equal(await wrong("title"), "");
  await page.fill("#title", "é".repeat(101));
  assert.match(await wrong("title"), /200 bytes/);
  assert.equal(await page.getAttribute("#title", "aria-invalid"), "true");
  await page.fill("#title", "Add rate limiting");
  await page.fill("#writes", "src/ok.rs\n../up");
  assert.match(await wrong("writes"), /^2: expected a path inside the repository/);
  await page.fill("#labels", "a, b, c, d, e, f, g, h, i, j, k");
  assert.match(await wrong("labels"), /at most 10/);
  // Two fields at fault are told at once, and the message waits.
  await page.getByRole("button").click();
  assert.ok(!(await page.isVisible("pre")) && (await wrong("writes")) && (await wrong("labels")));
  await page.fill("#writes", "src/export/**");
  await page.fill("#labels", "API");
  await page.fill("#acceptance", "100 a minute\n429 beyond");
  await page.fill("#details", "The export API has no limit.");
  await page.selectOption("#priority", "high");
  await page.getByRole("button").click();
  const message = JSON.parse(await page.textContent("pre"));
  assert.deepEqual(message.metadata[WORK], {
    skill: "handoff",
    title: "Add rate limiting",
    acceptance: ["100 a minute", "429 beyond"],
    writes: ["src/export/**"],
    priority: "high",
    labels: ["API"],
  });
  assert.deepEqual(faults, []);
});
