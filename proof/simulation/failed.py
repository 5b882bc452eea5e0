"""Seeds that failed once, and what they found. Each is run again by the tests."""

from __future__ import annotations

FAILED: dict[int, str] = {
    1956: "a commit settled its job and its reply was lost, which the judge took for somebody else's end",
    2449: "a client that was not told asked again for its keyed job, which SQLite refused or made once more",
}
