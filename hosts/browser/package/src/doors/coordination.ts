import * as glue from "./coordination_glue.js";
import { start } from "./start.js";

await start(glue, new URL("./coordination.wasm", import.meta.url));

export * from "./coordination_glue.js";
