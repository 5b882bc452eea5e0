"""`python -m haulwright.apps.prices`: a worker for prices alone, with the options of `haulwright worker`."""

from __future__ import annotations

from haulwright.apps.prices import SPEC
from haulwright.cli.kit.launcher import launch

launch(SPEC)
