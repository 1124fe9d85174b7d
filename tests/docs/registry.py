"""A package registry for npm on this machine: it has what was packed here, and nothing else."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import json
import tarfile
import threading
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def registry(tarballs: list[Path]) -> Iterator[str]:
    """Serves the tarballs while the block runs, and gives the registry's address."""
    answers: dict[str, bytes] = {}
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(answers))
    address = f"http://127.0.0.1:{server.server_port}"
    for tarball in tarballs:
        with tarfile.open(tarball) as opened:
            member = opened.extractfile("package/package.json")
            assert member is not None
            manifest = json.load(member)
        content = tarball.read_bytes()
        integrity = "sha512-" + b64encode(hashlib.sha512(content).digest()).decode()
        manifest["dist"] = {"tarball": f"{address}/{tarball.name}", "integrity": integrity}
        name, version = manifest["name"], manifest["version"]
        answers[f"/{tarball.name}"] = content
        answers[f"/{name}"] = json.dumps(
            {"name": name, "dist-tags": {"latest": version}, "versions": {version: manifest}}
        ).encode()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield address
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(answers: dict[str, bytes]) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = answers.get(self.path)
            self.send_response(200 if answer is not None else 404)
            self.send_header("Content-Length", str(len(answer or b"")))
            self.end_headers()
            self.wfile.write(answer or b"")

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler
