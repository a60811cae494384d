// What the package answers to calls that were noted: in Node and in a page alike.

/** The answers, each as text; those of functions on objects as the verdict that their door gives. */
export function answers(core, coordination, calls) {
  return calls.map(({ door, arguments: given }) => {
    const [room, name] = door.split(".");
    const run = (room === "coordination" ? coordination : core[room])[name];
    if (name.endsWith("Json")) return run(...given);
    try {
      return JSON.stringify({ ok: true, result: run(...given) });
    } catch (error) {
      if (!(error instanceof core.ValidationError)) throw error;
      const [{ field, description }] = error.violations;
      return JSON.stringify({ ok: false, error: { code: error.code, field, message: description } });
    }
  });
}
