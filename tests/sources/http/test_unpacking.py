from __future__ import annotations

import gzip
import tracemalloc
import zlib
from importlib import import_module

import brotli
import pytest

from haulwright.sources.http import Limits, TooLarge, Undecodable
from haulwright.sources.http.decompression import _ZSTD, decompress, decompressors_for
from tests.sources.http.servers import respond

zstd = import_module(_ZSTD)
PAGE = b"<p>The harbour was quiet.</p>" * 1000


def raw_deflate(data):
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


PACKERS = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": lambda data: brotli.compress(data, quality=1),
    "zstd": zstd.compress,
}


@pytest.mark.parametrize("coding", PACKERS)
def test_a_packed_page_is_unpacked(http, serve, coding):
    reply = http.get(serve(respond(200, PACKERS[coding](PAGE), Content_Encoding=coding)).url)

    assert reply.body == PAGE
    assert 0 < reply.received_bytes < len(PAGE)


@pytest.mark.parametrize(
    ("packed", "coding"),
    [
        (gzip.compress(PAGE[:500]) + gzip.compress(PAGE[500:]), "gzip"),
        (gzip.compress(PAGE) + bytes(64), "gzip"),
        (zstd.compress(PAGE[:500]) + zstd.compress(PAGE[500:]), "zstd"),
        (raw_deflate(PAGE), "deflate"),
        (brotli.compress(gzip.compress(PAGE)), "gzip, br"),
        (PAGE, "identity"),
    ],
    ids=["members", "padding", "frames", "bare deflate", "twice", "identity"],
)
def test_what_servers_really_send_is_unpacked(http, serve, packed, coding):
    assert http.get(serve(respond(200, packed, Content_Encoding=coding)).url).body == PAGE


@pytest.mark.parametrize("coding", PACKERS)
def test_a_bomb_stops_while_it_unfolds_with_bounded_memory(client, serve, coding):
    server = serve(respond(200, PACKERS[coding](bytes(30_000_000)), Content_Encoding=coding))
    http = client()
    tracemalloc.start()

    with pytest.raises(TooLarge, match="unfold"):
        http.get(server.url)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 15_000_000


def test_a_bomb_in_a_bomb_stops_too(http, serve):
    packed = gzip.compress(gzip.compress(bytes(50_000_000)))

    with pytest.raises(TooLarge, match="unfold"):
        http.get(serve(respond(200, packed, Content_Encoding="gzip, gzip")).url)


def test_the_cap_holds_after_unpacking(client, serve):
    with pytest.raises(TooLarge, match="unfolds into more than 1000 bytes"):
        client(limits=Limits(body_bytes=1000)).get(
            serve(respond(200, gzip.compress(PAGE), Content_Encoding="gzip")).url
        )


@pytest.mark.parametrize("coding", PACKERS)
def test_a_packed_body_that_ends_in_the_middle_is_not_taken_for_whole(http, serve, coding):
    half = PACKERS[coding](PAGE)[:-8]

    with pytest.raises(Undecodable, match="ends before"):
        http.get(serve(respond(200, half, Content_Encoding=coding)).url)


@pytest.mark.parametrize("coding", [*PACKERS, "rot13", "gzip, gzip, gzip"])
def test_a_body_that_is_not_what_it_says_is_refused(http, serve, coding):
    with pytest.raises(Undecodable):
        http.get(serve(respond(200, b"\xffplain text all along", Content_Encoding=coding)).url)


@pytest.mark.parametrize("outer", ["br", "zstd", "gzip"])
def test_a_bomb_that_the_inner_coding_does_not_look_at_stops_too(http, serve, outer):
    packed = PACKERS[outer](zlib.compress(PAGE) + bytes(30_000_000))

    with pytest.raises(TooLarge, match="unfold"):
        http.get(serve(respond(200, packed, Content_Encoding=f"deflate, {outer}")).url)


@pytest.mark.parametrize("coding", [*PACKERS, "bare deflate"])
def test_a_packed_page_is_unpacked_in_whatever_pieces_it_comes(coding):
    packed = raw_deflate(PAGE) if coding == "bare deflate" else PACKERS[coding](PAGE)
    unpackers = decompressors_for(coding.removeprefix("bare "), "GET")

    pieces = [piece for byte in packed for piece in decompress(unpackers, bytes([byte]), lambda *_: None)]

    assert b"".join(pieces) == PAGE
