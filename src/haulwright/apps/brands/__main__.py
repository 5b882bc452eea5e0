"""`python -m haulwright.apps.brands`: a worker for brands alone, with the options of `haulwright worker`."""

from __future__ import annotations

from haulwright.apps.brands import SPEC
from haulwright.cli.kit.launcher import launch

launch(SPEC)
