"""`python -m haulwright.apps.syncs`: a worker for syncs alone, with the options of `haulwright worker`."""

from __future__ import annotations

from haulwright.apps.syncs import SPEC
from haulwright.cli.kit.launcher import launch

launch(SPEC)
