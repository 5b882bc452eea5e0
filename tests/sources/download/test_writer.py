"""Bytes are written behind the network: in order, and what fails is not papered over by what follows."""

from __future__ import annotations

import asyncio
import os

import pytest

from haulwright.sources.download import LeaseKey, parts
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
