"""The peers, one small module each, at the best settings we found that keep what they promised over a power cut.

Each module runs in the peers' environment and offers what `bench.harness` asks for: `reset()` empties its storage,
`fill(count)` enqueues through its own bulk call, `unfinished()` says whether a completion is not recorded yet once
all bodies have run, and `work(setting)` is its own worker. A body parses its argument and calls `hit()`.
"""

from __future__ import annotations

import os

ADDRESS = os.environ.get("HAULWRIGHT_BENCH_DATABASE", "")
"""Where this process finds its database."""
