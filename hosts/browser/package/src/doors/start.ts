// How a module begins on any platform, so that whoever imports the package can call it at once.

interface Glue {
  initSync(module: { module: BufferSource }): unknown;
  default(module: { module_or_path: URL }): Promise<unknown>;
}

interface NodeProcess {
  getBuiltinModule?(name: "node:fs"): { readFileSync(path: URL): Uint8Array<ArrayBuffer> };
}

/** Starts a module: read from disk where it lies on one, fetched and compiled as it streams in elsewhere. */
export async function start(glue: Glue, place: URL): Promise<void> {
  const { process } = globalThis as { process?: NodeProcess };
  const files = place.protocol === "file:" ? process?.getBuiltinModule?.("node:fs") : undefined;
  if (files === undefined) await glue.default({ module_or_path: place });
  else glue.initSync({ module: files.readFileSync(place) });
}
