"""`python -m haulwright.apps.documents`: a worker for documents alone, with the options of `haulwright worker`."""

from __future__ import annotations

from haulwright.apps.documents import SPEC
from haulwright.cli.kit.launcher import launch

launch(SPEC)
