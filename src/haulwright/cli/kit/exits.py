"""What the exit codes mean. A code keeps its meaning for ever; errors carry theirs as `exit_code`."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """How a command ended."""

    OK = 0
    FAILED = 1
    REFUSED = 2
    NOT_FOUND = 3
    CONFLICT = 4
    PROBLEMS = 5
    NOTHING_TO_DO = 6
    DATABASE = 69
    BROKEN = 70
    DATABASE_LOST = 74
    STILL_RUNNING = 75
    WORN_OUT = 76
    INTERRUPTED = 130


MEANINGS: dict[Exit, str] = {
    Exit.OK: "It was done. A worker that was told to stop and drained ends with this too.",
    Exit.FAILED: "The job that was waited for did not succeed, the demo's figures are off, or nobody foresaw this.",
    Exit.REFUSED: "The command, an option, a setting, the app or an argument cannot be right. Nothing was written.",
    Exit.NOT_FOUND: "There is no such job, schedule or effect.",
    Exit.CONFLICT: "It meets the state of something else, or the role does not allow it. Nothing was written.",
    Exit.PROBLEMS: "`doctor`, `db verify` or `doc verify` found a problem.",
    Exit.NOTHING_TO_DO: "`worker --once` found no job that is due.",
    Exit.DATABASE: "The database cannot be used (away, read-only, another schema), or a part of us is not installed.",
    Exit.BROKEN: "A part of the worker did nothing but fail for a minute; it gave back and ended. Start a new one.",
    Exit.DATABASE_LOST: "The database file was replaced, deleted or damaged under a process. Look at it first.",
    Exit.STILL_RUNNING: "What was waited for, a job or a `queue drain`, is not finished after `--timeout`, or the job "
    "of `worker --once` has to wait for more than a minute. It goes on.",
    Exit.WORN_OUT: "The worker lost half of its threads to tasks that never return, and drained. Start a new one.",
    Exit.INTERRUPTED: "Interrupted from the keyboard.",
}
