"""The ways in which an address of this machine is written by those who want it not to be known as one."""

from __future__ import annotations

from ipaddress import IPv6Address

LOOPBACK = [
    "127.0.0.1", "127.0.0.1.", "127.1", "127.0.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0x7f.1", "0177.0.0.1",
    "017700000001", "0.0.0.0", "0",  # noqa: S104 - nothing is bound to it
    "localhost", "LOCALHOST", "localhost.", "a.localhost", "[::1]", "[::]",
    "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]", "[fe80::1%25lo]", "[::1%25lo]", "127。0。0。1", "①②⑦.0.0.1", "%31%32%37.0.0.1", "127.0.0.1%00",
    "shop.example@127.0.0.1", "shop.example%40127.0.0.1", "shop.example:80@127.0.0.1", "127.0.0.1%2f@shop.invalid",
]  # fmt: skip


def spellings_of(address: str) -> list[str]:
    """An address in the forms that the C library understands: decimal, hexadecimal, octal, short, mapped, long."""
    if ":" in address:
        return [f"[{address}]", f"[{address.upper()}]", f"[{IPv6Address(address).exploded}]", f"user@[{address}]"]
    one, two, three, four = (int(part) for part in address.split("."))
    whole = (one << 24) + (two << 16) + (three << 8) + four
    return [
        address,
        f"{address}.",
        str(whole),
        hex(whole),
        f"0{whole:o}",
        f"0x{one:x}.{two}.{three}.{four}",
        f"0{one:o}.0{two:o}.0{three:o}.0{four:o}",
        f"{one}.{(two << 16) + (three << 8) + four}",
        f"{one}.{two}.{(three << 8) + four}",
        f"[::ffff:{address}]",
        f"[::ffff:{whole >> 16:x}:{whole & 0xFFFF:x}]",
        f"[64:ff9b::{whole >> 16:x}:{whole & 0xFFFF:x}]",
        f"shop.example@{address}",
        f"shop.example:80@{address}",
    ]
