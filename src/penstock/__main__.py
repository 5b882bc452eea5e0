"""`python -m penstock` is `penstock`."""

from __future__ import annotations

from penstock.cli import main

main()
