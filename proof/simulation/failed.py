"""Seeds that failed once, and what they found. Each is run again by the tests, as the history that it was."""

from __future__ import annotations

FAILED: dict[int, str] = {
    1956: "a commit settled its job and its reply was lost, which the judge took for somebody else's end",
    1970: "a claim turned a job away, gave a permit back that it could not use, and took that job after all",
    2449: "a client that was not told asked again for its keyed job, which SQLite refused or made once more",
    3179: "a job was woken by the last that it waited for, then the clock was set back, and it was taken for forgotten",
    3402: "a claim woke a job by a permit that it gave back, which put it before one that was due for a while",
    31068: "a run lost its lease while it looked for a permit of a holder that was gone, and its gate failed",
    105764: "the administrator opened no source at the end where one of them was not declared any more",
    115516: "as 31068: the lease ended between the two transactions that look for a permit",
    120926: "as 105764: a source stayed closed at the end, and a job that waited for it could not end",
    138190: "as 31068: the lease ended between the two transactions that look for a permit",
    156539: "as 31068: the lease ended between the two transactions that look for a permit",
    159878: "as 31068: the lease ended between the two transactions that look for a permit",
    180633: "as 105764: a source stayed closed at the end, and a job that waited for it could not end",
}
