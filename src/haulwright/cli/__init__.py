"""The command line: `haulwright`. Data on stdout, everything else on stderr, and an exit code that means something."""

from __future__ import annotations

import sys

from haulwright.__about__ import __version__


def main() -> None:
    """Run the command that was typed, and leave with its exit code."""
    if sys.argv[1:] == ["--version"]:  # what scripts ask first, and often: answered before anything is imported
        print(f"haulwright {__version__}")  # noqa: T201 - click would take longer than the answer
        sys.exit(0)
    from haulwright.cli.kit.root import root  # noqa: PLC0415 - the package itself imports nothing, so that parts stay cheap

    root.main(prog_name="haulwright")
