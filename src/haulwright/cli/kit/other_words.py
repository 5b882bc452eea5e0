"""What people type who come from other tools, and what it is here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

COMMANDS: Final[Mapping[str, str]] = {
    "enqueue": "run", "call": "run", "send": "run", "start": "worker", "consumer": "worker", "beat": "worker",
    "scheduler": "worker", "status": "doctor", "check": "doctor", "info": "doctor", "report": "doctor",
    "help": "--help", "version": "--version", "inspect": "job list", "purge": "job cancel", "control": "queue",
    "flower": "top", "monitor": "top", "stats": "top", "web": "serve", "server": "serve", "api": "serve",
    "result": "job show", "logs": "event tail", "cron": "schedule list", "ps": "workers",
}  # fmt: skip
"""Commands of Celery, RQ, Dramatiq and others. A worker opens the slots of schedules: there is no beat beside it."""

OPTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "-Q": ("--queues",), "-q": ("--queues", "--queue"), "--queue": ("--queues",), "-c": ("--concurrency",),
    "-t": ("--concurrency",), "--threads": ("--concurrency",), "-w": ("--processes",), "--workers": ("--processes",),
    "-p": ("--processes", "--port"), "-l": ("--verbose", "--limit"), "--loglevel": ("--verbose",),
    "--log-level": ("--verbose",), "-n": ("--name", "--limit"), "--hostname": ("--name",),
    "--burst": ("--until-empty",), "-b": ("--until-empty",), "--max-tasks": ("--max-jobs",), "--eta": ("--delay",),
    "--countdown": ("--delay",), "-u": ("--database",), "--url": ("--database",), "--broker": ("--database",),
    "--status": ("--state",),
}  # fmt: skip
"""Their options; the first that a command has is meant."""
