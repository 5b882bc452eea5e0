"""Every error that Haulwright raises.

An error says what happened, why, and what to do next; its facts are fields, so that callers never parse a message.

    HaulwrightError
      Refused                  asked for something that cannot be right; nothing was written
        InvalidValue           a setting, option or argument with a value that makes no sense
        InvalidPayload         arguments or a result that cannot be stored identically everywhere
        UnknownTask            no task of that name is registered or importable
        UnknownName            an option or a method that does not exist, with the one that was meant
        BlockingCall           a plain name was called on the event loop
      NotFound                 no such row for this caller (a foreign row looks exactly like an absent one)
      Forbidden                the principal's role does not allow it
      Conflict                 the request meets the state of something else
        DuplicateMismatch      the same unique key with other arguments
        SlotTaken              the slot of a schedule already has its job
        SlotForgotten          what became of a slot is not recorded any more
        AlreadyRequeued        a dead letter is requeued only once
        IllegalTransition      not in the transition table
        IllegalStage           not in the stage machine
        EffectMismatch         one effect key under two names
        KeyReused              one Idempotency-Key for two requests
        WorkerExists           another live worker, and --exclusive was asked for
      UnreadableRow            a row that this version cannot read; all others go on
      MissingExtra             a part of Haulwright whose packages are not installed here
      DatabaseProblem
        DatabaseUnavailable    not reachable, read-only, busy beyond patience, or out of space: it passes
        DatabaseUnsuitable     reachable, but not something the promise can be kept on
        SchemaMismatch         the schema is newer or older than this code, or was changed by hand
        DatabaseLost           not the one any more that this process used: waiting does not help
          DatabaseReplaced     its file was replaced, deleted, written over, or lost its log under this process
          DatabaseDamaged      its file cannot be read any more
      RunError                 raised inside a run, and by tasks to say how the run ends
        Retryable, Throttled, Permanent, AuthFailed
        LeaseLost, Cancelled, TimedOut
        EffectUnknown, ResultTooLarge
      JobFailed                the job whose result was asked for did not succeed
      ResultTimeout            the job whose result was asked for is not finished yet

    Suspended                  no error, and not to be caught: it ends a run that waits for other jobs
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from haulwright.error_codes import code_of_class


class HaulwrightError(Exception):
    """Something Haulwright refuses or could not do. `hint` is the next step to take."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def code(self) -> str:
        """A stable name for programs: the class, in words with underscores."""
        return code_of_class(type(self))

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


class Refused(HaulwrightError):
    """The request cannot be right. Nothing was written."""

    exit_code = 2


class InvalidValue(Refused, ValueError):
    """A setting, option or argument has a value that makes no sense."""

    def __init__(self, what: str, value: object, why: str, *, hint: str = "") -> None:
        super().__init__(f"{what}: {value!r} {why}.", hint=hint)
        self.what = what
        self.value = value
        self.why = why


class InvalidPayload(Refused, ValueError):
    """Arguments or a result cannot be stored identically on both databases."""

    def __init__(self, path: str, why: str, *, hint: str = "") -> None:
        super().__init__(f"{path}: {why}.", hint=hint)
        self.path = path
        self.why = why


class UnknownTask(Refused, LookupError):
    """No task of this name is registered."""

    def __init__(self, name: str, *, hint: str = "") -> None:
        super().__init__(f"There is no task named {name!r}.", hint=hint)
        self.name = name


class UnknownName(Refused, TypeError, AttributeError):
    """There is no option or method of this name; the hint says which was probably meant."""


class BlockingCall(Refused, RuntimeError):
    """A plain name was called on the event loop, where it would block every other job."""


class NotFound(HaulwrightError, LookupError):
    """No such row for this caller. A foreign id looks exactly like an absent one."""

    exit_code = 3

    def __init__(self, what: str, name: str, *, hint: str = "") -> None:
        super().__init__(f"There is no {what} {name}.", hint=hint)
        self.what = what
        self.name = name


class Forbidden(HaulwrightError, PermissionError):
    """The principal's role does not allow this."""

    exit_code = 4


class Conflict(HaulwrightError):
    """The request meets the state of something else. Nothing was written."""

    exit_code = 4


class DuplicateMismatch(Conflict):
    """A job with this unique key exists and was given other arguments."""

    def __init__(self, key: str, job_id: str) -> None:
        hint = f"See it with: haulwright job show {job_id}"
        super().__init__(f"The unique key {key!r} belongs to job {job_id}, which has other arguments.", hint=hint)
        self.key = key
        self.job_id = job_id


class SlotTaken(Conflict):
    """The slot of a schedule already has its disposition."""

    def __init__(self, schedule: str, slot: str, disposition: str, job_id: str | None) -> None:
        whose = f" and has job {job_id}" if job_id else ""
        super().__init__(
            f"The slot {slot} of schedule {schedule!r} is taken: it was {disposition}{whose}.",
            hint="Name another --scheduled-for, or requeue its job if that is dead.",
        )
        self.schedule = schedule
        self.slot = slot
        self.disposition = disposition
        self.job_id = job_id


class SlotForgotten(Conflict):
    """The record of a slot was pruned by retention: it may have had its job, so it is not opened again."""

    def __init__(self, schedule: str, slot: str, until: str, task: str) -> None:
        message = f"Whether the slot {slot} of schedule {schedule!r} had its job is not known any more: it was pruned."
        hint = f"Begin after {until}. What is missing before it is enqueued by hand: haulwright run {task}"
        super().__init__(message, hint=hint)
        self.schedule = schedule
        self.slot = slot
        self.until = until


class AlreadyRequeued(Conflict):
    """A dead letter is requeued only once."""

    def __init__(self, job_id: str, successor: str) -> None:
        see = f"See it with: haulwright job show {successor}"
        super().__init__(f"Job {job_id} was requeued already, as job {successor}.", hint=see)
        self.job_id = job_id
        self.successor = successor


class IllegalTransition(Conflict, RuntimeError):
    """A job cannot go this way."""

    def __init__(self, job_id: str, state: str, verb: str) -> None:
        super().__init__(f"Job {job_id} is {state}: {verb} is not possible.")
        self.job_id = job_id
        self.state = state
        self.verb = verb


class IllegalStage(Conflict, RuntimeError):
    """The stage machine has no such move, or whoever asks for it does not allow it from there."""

    def __init__(self, machine: str, stage: str, to: str, *, allowed_from: Sequence[str] | None = None) -> None:
        froms = ", ".join(allowed_from or ()) or "nowhere"
        refused = f"The move from {stage} to {to} is not allowed here: allowed_from names {froms}."
        unknown = f"The machine {machine!r} has no move from {stage} to {to}."
        super().__init__(unknown if allowed_from is None else refused)
        self.machine = machine
        self.stage = stage
        self.to = to


class EffectMismatch(Conflict):
    """One effect key was used under two names."""

    def __init__(self, key: str, recorded: str, asked: str) -> None:
        super().__init__(
            f"The effect key {key[:16]}… is recorded as {recorded!r} and was asked for as {asked!r}.",
            hint="Give each effect of a job its own key=.",
        )
        self.key = key
        self.recorded = recorded
        self.asked = asked


class KeyReused(Conflict):
    """The Idempotency-Key of a request belongs to another one, which was answered already."""


class WorkerExists(Conflict):
    """Another live worker serves this database, and an exclusive one was asked for."""


class UnreadableRow(HaulwrightError):
    """A row that this version cannot read, written by a newer one or by hand. All others go on."""

    def __init__(self, noun: str, name: str, why: str) -> None:
        super().__init__(
            f"The {noun} {name!r} cannot be read by this version: {why}.",
            hint="Upgrade Haulwright on this host, or mend the row. All such rows: haulwright doctor",
        )
        self.noun = noun
        self.name = name
        self.why = why


class MissingExtra(HaulwrightError, ImportError):
    """A part of Haulwright whose packages are not installed here; the hint is the line to type."""

    exit_code = 69

    def __init__(self, extra: str, purpose: str, package: str, why: str = "") -> None:
        state = f"cannot be imported: {why}" if why else "is not installed"
        hint = f"Run: pip install 'haulwright[{extra}]'"
        super().__init__(f"{purpose} needs the package {package}, which {state}.", hint=hint)
        self.extra = extra
        self.purpose = purpose
        self.package = package


class DatabaseProblem(HaulwrightError):
    """The database cannot be used."""

    exit_code = 69


class DatabaseUnavailable(DatabaseProblem):
    """The database is not reachable, read-only, busy beyond patience, or out of space: the same may pass later."""

    outcome_unknown: bool = False
    """True when nobody knows whether it was written: look the outcome up, never guess it."""
    job_ids: tuple[str, ...] = ()
    """The jobs of an enqueue whose outcome is unknown."""
    less_may_pass: bool = False
    """True when it may have been too much at once."""


class DatabaseUnsuitable(DatabaseProblem):
    """The database is reachable, but the promise cannot be kept on it."""


class SchemaMismatch(DatabaseProblem):
    """The schema and this code do not belong together."""


class DatabaseLost(DatabaseProblem):
    """The database is not the one any more that this process used. Waiting does not help: a worker ends."""

    exit_code = 74


class DatabaseReplaced(DatabaseLost):
    """The file was replaced, deleted, written over or lost its log under this process, which refuses to go on.

    What the refused transaction wrote is in a file that nobody will open: take it for not written.
    """

    def __init__(self, path: str, what: str) -> None:
        super().__init__(
            f"The database {path} {what} while this process used it: what it wrote since then may be in no file.",
            hint=f"Stop every process that uses it, in order and not with kill -9. See that {path} is the file you "
            "want, without a -wal or -shm of another beside it; look with: haulwright db verify; then start again.",
        )
        self.path = path
        self.what = what


class DatabaseDamaged(DatabaseLost):
    """What is in the file cannot be read any more. The hint says how to go on."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(
            f"The database {path} is damaged: {why}.",
            hint="Stop every process that uses it, and keep a copy of the file with its -wal. Put a backup in its "
            f"place; without one, take out what can be read: sqlite3 {path} .recover | sqlite3 rescued.db",
        )
        self.path = path


class RunError(HaulwrightError):
    """Raised inside a run. Tasks raise its children to say how the run ends."""


class Retryable(RunError):
    """This run failed; another may succeed. `after` overrides the policy's delay, in seconds."""

    def __init__(self, message: str = "", *, after: float | None = None, hint: str = "") -> None:
        super().__init__(message or "failed, may succeed later", hint=hint)
        self.after = after


class Throttled(RunError):
    """The other side asked for patience. The job waits until then and no attempt is burnt."""

    def __init__(self, message: str = "", *, after: float, gate: str = "") -> None:
        super().__init__(message or f"asked to wait {after:g} s")
        self.after = after
        self.gate = gate


class Permanent(RunError):
    """No further run can succeed: the job is dead at once."""


class AuthFailed(RunError):
    """The credential was refused. Dead at once where it is the tenant's own; a shared one opens its breaker."""

    def __init__(self, message: str = "", *, credential: str = "", shared: bool = False) -> None:
        super().__init__(message or "the credential was refused")
        self.credential = credential
        self.shared = shared


class LeaseLost(RunError):
    """This run has no authority over its job any more. Whatever it does now changes nothing."""

    def __init__(self, job_id: str, fence: int, verb: str = "write") -> None:
        super().__init__(
            f"The lease of job {job_id} (fence {fence}) is gone: this {verb} was refused.",
            hint="Another run owns the job, or it is finished. Stop working; the result would be discarded.",
        )
        self.job_id = job_id
        self.fence = fence
        self.verb = verb


class Cancelled(RunError):
    """Somebody cancelled this job while it ran."""


class TimedOut(RunError):
    """The run passed its time limit."""


class EffectUnknown(RunError):
    """An at-most-once effect was interrupted: whether it happened is for a person to find out."""


class ResultTooLarge(RunError):
    """The effect happened and is recorded, but its value is too large to keep."""


class Suspended(BaseException):
    """The run is over for now: what it waits for will run the task again from its beginning. Let it pass."""


class JobFailed(HaulwrightError):
    """The job whose result was asked for ended without one."""

    def __init__(self, job_id: str, state: str, reason: str | None, error: dict[str, Any] | None) -> None:
        why = (error or {}).get("message") or reason or "no reason recorded"
        super().__init__(f"Job {job_id} is {state}: {why}.", hint=f"See it with: haulwright job show {job_id}")
        self.job_id = job_id
        self.state = state
        self.reason = reason
        self.error = error


class ResultTimeout(HaulwrightError, TimeoutError):
    """The job whose result was asked for is not finished yet."""

    exit_code = 75

    def __init__(self, job_id: str, state: str, seconds: float) -> None:
        super().__init__(
            f"Job {job_id} is still {state} after {seconds:g} s.", hint=f"Ask why with: haulwright job why {job_id}"
        )
        self.job_id = job_id
        self.state = state
