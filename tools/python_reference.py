"""Writes the reference of the Python API: every name of the menu, every option, from the docstrings.

python tools/python_reference.py           write it
python tools/python_reference.py --check   exit 1 if it is not current
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import haulwright
from haulwright.client.app import Haulwright
from haulwright.client.task import Task
from haulwright.client.task_options import TaskKeywords
from haulwright.engine.retry import Retry
from haulwright.engine.schedule import ScheduleSpec
from haulwright.runtime.options import WorkerOptions
from haulwright.sources.source import WebOptions

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "python.md"
USING = re.compile(r"^ *(\w+): (.+)$", re.MULTILINE)
STARS: Mapping[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
SHOWN_FIRST = ("Haulwright", "Task", "Handle", "Context", "Tx", "Source")
INSIDE = frozenset(
    {
        "add_tables", "declare_schedules", "declare_sources", "enqueue_at_start", "existing_store", "find_address",
        "note_enqueued", "open_for_held_jobs", "store_on", "address", "require_endable", "store", "tables",
        "lease_lengths", "values",
    }
)  # fmt: skip
"""Public to the rest of the package, not to users."""
WORDS_OF_SPEC = {"misfire_grace_seconds": "misfire_grace", "max_runtime_seconds": "max_runtime"}
SCHEDULE_OPTIONS = ("tz", "coalesce", "misfire_grace", "overlap", "max_runtime", "attempts", "tenant")


def page() -> str:
    """The whole page."""
    lines = [
        "# The Python API",
        "",
        "`from haulwright import ...`: these names, and nothing else, are promised. A length of time is a number of",
        'seconds, a `timedelta`, or words such as `"30 s"`, `"2 min"`, `"24 h"`. What makes no sense is refused',
        "when it is written, before a job depends on it. Names with an `a` in front are for the event loop: the same,",
        "awaited.",
        "",
        *_options("app.task(...)", "Written bare, `@app.task`, or with options:", _field_docs(TaskKeywords)),
        *_options("Retry(...)", _doc(Retry), _field_docs(Retry)),
        *_options("task.using(...)", _doc(Task.using), dict(USING.findall(inspect.getdoc(Task.using) or ""))),
        *_options("app.schedule(name, cron, task, args=...)", _doc(Haulwright.schedule), _schedule_options()),
        *_options("app.run_worker(...)", _doc(Haulwright.run_worker), _worker_options()),
        *_options(
            "app.source(name, ...)",
            f"{_doc(Haulwright.source)} Its limits are in [sources](sources.md); how it is spoken to:",
            _web_options(),
        ),
    ]
    names = [name for name in haulwright.__all__ if not name.startswith("__") and name not in SHOWN_FIRST]
    for name in (*SHOWN_FIRST, *names):
        lines += _class_section(name, getattr(haulwright, name))
    return "\n".join(lines).rstrip() + "\n"


def _options(title: str, sentence: str, options: Mapping[str, str]) -> Iterator[str]:
    yield from (f"## `{title}`", "", sentence, "", "| option | meaning |", "|---|---|")
    yield from (f"| `{name}` | {_cell(text)} |" for name, text in options.items())
    yield ""


def _web_options() -> dict[str, str]:
    plain = {
        "headers": "Sent with every request.",
        "limits": "Time-outs, sizes and redirects: [the HTTP client](http.md).",
        "policy": "Which schemes and addresses may be asked: public ones, unless it says otherwise.",
    }
    return {name: text or plain[name] for name, text in _field_docs(WebOptions).items()}


def _schedule_options() -> dict[str, str]:
    docs = {WORDS_OF_SPEC.get(name, name): text for name, text in _field_docs(ScheduleSpec).items()}
    plain = {
        "tz": "The time zone in whose time the cron line is read: `UTC`.",
        "overlap": "`skip` leaves out a slot while the job of the one before is active; `allow` does not.",
        "max_runtime": "How long each run may take, as `timeout` of a task.",
        "attempts": "Attempts of each job, where they are not those of the task.",
        "tenant": "Whose jobs they are.",
    }
    return {name: docs.get(name) or plain[name] for name in SCHEDULE_OPTIONS}


def _worker_options() -> dict[str, str]:
    plain = {
        "queues": "The queues to serve, the first first.",
        "concurrency": "Runs at once.",
        "poll_interval": "The longest sleep while idle, in seconds.",
        "grace": "Seconds that runs get to finish when it is told to stop.",
        "name": "The name to go by; nothing is decided by it.",
        "schedules": "Whether it opens the slots of schedules.",
        "signals": "Whether SIGTERM and SIGINT drain it.",
        "settings": "Settings that stand in for those of the environment.",
    }
    names = [*WorkerOptions.__dataclass_fields__, "signals", "settings"]
    docs = _field_docs(WorkerOptions)
    return {name: docs.get(name) or plain[name] for name in names}


def _class_section(name: str, kind: type) -> Iterator[str]:
    yield from (f"## `{name}`", "", _doc(kind), "")
    fields = {field: text for field, text in _field_docs(kind).items() if not field.startswith("_")}
    rows = [f"| `{field}` | {_cell(text)} |" for field, text in fields.items() if text and kind is not Retry]
    for member, value in vars(kind).items():
        if member.startswith("_") or member in INSIDE:
            continue
        if isinstance(value, property | classmethod | staticmethod) or inspect.isfunction(value):
            rows.append(f"| `{_spelt(member, value)}` | {_cell(_doc(value))} |")
    if rows:
        yield from ("| member | meaning |", "|---|---|", *rows, "")


def _spelt(name: str, value: Any) -> str:
    """A member as it is written: a property as it is, a function with its parameters."""
    if isinstance(value, property):
        return name
    function: Callable[..., Any] = getattr(value, "__func__", value)
    shown = []
    for parameter in list(inspect.signature(function).parameters.values()):
        if parameter.name in {"self", "cls"}:
            continue
        star = STARS.get(parameter.kind, "")
        shown.append(f"{star}{parameter.name}" + ("" if parameter.default is parameter.empty else "="))
    return f"{name}({', '.join(shown)})"


def _field_docs(kind: type) -> dict[str, str]:
    """The annotated fields of a class with the text that stands below each."""
    tree = ast.parse(inspect.getsource(kind).lstrip())
    (body,) = [node.body for node in tree.body if isinstance(node, ast.ClassDef)]
    docs: dict[str, str] = {}
    for number, node in enumerate(body):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            below = body[number + 1] if number + 1 < len(body) else None
            text = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else ""
            if not ast.unparse(node).endswith("init=False, repr=False)"):
                docs[node.target.id] = str(text)
    return docs


def _doc(thing: Any) -> str:
    """The first paragraph of a docstring."""
    return " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def main(arguments: list[str]) -> int:
    """Write the page, or say that it is not current."""
    text = page()
    if "--check" not in arguments:
        PAGE.write_text(text, "utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text("utf-8") == text:
        return 0
    print("Not current: python.md. Run: python tools/python_reference.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
