"""The command line: `penstock`. Data on stdout, everything else on stderr, and an exit code that means something."""

from __future__ import annotations


def main() -> None:
    """Run the command that was typed, and leave with its exit code."""
    from penstock.cli.root import root  # noqa: PLC0415 - the package itself imports nothing, so that parts stay cheap

    root.main(prog_name="penstock")
