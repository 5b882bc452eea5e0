"""A team that has a manifest.sqlite3 and files of its own, in the tables of the document."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from contextlib import closing
from pathlib import Path

SCHEMA = """
    create table artifact_jobs (
        job_id text primary key, work_id text not null, artifact_id text not null, canonical_url text not null,
        state text not null default 'PLANNED', lease_owner text, lease_until real, created_at real not null,
        updated_at real not null, idempotency_key text not null unique, unique (work_id, artifact_id, canonical_url));
    create table artifact_ops (
        op_key text primary key, job_id text not null, op_type text not null, started_at real not null,
        finished_at real, result_code text, result_json text);
    create table _meta (key text primary key, value text);
    insert into _meta values ('schema_version', '3');
"""
TEXT = b"Notes on the harbour of Ardmouth, its cranes and its tides, written down by those who work there.\n" * 4


class Team:
    """The team's own manifest and files."""

    def __init__(self, folder: Path) -> None:
        self.path, self.files = folder / "manifest.sqlite3", folder / "files"
        self.files.mkdir(parents=True)
        self.remake()

    def remake(self, option: str = "") -> None:
        """Make the tables anew, each with this option."""
        self.path.unlink(missing_ok=True)
        with closing(self.connect()) as connection:
            connection.execute("pragma journal_mode = wal")
            connection.executescript(SCHEMA.replace(");\n", f") {option};\n", 2))

    def connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, isolation_level=None)

    def job(  # noqa: PLR0913 - what a row says, each with its name
        self, name: str, state: str, url: str, body: bytes | None = None, *, path: str = "", is_there: bool = True
    ) -> None:
        """A job in a state, and what its operations say of its file, which is `body`, and where it is."""
        row = (name, "work-1", name, url, state, "w1" if state == "LEASED" else None, None, 0.0, 0.0, f"key-{name}")
        with closing(self.connect()) as connection:
            connection.execute(f"insert into artifact_jobs values ({', '.join('?' * len(row))})", row)  # noqa: S608 - marks
            if body is not None:
                sha256 = hashlib.sha256(body).hexdigest()
                result = json.dumps({"code": "OK", "sha256": sha256, "path": path or f"{name}.bin"})
                operation = (f"op-{name}", name, "FINALIZE", 0.0, 1.0, "OK", result)
                connection.execute("insert into artifact_ops values (?, ?, ?, ?, ?, ?, ?)", operation)
        if body is not None and is_there:
            (self.files / f"{name}.bin").write_bytes(body)
