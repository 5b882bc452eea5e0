"""Files behind their addresses."""

from __future__ import annotations

import fnmatch
from collections import defaultdict
from dataclasses import dataclass, replace
from email.utils import formatdate
from typing import Any, Literal, get_args

from haulwright.sandbox.books import Books
from haulwright.sandbox.clock import SandboxClock
from haulwright.sandbox.exchange import BadRequest, Delivery, SandboxReply, SandboxRequest, text_reply
from haulwright.sandbox.files import documents
from haulwright.sandbox.files.content import Content, Held, sha256
from haulwright.sandbox.files.ranges import Unsatisfiable, Validators, not_modified, wanted_range
from haulwright.sandbox.routes import NoRoute, Routes
from haulwright.sandbox.scripts import Scripts

DEFAULT_SIZE = 65_536
LARGEST = 100_000_000_000
FIRST_MODIFIED = 1_735_689_600
"""1 January 2025: the first version of every file. Each later version is an hour younger."""

Ranges = Literal["honest", "none", "shifted", "lying"]
Tag = Literal["strong", "weak", "none"]
Head = Literal["honest", "refused", "lying"]


@dataclass(frozen=True, slots=True)
class FileScript:
    """How requests for a file go. HEAD only looks; it does not use a script up."""

    name: str = "*"
    """With * and ? for anything."""
    times: int | None = None
    """How many GETs; None is every one."""
    ranges: Ranges = "honest"
    """`none`: always the whole. `shifted`: begins elsewhere and says so. `lying`: says right, sends from the start."""
    tag: Tag = "strong"
    dated: bool = True
    """Whether there is a Last-Modified."""
    head: Head = "honest"
    """`refused`: 405. `lying`: another length."""
    length_error: int = 0
    announced: bool = True
    """Whether an answer to a GET says how long its body is; one to a HEAD does."""
    truncate_at: int | None = None
    """The connection is closed at this byte of the file, counted from its beginning."""
    ends_at: int | None = None
    """A whole answer ends at this byte of the file, and announces no more: only a HEAD tells how long it is."""
    pause_seconds: float = 0.0
    chunk_bytes: int = 65_536

    def __post_init__(self) -> None:
        for word, choices in ((self.ranges, Ranges), (self.tag, Tag), (self.head, Head)):
            if word not in get_args(choices):
                raise ValueError(f"{word!r} is none of: {', '.join(get_args(choices))}")


class Files:
    """Files of any name. What a name holds follows from the name, the size asked for, and the version."""

    def __init__(self, clock: SandboxClock, books: Books, seed: int) -> None:
        self._clock = clock
        self._books = books
        self._seed = seed
        self._routes = Routes(("GET", "/{name:path}", self._get))
        self.reset()

    def reset(self) -> None:
        """First versions, honest ways, nothing put here by hand."""
        self._versions: defaultdict[str, int] = defaultdict(lambda: 1)
        self._put: dict[str, bytes] = {}
        self._scripts: Scripts[FileScript] = Scripts()

    def script(self, *, change: str = "", **ways: Any) -> None:
        """Give a file its next version, or decide how requests go (the words of `FileScript`)."""
        if change:
            self.change(change)
        if ways:
            self._scripts.add(FileScript(**ways))

    def change(self, name: str) -> None:
        """From now on the name holds other bytes, under another tag and a later date."""
        self._versions[name] += 1

    def put(self, name: str, body: bytes) -> None:
        """Let a name hold exactly these bytes."""
        self._put[name] = body

    def sha256(self, name: str, size: int | None = None) -> str:
        """The hash of what a client should end up with."""
        return sha256(self._content(name, size))

    def bytes_sent(self, name: str) -> int:
        """How many bytes of this file went over the wire."""
        return self._books.bytes_sent(service="files", path=f"/files/{name}")

    def answer(self, request: SandboxRequest) -> SandboxReply:
        """Carry a request out."""
        try:
            return self._routes.answer(request)
        except NoRoute as error:
            return text_reply(f"{error}\n", status=405 if error.allowed else 404)
        except BadRequest as error:
            return text_reply(f"{error}\n", status=400)

    def _get(self, request: SandboxRequest, name: str) -> SandboxReply:
        size = request.whole("size", 0) if request.text("size") else None
        if size is not None and size > LARGEST:
            raise BadRequest(f"at most {LARGEST} bytes")
        content, head_only = self._content(name, size), request.method == "HEAD"
        choose = self._scripts.look if head_only else self._scripts.take
        way = choose(lambda waiting: fnmatch.fnmatchcase(name, waiting.name)) or FileScript()
        way = replace(way, ends_at=None, announced=True) if head_only else way
        validators = self._validators(name, content, way)
        if head_only and way.head != "honest":
            return _odd_head(way, content)
        if not_modified(request.headers, validators):
            return SandboxReply(304, headers=validators.headers())
        try:
            part = None if way.ranges == "none" else wanted_range(request.headers, content.size, validators)
        except Unsatisfiable:
            return SandboxReply(416, headers=(("Content-Range", f"bytes */{content.size}"), *validators.headers()))
        common = (("Content-Type", _kind(name)), *validators.headers(), _accepts(way))
        return _whole(content, way, common) if part is None else _partial(content, way, common, part)

    def _content(self, name: str, size: int | None) -> Content:
        version = self._versions[name]
        if name in self._put:
            return Held(self._put[name])
        if size is None and name.endswith(".pdf"):
            return Held(documents.pdf(self._seed, name, version))
        if size is None and name.endswith(".txt"):
            return Held(documents.text(self._seed, name, version))
        return Content(self._seed, name, version, DEFAULT_SIZE if size is None else size)

    def _validators(self, name: str, content: Content, way: FileScript) -> Validators:
        modified = formatdate(FIRST_MODIFIED + 3600 * (self._versions[name] - 1), usegmt=True) if way.dated else ""
        return Validators({"strong": f'"{content.tag}"', "weak": f'W/"{content.tag}"', "none": ""}[way.tag], modified)


def _whole(content: Content, way: FileScript, headers: tuple[tuple[str, str], ...]) -> SandboxReply:
    size = content.size if way.ends_at is None else min(way.ends_at, content.size)
    return SandboxReply(200, lambda: content.between(0, size), headers, size, _delivery(way, 0))


def _partial(
    content: Content, way: FileScript, headers: tuple[tuple[str, str], ...], part: tuple[int, int]
) -> SandboxReply:
    start, end = part
    if way.ranges == "shifted":
        start //= 2
    sent_from = 0 if way.ranges == "lying" else start
    content_range = ("Content-Range", f"bytes {start}-{end - 1}/{content.size}")
    length = end - start
    return SandboxReply(
        206,
        lambda: content.between(sent_from, sent_from + length),
        (*headers, content_range),
        length,
        _delivery(way, start),
    )


def _delivery(way: FileScript, start: int) -> Delivery:
    cut = None if way.truncate_at is None else max(0, way.truncate_at - start)
    return Delivery(way.chunk_bytes, way.pause_seconds, cut, way.length_error, way.announced)


def _odd_head(way: FileScript, content: Content) -> SandboxReply:
    if way.head == "refused":
        return SandboxReply(405, headers=(("Allow", "GET"),))
    return SandboxReply(200, headers=(("Content-Length", str(content.size // 2 + 1)), ("Accept-Ranges", "bytes")))


def _accepts(way: FileScript) -> tuple[str, str]:
    return ("Accept-Ranges", "none" if way.ranges == "none" else "bytes")


def _kind(name: str) -> str:
    kinds = {"pdf": "application/pdf", "txt": "text/plain; charset=utf-8", "zip": "application/zip"}
    return kinds.get(name.rpartition(".")[2], "application/octet-stream")
