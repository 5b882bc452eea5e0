"""Makes the frozen weights of a version from all labelled news, with `python -m proof.clustering.freeze`."""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path

from haulwright.apps.brief import clustering
from haulwright.apps.brief.clustering.weights import TABLE, write_table
from proof.clustering.labelled import VARIABLE, read_labelled
from proof.clustering.learning import learn_join_at, learn_weights

SEEDS = range(3)


def main() -> None:
    """Write the table, and say what JOIN_AT is to be."""
    labelled = read_labelled(Path(os.environ[VARIABLE]))
    table = Path(str(files(clustering).joinpath(TABLE)))
    table.write_text(write_table(learn_weights(labelled)), "utf-8")
    found = sorted(learn_join_at(labelled, seed) for seed in SEEDS)
    print(f"{TABLE}: {table.stat().st_size:,} bytes. JOIN_AT: {found[len(found) // 2]} of {found}.")


if __name__ == "__main__":
    main()
