"""Cross-validation over labelled streams: `HAULWRIGHT_CLUSTERING_DATA=FOLDER python -m proof.clustering [SEED]`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from haulwright.apps.brief.clustering.tuning import DEFAULT
from proof.clustering.bcubed import bcubed
from proof.clustering.labelled import VARIABLE, read_streams
from proof.clustering.selection import Selection, cross_validate, score_lines


def main() -> None:
    """Print the scores of each stream: of settings chosen without the fold that is scored, and of the product's own."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        sys.exit(f"{VARIABLE} does not name a folder of labelled streams.")
    streams = read_streams(Path(folder))
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    cross_validate(streams, seed, lambda line: print(line, flush=True))
    own = Selection(streams, seed, {})
    placed = own.clusters(DEFAULT)
    for line in score_lines({name: bcubed(stream.events, placed[name]) for name, stream in own.streams.items()}):
        print(f"the product's own setting, {line}")


if __name__ == "__main__":
    main()
