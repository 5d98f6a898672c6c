"""A model hub of a test's own: as much of the Hugging Face Hub's interface as pushing and fetching a repository needs."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TOKEN = "hf_of_this_test"


class Hub(ThreadingHTTPServer):
    """commits: repository -> commit -> file -> content; branches: repository -> branch -> commit."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.commits: dict[str, dict[str, dict[str, bytes]]] = {}
        self.branches: dict[str, dict[str, str]] = {}
        self.fetched: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def commit(self, repository: str, branch: str, files: dict[str, bytes]) -> str:
        """Add files to a branch; returns the commit's hash."""
        before = self.commits[repository].get(self.branches[repository].get(branch, ""), {})
        whole = before | files
        name = hashlib.sha1(repr(sorted(whole.items())).encode()).hexdigest()
        self.commits[repository][name] = whole
        self.branches[repository][branch] = name
        return name


class _Handler(BaseHTTPRequestHandler):
    server: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *arguments: Any) -> None:
        """Silent."""

    def _answer(self, status: int, value: Any = None, **headers: str) -> None:
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _error(self, status: int, code: str) -> None:
        self._answer(status, {"error": code}, X_Error_Code=code, X_Error_Message=code)

    def _commit_of(self, repository: str, revision: str) -> str | None:
        known = self.server.branches.get(repository, {})
        return known.get(revision) or (revision if revision in self.server.commits.get(repository, {}) else None)

    def do_GET(self) -> None:
        parts = self.path.partition("?")[0].strip("/").split("/")
        if parts[:2] == ["api", "models"] and len(parts) >= 4:
            self._describe("/".join(parts[2:4]), parts[5] if len(parts) > 5 else "main", parts[4:5] == ["tree"])
        elif len(parts) >= 5 and parts[2] == "resolve":
            self._resolve("/".join(parts[:2]), parts[3], "/".join(parts[4:]))
        else:
            self._error(404, "EntryNotFound")

    do_HEAD = do_GET

    def _describe(self, repository: str, revision: str, tree: bool) -> None:
        if repository not in self.server.commits:
            return self._error(404, "RepoNotFound")
        commit = self._commit_of(repository, revision)
        if commit is None:
            return self._error(404, "RevisionNotFound")
        files = self.server.commits[repository][commit]
        if tree:
            return self._answer(
                200, [{"type": "file", "path": n, "size": len(c), "oid": _oid(c)} for n, c in files.items()]
            )
        siblings = [{"rfilename": name} for name in files]
        self._answer(200, {"id": repository, "sha": commit, "siblings": siblings, "private": False})

    def _resolve(self, repository: str, revision: str, name: str) -> None:
        commit = self._commit_of(repository, revision)
        content = self.server.commits.get(repository, {}).get(commit or "", {}).get(name)
        if content is None or commit is None:
            return self._error(404, "EntryNotFound")
        if self.command == "GET":
            self.server.fetched.append(name)
        self._answer(200, content, ETag=f'"{_oid(content)}"', X_Repo_Commit=commit)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b"".join(self._chunks())
        parts = self.path.partition("?")[0].strip("/").split("/")
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self._error(401, "Unauthorized")
        if parts == ["api", "repos", "create"]:
            told = json.loads(body)
            repository = f"{told['organization']}/{told['name']}"
            self.server.commits.setdefault(repository, {})
            self.server.branches.setdefault(repository, {})
            return self._answer(200, {"url": f"{self.server.url}/{repository}"})
        if parts == ["api", "validate-yaml"]:
            return self._answer(200, {"errors": [], "warnings": []})
        repository = "/".join(parts[2:4])
        if parts[4:5] == ["branch"]:
            known = self.server.branches[repository]
            start = known.get("main") or self.server.commit(repository, "main", {})
            known.setdefault("/".join(parts[5:]), start)
            return self._answer(200, {})
        if parts[4:5] == ["preupload"]:
            wanted = [
                {"path": each["path"], "uploadMode": "regular", "shouldIgnore": False}
                for each in json.loads(body)["files"]
            ]
            return self._answer(200, {"files": wanted})
        if parts[4:5] == ["commit"]:
            lines = [json.loads(line) for line in body.splitlines() if line]
            files = {
                line["value"]["path"]: base64.b64decode(line["value"]["content"])
                for line in lines
                if line["key"] == "file"
            }
            commit = self.server.commit(repository, parts[5], files)
            return self._answer(
                200, {"commitOid": commit, "commitUrl": f"{self.server.url}/{repository}/commit/{commit}"}
            )
        return self._error(404, "EntryNotFound")

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline(), 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()


def _oid(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


@contextmanager
def running() -> Iterator[Hub]:
    """A hub on a port of its own."""
    with Hub() as hub:
        thread = threading.Thread(target=hub.serve_forever, daemon=True)
        thread.start()
        try:
            yield hub
        finally:
            hub.shutdown()
            thread.join()
