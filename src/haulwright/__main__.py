"""`python -m haulwright` is `haulwright`."""

from __future__ import annotations

from haulwright.cli import main

main()
