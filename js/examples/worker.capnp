# The configuration of workerd for worker.mjs. Put both files beside node_modules/baselink.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "origin", external = (http = ())),
    (name = "worker", worker = (
      compatibilityDate = "2024-09-01",
      globalOutbound = "origin",
      modules = [
        (name = "worker", esModule = embed "worker.mjs"),
        (name = "baselink", esModule = embed "node_modules/baselink/workerd.js"),
        (name = "baselink.wasm", wasm = embed "node_modules/baselink/baselink.wasm"),
      ],
    )),
  ],
  sockets = [(name = "http", address = "127.0.0.1:8080", http = (), service = "worker")],
);
