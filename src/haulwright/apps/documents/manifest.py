"""Manifests: lists of what is to be fetched, as CSV with a header or as JSON Lines. A bad line spoils no other."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

from haulwright.apps.documents.file_names import checked_name, name_of_url
from haulwright.apps.documents.identity import bare_url, host_of, identity_url, shown_url
from haulwright.engine.keys import JobKey, job_key
from haulwright.engine.names import check_key
from haulwright.errors import InvalidValue
from haulwright.redaction import redact

LONGEST_LINE_CHARS: Final = 131_072
LONGEST_TITLE_CHARS: Final = 500
LARGEST_BYTES: Final = 2**63 - 1
"""What both databases can count."""
SHOWN_CHARS: Final = 200
_OTHER_NAMES: Final = {"canonical_url": "url", "size": "bytes", "kind": "type", "content_type": "type"}
_FIELDS: Final = ("url", "work_id", "artifact_id", "title", "name", "sha256", "bytes", "type")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_KIND: Final = re.compile(r"[a-z0-9.+-]+/[a-z0-9.+-]+")


@dataclass(frozen=True, slots=True)
class Item:
    """One artefact that somebody wants, checked. What is left out follows from the address."""

    url: str
    work_id: str = ""
    """What it is a part of; without a word, its host."""
    artifact_id: str = ""
    """Which part; without a word, its address without the query."""
    title: str | None = None
    name: str = ""
    sha256: str | None = None
    bytes: int | None = None
    type: str | None = None
    canonical_url: str = field(init=False)
    """By which it is known."""
    shown_url: str = field(init=False)
    """The same as people may see it."""

    def __post_init__(self) -> None:
        canonical = identity_url(self.url)
        object.__setattr__(self, "url", self.url.strip())
        object.__setattr__(self, "canonical_url", canonical)
        object.__setattr__(self, "shown_url", shown_url(canonical))
        object.__setattr__(self, "work_id", check_key("work_id", self.work_id or host_of(canonical)))
        artifact_id = self.artifact_id or bare_url(canonical)[:SHOWN_CHARS]
        object.__setattr__(self, "artifact_id", check_key("artifact_id", artifact_id))
        object.__setattr__(self, "name", checked_name(self.name) if self.name else name_of_url(canonical))
        if self.title is not None:
            object.__setattr__(self, "title", " ".join(self.title.split())[:LONGEST_TITLE_CHARS] or None)
        if self.sha256 is not None and not _SHA256.fullmatch(self.sha256):
            raise InvalidValue("sha256", self.sha256[:SHOWN_CHARS], "is not 64 hexadecimal digits in lower case")
        if self.bytes is not None and not 0 <= self.bytes <= LARGEST_BYTES:
            raise InvalidValue("bytes", self.bytes, "is no length of a file")
        if self.type is not None and not _KIND.fullmatch(self.type):
            raise InvalidValue("type", self.type[:SHOWN_CHARS], "is no type of content", hint="Say application/pdf.")

    @property
    def key(self) -> JobKey:
        """The key of its job: the same artefact, the same job."""
        return job_key(self.work_id, self.artifact_id, self.canonical_url)


@dataclass(frozen=True, slots=True)
class ManifestLine:
    """One line of a manifest: what it asks for, or why that cannot be."""

    number: int
    item: Item | None
    why: str = ""


def read_manifest(path: Path) -> Iterator[ManifestLine]:
    """Every line of a manifest that says something, in order; what is wrong with one is said in its place."""
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        yield from _lines(file, is_json=_is_json_by_name(path))


def read_manifest_body(body: bytes, *, is_json: bool | None = None) -> Iterator[ManifestLine]:
    """The same of a manifest that somebody sent; without a word, its first character says whether it is JSON Lines."""
    with io.TextIOWrapper(io.BytesIO(body), encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        yield from _lines(file, is_json=is_json)


def item_of(fields: Mapping[str, Any]) -> Item:
    """The artefact that the fields of a line describe; refused where they make no sense."""
    by_name = {_OTHER_NAMES.get(name.strip().lower(), name.strip().lower()): value for name, value in fields.items()}
    values = {name: by_name[name] for name in _FIELDS if by_name.get(name) is not None and by_name[name] != ""}
    if "url" not in values:
        raise InvalidValue("url", None, "is missing")
    size = values.pop("bytes", None)
    texts = {name: _text(name, value) for name, value in values.items()}
    for name in ("sha256", "type"):
        if name in texts:
            texts[name] = texts[name].lower()
    return Item(bytes=None if size is None else _whole(size), **texts)


def _is_json_by_name(path: Path) -> bool | None:
    """Whether a manifest is JSON Lines, by the end of its name; None where that says nothing."""
    suffix = path.suffix.lower()
    if suffix in {".jsonl", ".ndjson", ".json"}:
        return True
    return False if suffix in {".csv", ".tsv"} else None


def _lines(file: IO[str], *, is_json: bool | None) -> Iterator[ManifestLine]:
    if is_json is None:
        is_json = file.read(1) == "{"
        file.seek(0)
    return _json_lines(file) if is_json else _csv_lines(file)


def _json_lines(file: IO[str]) -> Iterator[ManifestLine]:
    number, inside = 0, False
    while text := file.readline(LONGEST_LINE_CHARS):
        is_rest, inside = inside, not text.endswith("\n")
        number += not is_rest
        if is_rest or not text.strip():
            continue
        yield ManifestLine(number, None, "the line is too long") if _is_too_long(text) else _read(number, text)


def _is_too_long(text: str) -> bool:
    return len(text) >= LONGEST_LINE_CHARS and not text.endswith("\n")


def _read(number: int, text: str) -> ManifestLine:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return ManifestLine(number, None, "the line is not JSON")
    return (
        _line(number, fields)
        if isinstance(fields, dict)
        else ManifestLine(number, None, "the line is not a JSON object")
    )


def _csv_lines(file: IO[str]) -> Iterator[ManifestLine]:
    rows = csv.DictReader(file, dialect="excel-tab" if "\t" in _peek(file) else "excel")
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            yield ManifestLine(rows.line_num, None, f"the line cannot be read: {error}")
            continue
        if row is None:
            return
        if None in row:  # where the reader puts what no column is for
            yield ManifestLine(rows.line_num, None, "there are more cells than columns")
        elif any(row.values()):
            yield _line(rows.line_num, row)


def _peek(file: IO[str]) -> str:
    first = file.readline(LONGEST_LINE_CHARS)
    file.seek(0)
    return first


def _line(number: int, fields: Mapping[str, Any]) -> ManifestLine:
    try:
        return ManifestLine(number, item_of(fields))
    except (InvalidValue, ValueError) as error:
        return ManifestLine(number, None, redact(error.message if isinstance(error, InvalidValue) else str(error)))


def _text(name: str, value: object) -> str:
    if not isinstance(value, str) or not value.isprintable():
        shown = shown_url(str(value))[:SHOWN_CHARS].encode("ascii", "replace").decode()
        raise InvalidValue(name, shown, "is no text in one line")
    return value.strip()


def _whole(value: object) -> int:
    text = str(value).strip()
    if isinstance(value, bool) or not text.isdecimal():
        raise InvalidValue("bytes", text[:SHOWN_CHARS], "is not a whole number")
    return int(text)
