using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "a2a-edge", worker = .desk),
    (name = "directory", worker = .directory),
    # What `fetch` reaches: for webhooks of the tests more than the platform's public internet.
    (name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true))),
    (name = "state", disk = (path = "state", writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "a2a-edge")],
);

const desk :Workerd.Worker = (
  compatibilityDate = "2026-11-01",
  compatibilityFlags = ["global_fetch_strictly_public"],
  modules = [
    # entry
    (name = "index.js", esModule = embed "index.js"),
    (name = "glue_bg.wasm", wasm = embed "glue_bg.wasm"),
  ],
  bindings = [
    # variables
    # objects
    # kv
  ],
  durableObjectNamespaces = [(className = "Session", uniqueKey = "a2a-edge-session", enableSql = true)],
  durableObjectStorage = (localDisk = "state"),
);

const directory :Workerd.Worker = (
  compatibilityDate = "2026-11-01",
  modules = [(name = "directory.js", esModule = embed "directory.js")],
  bindings = [(name = "MODE", text = "# directory"), (name = "OLD", json = # old)],
);
