import * as glue from "./validators_glue.js";
import { start } from "./start.js";

await start(glue, new URL("./validators.wasm", import.meta.url));

export * from "./validators_glue.js";
