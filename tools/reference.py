"""Writes the reference pages that follow from the code: errors, events, limits.

python tools/reference.py           write them
python tools/reference.py --check   exit 1 if one is not current
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from types import ModuleType

from haulwright import errors, events
from haulwright.engine import job, join, lease, names, payload, retry, schedule, task, transitions
from haulwright.stores import listing

AUDITED = """## When they are written

Of a task that says `app.task(audit=True)`, as all tasks of the applications do, every event is written when it happens:
`job.queued` in the transaction that enqueues the job, whoever does it and on whose connection (one by one, in bulk,
in a commit, by a schedule, by a requeue), `job.started` in the transaction of its claim, and its end with its
settlement. Who follows the events sees a job begin, and one that hangs has its start.

Of any other task an event is written when something happened that its row does not tell: a failure, a wait, a loss, a
cancel, and with each of them the start of the run that it ends. A job that succeeds in its first run writes no event;
`job.queued`, `job.started` and `job.completed` of it are read from its row where its timeline is shown, and are not in
the stream ([decision 23](../decisions/0023-audited-tasks.md)).

`job.failed`, `job.dead_lettered` and `job.snoozed` also carry `error_frames` where the lines of the user's code are
known, and `job.snoozed` the error that sent the job away, where there was one.
""".strip().splitlines()

FOLLOWING = """## Following them

`haulwright event tail`, and `app.operations(principal).events.follow(after=cursor)` in a program, give every event
once, in the order of `seq`. The events of one job come in the order of its commits, for whatever writes one holds
the job until its commit. `next` is the cursor for the next look, a text that nobody needs to read; the `seq` of an
event is a cursor too.

On PostgreSQL numbers are given when an event is written, and a later one may be committed first. A follower
therefore shows an event when every transaction has ended that was writing events when it looked. It waits for
nobody else: a long transaction that wrote no event holds up none. One that did holds up what was written after it;
`haulwright doctor` names it after a minute. Recording an event costs nothing for this. `event list` shows what is
committed, also what a follower still waits for. On SQLite numbers come in the order of commits, and nobody waits.

Numbers go on after a restart, a promotion of a standby, and in a database that was copied or restored from a dump,
so a cursor stays good. One that is beyond the newest event (the database was set back to an earlier state) is
refused, for its numbers will be given again.""".splitlines()

FOLDER = Path(__file__).parent.parent / "docs" / "reference"


def errors_page() -> str:
    """Every error, as a tree, with its meaning and its exit code."""
    lines = [
        "# Errors",
        "",
        "Every error is a `haulwright.errors.HaulwrightError` with a `message`, a `hint` (the next step), a stable",
        "`code`, and its facts as fields.",
        "",
        "| error | is a | exit code | meaning |",
        "|---|---|---|---|",
    ]
    for name, kind in vars(errors).items():
        if inspect.isclass(kind) and issubclass(kind, errors.HaulwrightError):
            parents = ", ".join(f"`{base.__name__}`" for base in kind.__bases__)
            lines.append(f"| `{name}` | {parents} | {kind.exit_code} | {_sentence(kind)} |")
    return "\n".join(lines) + "\n"


def events_page() -> str:
    """Every event and its fields; every state and its transitions."""
    lines = [
        "# Events",
        "",
        "Events are written in the transaction of what they describe, and never changed; only retention removes them.",
        'A task may declare more fields of its arguments and result: `app.task(event_fields=("connector_id",))`.',
        "",
        *AUDITED,
        "",
        "| event | fields |",
        "|---|---|",
        *(f"| `{name}` | {', '.join(f'`{field}`' for field in fields)} |" for name, fields in events.FIELDS.items()),
        "",
        *FOLLOWING,
        "",
        "## States and transitions",
        "",
        "| from | verb | to |",
        "|---|---|---|",
        *(
            f"| `{state}` | {verb} | {', '.join(f'`{to}`' for to in sorted(after))} |"
            for (state, verb), after in transitions.TRANSITIONS.items()
        ),
    ]
    return "\n".join(lines) + "\n"


def limits_page() -> str:
    """Every limit with its value."""
    lines = [
        "# Limits",
        "",
        "What is larger is refused before anything is written.",
        "",
        "Names (of tasks, queues, schedules, tenants, sources, principals) and keys (unique keys, job keys,",
        "correlation ids) are limited in characters and in bytes: a tenant, a task and a key stand together in one",
        "entry of an index, for which PostgreSQL has 2,704 bytes.",
        "",
        "What a claim, a page or a look takes is bounded too: a worker holds 32 MiB of large arguments, a page of jobs",
        "8 MiB, `top` and `doctor` look at 100 queues. A page of queues costs what its own queues cost, but for a",
        "tenant that has few among very many: the index of waiting jobs is read until its page is full.",
        "",
        "| limit | value |",
        "|---|---|",
    ]
    seen: set[str] = set()
    for module in (payload, names, job, task, retry, schedule, lease, join, listing):
        for name, value in _numbers(module):
            if name not in seen:  # a constant is listed where it is declared, not again where it is imported
                lines.append(f"| `{module.__name__.removeprefix('haulwright.')}.{name}` | {value:,} |")
                seen.add(name)
    return "\n".join(lines) + "\n"


def _numbers(module: ModuleType) -> list[tuple[str, float]]:
    return [
        (name, value)
        for name, value in vars(module).items()
        if name.isupper() and name[0] != "_" and type(value) in {int, float} and name not in {"KIB", "MIB", "SECOND"}
    ]


def _sentence(kind: type) -> str:
    return (inspect.getdoc(kind) or "").splitlines()[0]


PAGES = {"errors.md": errors_page, "events.md": events_page, "limits.md": limits_page}


def main(arguments: list[str]) -> int:
    """Write the pages, or say which are not current."""
    stale = []
    for name, page in PAGES.items():
        path, text = FOLDER / name, page()
        if "--check" in arguments:
            stale += [name] if not path.exists() or path.read_text("utf-8") != text else []
        else:
            path.write_text(text, "utf-8")
    if stale:
        print(f"Not current: {', '.join(stale)}. Run: python tools/reference.py", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
