"""`python -m haulwright.apps.brief`: a worker for brief alone, with the options of `haulwright worker`."""

from __future__ import annotations

from haulwright.apps.brief import SPEC
from haulwright.cli.kit.launcher import launch

launch(SPEC)
