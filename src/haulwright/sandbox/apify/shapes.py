"""Runs and datasets as Apify writes them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from haulwright.sandbox.apify.runs import SandboxRun
from haulwright.sandbox.chance import identifier

MESSAGES = {
    "READY": "Waiting for a free machine.",
    "RUNNING": "Scraping.",
    "ABORTING": "Aborting.",
    "SUCCEEDED": "Finished! All inputs were processed.",
    "FAILED": "The Actor process failed with an exit code of 1.",
    "TIMED-OUT": "The Actor run has reached its timeout.",
    "ABORTED": "The Actor run was aborted.",
}


def iso(instant: float) -> str:
    """A moment in milliseconds and UTC."""
    moment = datetime.fromtimestamp(instant, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"


def storage_id(run: str, kind: str) -> str:
    """The id of a storage of a run."""
    return identifier(0, run, kind)


def short(run: SandboxRun, now: float, *, with_usage: bool = True) -> dict[str, Any]:
    """A run in a list."""
    status = run.status(now)
    document = {
        "id": run.id,
        "actId": identifier(0, run.actor.name),
        "userId": run.user,
        "actorTaskId": None,
        "startedAt": iso(run.started),
        "finishedAt": iso(run.finishes) if run.is_over(now) else None,
        "status": status,
        "meta": {"origin": "API"},
        "buildId": identifier(0, run.actor.name, "build"),
        "buildNumber": "1.4.2",
        "defaultKeyValueStoreId": storage_id(run.id, "store"),
        "defaultDatasetId": storage_id(run.id, "dataset"),
        "defaultRequestQueueId": storage_id(run.id, "queue"),
    }
    return document | {"usageTotalUsd": run.cost(now)} if with_usage else document


def full(run: SandboxRun, now: float, *, with_usage: bool = True) -> dict[str, Any]:
    """A run by itself."""
    status = run.status(now)
    seconds = max(0.0, min(now, run.finishes) - run.began)
    document: dict[str, Any] = {
        **short(run, now, with_usage=with_usage),
        "statusMessage": run.script.message if run.is_over(now) and run.script.message else MESSAGES[status],
        "isStatusMessageTerminal": run.is_over(now),
        "generalAccess": "FOLLOW_USER_SETTING",
        "exitCode": {"SUCCEEDED": 0, "FAILED": 1}.get(status),
        "containerUrl": f"https://{run.id.lower()}.runs.example",
        "stats": _stats(run, seconds),
        "options": _options(run),
    }
    if with_usage:
        document["usage"] = {"ACTOR_COMPUTE_UNITS": document["stats"]["computeUnits"]}
        document["usageUsd"] = {"ACTOR_COMPUTE_UNITS": round(document["stats"]["computeUnits"] * 0.3, 6)}
    return document


def dataset(run: SandboxRun, now: float) -> dict[str, Any]:
    """The dataset of a run."""
    visible = run.items[: run.visible_items(now)]
    return {
        "id": storage_id(run.id, "dataset"),
        "name": None,
        "userId": run.user,
        "createdAt": iso(run.started),
        "modifiedAt": iso(min(now, run.finishes)),
        "accessedAt": iso(now),
        "itemCount": len(visible),
        "cleanItemCount": sum(1 for item in visible if item),
        "actId": identifier(0, run.actor.name),
        "actRunId": run.id,
        "fields": sorted({name for item in visible[:1] for name in item}),
        "consoleUrl": f"https://console.example/storage/datasets/{storage_id(run.id, 'dataset')}",
        "stats": {"readCount": 0, "writeCount": len(visible), "storageBytes": 0},
    }


def page(items: list[dict[str, Any]], *, total: int, offset: int, limit: int, desc: bool) -> dict[str, Any]:
    """A page of a list."""
    return {"total": total, "offset": offset, "limit": limit, "desc": desc, "count": len(items), "items": items}


def _stats(run: SandboxRun, seconds: float) -> dict[str, Any]:
    return {
        "inputBodyLen": len(run.input_body),
        "migrationCount": 0,
        "rebootCount": 0,
        "restartCount": 0,
        "resurrectCount": run.resurrections,
        "durationMillis": round(seconds * 1000),
        "runTimeSecs": round(seconds, 3),
        "metamorph": 0,
        "computeUnits": round(seconds / 3600 * run.memory / 1024, 6),
    }


def _options(run: SandboxRun) -> dict[str, Any]:
    limits = {"maxItems": run.max_items, "maxTotalChargeUsd": run.max_charge}
    return {
        "build": "latest",
        "timeoutSecs": int(run.timeout),
        "memoryMbytes": run.memory,
        "diskMbytes": run.memory * 2,
        **{name: value for name, value in limits.items() if value is not None},
    }
