using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "store", worker = .store),
    (name = "state", disk = (path = "state", writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "store")],
);

const store :Workerd.Worker = (
  compatibilityDate = "2026-11-01",
  modules = [
    (name = "index.js", esModule = embed "index.js"),
    (name = "glue_bg.wasm", wasm = embed "glue_bg.wasm"),
  ],
  bindings = [(name = "STORES", durableObjectNamespace = "Kept")],
  durableObjectNamespaces = [(className = "Kept", uniqueKey = "a2a-edge-store", enableSql = true)],
  durableObjectStorage = (localDisk = "state"),
);
