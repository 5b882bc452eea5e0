"""Bytes are written behind the network: in order, and what fails is not papered over by what follows."""

from __future__ import annotations

import asyncio
import errno
import os
import threading

import pytest

from haulwright.sources.download import DiskFull, LeaseKey, adownload, parts
from haulwright.sources.download import fetch as fetching
from haulwright.sources.download.parts import Part, Record, take
from haulwright.sources.download.writer import PartWriter


@pytest.fixture
def part(tmp_path):
    part = take(tmp_path, "what", LeaseKey("job", 1, "worker"), Record("https://files.example/a", "job"))
    yield part
    part.close()


def test_what_is_given_is_written_in_order_and_hashed_on_the_way(part):
    async def write():
        writer = PartWriter(part)
        for number in range(50):
            await writer.write([b"%02d" % number])
        await writer.drain()

    asyncio.run(write())

    assert part.path.read_bytes() == b"".join(b"%02d" % number for number in range(50))
    assert part.size == 100


def test_what_follows_a_failed_write_does_not_take_its_place(part, monkeypatch):
    append = Part._append

    def full(*_):
        monkeypatch.setattr(Part, "_append", append)
        raise OSError("no room")

    async def write():
        writer = PartWriter(part)
        await writer.write([b"lost"])
        with pytest.raises(OSError, match="no room"):
            await writer.write([b"next"])
        await writer.write([b"last"])
        await writer.drain()

    monkeypatch.setattr(Part, "_append", full)
    asyncio.run(write())

    assert (part.size, part.path.read_bytes()) == (0, b"")


class Answer:
    """What a server sends: two pieces that are due to be written, and one that is not when the body ends."""

    status, headers = 200, {"content-length": "25"}

    def __init__(self):
        self.has_ended = threading.Event()

    async def __aiter__(self):
        yield b"0123456789"
        yield b"0123456789"
        yield b"01234"
        self.has_ended.set()


def test_a_part_is_not_closed_under_its_sync_when_the_last_write_fails(http, url, tmp_path, monkeypatch):
    answer, may_end, order = Answer(), threading.Event(), []
    append, sync, close, drain = Part._append, Part.sync, Part.close, PartWriter.drain

    def fail_second(part, data):
        if part.size:
            answer.has_ended.wait()
            raise OSError(errno.ENOSPC, "no room")
        append(part, data)

    def sync_until_told(part):
        may_end.wait()
        sync(part)
        order.append("synced")

    def close_and_tell(part):
        order.append("closed")
        may_end.set()
        close(part)

    def drain_and_tell(writer):
        may_end.set()
        return drain(writer)

    for name, figure in {"FLUSH_BYTES": 10, "MOST_WAITING_BYTES": 10, "FLUSH_SECONDS": float("inf")}.items():
        monkeypatch.setattr(fetching, name, figure)
    monkeypatch.setattr(parts, "DURABLE_EVERY_BYTES", 10)
    for of, name, act in (
        (Part, "_append", fail_second), (Part, "sync", sync_until_told), (Part, "close", close_and_tell),
        (PartWriter, "drain", drain_and_tell),
    ):  # fmt: skip
        monkeypatch.setattr(of, name, act)

    with pytest.raises(DiskFull):
        asyncio.run(adownload(http, url, tmp_path, owner=LeaseKey("job", 1, "worker"), answer=answer))

    assert order == ["synced", "closed"]


def test_a_sync_promises_no_more_than_what_was_there_when_it_began(part, monkeypatch):
    fsync = os.fsync

    def slow(handle):
        monkeypatch.setattr(os, "fsync", fsync)
        part.write(b" and more")
        fsync(handle)

    part.write(b"there")
    monkeypatch.setattr(os, "fsync", slow)
    part.sync()

    assert (part.record.durable, part.size) == (5, 14)


def test_a_long_file_is_synced_while_it_comes(part, monkeypatch):
    monkeypatch.setattr(parts, "DURABLE_EVERY_BYTES", 10)

    async def write():
        writer = PartWriter(part)
        for _ in range(10):
            await writer.write([b"0123456789"])
        await writer.drain()

    asyncio.run(write())

    assert part.record.durable >= 10
