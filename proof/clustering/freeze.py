"""Makes what is known of words before the first article of a stream, with `python -m proof.clustering.freeze`.

Nothing in it comes from labelled news.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from haulwright.apps.brief import clustering
from haulwright.apps.brief.clustering.weights import TABLE, Weights, read_table, write_table
from proof.clustering.function_words import FUNCTION_WORDS, LEVEL

COMMON_WORDS = "common_words.txt"


def prior_table() -> str:
    """How common words are in English on the web, and the words of other languages that bind others together."""
    common = read_table(files(__package__).joinpath(COMMON_WORDS).read_text("utf-8"))
    binding = {word: min(LEVEL, common.levels.get(word, LEVEL)) for word in FUNCTION_WORDS}
    return write_table(Weights({**common.levels, **binding}, common.unknown))


def main() -> None:
    """Write the table."""
    table = Path(str(files(clustering).joinpath(TABLE)))
    table.write_text(prior_table(), "utf-8")
    print(f"{TABLE}: {table.stat().st_size:,} bytes.")


if __name__ == "__main__":
    main()
