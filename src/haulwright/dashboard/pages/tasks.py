"""Tasks, and a form for each, made from its signature: what somebody fills in becomes a job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from haulwright.dashboard.kit.arguments import (
    ArgumentField,
    fields_of,
    filled,
    typed,
    values_of,
    with_error,
)
from haulwright.dashboard.kit.call import PageCall
from haulwright.dashboard.kit.forms import Form
from haulwright.dashboard.kit.navigation import Nav
from haulwright.dashboard.kit.pages import ActionDone, FormAgain, PageRoutes
from haulwright.dashboard.kit.queries import jobs_query
from haulwright.errors import Conflict, InvalidPayload, InvalidValue, NotFound, Refused
from haulwright.operations.jobs import EnqueueOptions
from haulwright.operations.views.jobs import job_view
from haulwright.operations.views.tasks import TaskView, task_view

pages = PageRoutes("tasks")

TEMPLATE: Final = "task.html"
LONGEST_OPTION_CHARS: Final = 500
_OPTIONS: Final = ("tenant", "queue", "priority", "delay", "unique", "correlation_id")


@dataclass(frozen=True, slots=True)
class TasksPage:
    """The tasks that the app has registered, by name."""

    tasks: list[TaskView]

    @staticmethod
    def query(task: TaskView) -> str:
        """The filter that finds the jobs of a task."""
        return jobs_query(task=task["name"])


@dataclass(frozen=True, slots=True)
class TaskPage:
    """The form of one task."""

    task: TaskView
    fields: list[ArgumentField]
    options: dict[str, str]
    """What stands in the inputs that are not arguments."""
    has_unique: bool
    """Its jobs have a unique key, which may be another one."""
    like: str | None = None
    """The job that the form is filled in after."""
    dropped: Sequence[str] = ()
    """Arguments of that job which the task does not take any more."""
    wrong: str = ""
    """What cannot be, where it is about no single field."""


@pages.get("/tasks", "tasks.html", "Tasks", verb="task.read", nav=Nav("Tasks", key="t"))
def tasks(call: PageCall) -> TasksPage:
    """The tasks that can be run, by name."""
    return TasksPage([task_view(task) for task in call.operations.tasks.list()])


@pages.get("/tasks/{name:path}", TEMPLATE, "Run a task", verb="job.enqueue", query=("job",))
def task(call: PageCall) -> TaskPage:
    """The form of a task: empty, or filled in as a job of it was."""
    page, job_id = _empty(call), call.query.get("job")
    if not job_id:
        return page
    job = call.operations.jobs.get(job_id)
    if job.task != page.task["name"]:
        raise InvalidValue("job", job_id, f"is a job of the task {job.task!r}", hint="Open the form of that task.")
    args: Mapping[str, Any] = job_view(job)["args"]
    options = {"queue": job.queue, "priority": str(job.priority or ""), "tenant": job.tenant}
    names = {field.name for field in page.fields}
    return replace(
        page,
        fields=filled(page.fields, args),
        options={**page.options, **options},
        like=job.id,
        dropped=sorted(set(args) - names),
    )


@pages.post("/tasks/{name:path}", verb="job.enqueue")
def enqueue(call: PageCall, form: Form) -> ActionDone | FormAgain:
    """Enqueue a job of a task; what cannot be is shown beside what was typed."""
    page = _empty(call)
    page = replace(
        page,
        fields=typed(page.fields, dict(form.fields)),
        options={name: form.text(name, most=LONGEST_OPTION_CHARS) for name in _OPTIONS},
    )
    values, fields = values_of(page.fields)
    if any(field.error for field in fields):
        return _again(replace(page, fields=fields))
    try:
        jobs = call.because(form.text("reason")).jobs
        enqueued = jobs.enqueue(page.task["name"], values, **_options(page.options))
    except InvalidPayload as error:
        fields = with_error(page.fields, error.path, error.why)
        wrong = "" if any(field.error for field in fields) else str(error)
        return _again(replace(page, fields=fields, wrong=wrong))
    except (Refused, Conflict) as error:
        return _again(replace(page, wrong=str(error)))
    text = "The job is enqueued." if enqueued.created else "There is such a job already, by its unique key: this one."
    return ActionDone(text, to=call.link("jobs", enqueued.id))


def _empty(call: PageCall) -> TaskPage:
    """The form of the task in the address."""
    name = call.path["name"]
    chosen = next((task for task in call.operations.tasks.list() if task.name == name), None)
    if chosen is None:
        raise NotFound("task", name)
    view = task_view(chosen)
    options = dict.fromkeys(_OPTIONS, "")
    return TaskPage(view, fields_of(view["arguments"]), options, has_unique=chosen.options.unique is not None)


def _options(texts: Mapping[str, str]) -> EnqueueOptions:
    """The options of a call; what was left empty is as the task says."""
    options: dict[str, Any] = {name: text for name, text in texts.items() if text}
    if "priority" in options:
        options["priority"] = _whole_number(options["priority"])
    return cast("EnqueueOptions", options)


def _whole_number(text: str) -> int:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > 4:  # noqa: PLR2004 - more than any priority has
        raise InvalidValue("priority", text[:40], "is no whole number from -100 to 100")
    return int(text)


def _again(page: TaskPage) -> FormAgain:
    return FormAgain(TEMPLATE, "Run a task", page)
