"""Validates a work/v1 request from standard input with the component.

Usage: python validate.py a2a-edge-validators.wasm < request.json
"""

import json
import sys

from wasmtime import Engine, Store
from wasmtime.component import Component, Linker


class Work:
    """The interface `work` of one instance of the component."""

    def __init__(self, path):
        engine = Engine()
        self._store = Store(engine)
        # The component imports nothing, so the linker stays empty.
        self._instance = Linker(engine).instantiate(self._store, Component.from_file(engine, path))
        self._work = self._instance.get_export_index(self._store, "a2a-edge:core/work@0.1.0")

    def validate(self, request):
        """The verdict on a request, both as JSON: {"ok": true}, or {"ok": false, "error": {"code", "field", "message"}}."""
        index = self._instance.get_export_index(self._store, "validate-json", self._work)
        verdict = self._instance.get_func(self._store, index)
        return json.loads(verdict(self._store, request, "taken"))


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: python validate.py a2a-edge-validators.wasm < request.json")
    verdict = Work(sys.argv[1]).validate(sys.stdin.read())
    if verdict["ok"]:
        print("right")
    else:
        print("{code}: {field}: {message}".format(**verdict["error"]))


if __name__ == "__main__":
    main()
