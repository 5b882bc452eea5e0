"""`python -m weather`: a worker for the weather alone, with the options of `haulwright worker`."""

from __future__ import annotations

from haulwright.cli.kit.launcher import launch
from weather import SPEC

launch(SPEC)
