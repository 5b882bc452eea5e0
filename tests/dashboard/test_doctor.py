"""Doctor and settings: what is not well with what to type, and figures without their secrets."""

from __future__ import annotations

from haulwright.settings import Settings
from tests.support.dashboard import Person


def test_what_is_not_well_stands_first_with_what_to_type(served, admin):
    served.app.operations().jobs.enqueue("add", {"a": 1}, tenant="acme", queue="slow lane")

    page = admin.open("/ui/doctor")

    data = admin.open("/ui/doctor.json").answer.json()
    levels = [finding["level"] for finding in data["findings"]]
    assert levels == sorted(levels, key=["problem", "warn", "ok"].index)
    assert {"python", "database", "schema"} <= {finding["check"] for finding in data["findings"]}
    assert "slow lane" in page.text
    for finding in data["findings"]:
        assert finding["next_step"] == "" or finding["next_step"] in page.answer.text.replace("&#39;", "'").replace(
            "&#34;", '"'
        )


def test_settings_say_their_origin_and_no_secret(admin, monkeypatch):
    monkeypatch.setenv("HAULWRIGHT_DATABASE_URL", "postgresql://ann:hunter2secret@db.example/jobs")
    monkeypatch.setenv("HAULWRIGHT_CONCURRENCY", "7")

    page, data = admin.open("/ui/settings"), admin.open("/ui/settings.json")

    assert "hunter2secret" not in page.answer.text
    assert "hunter2secret" not in data.answer.text
    settings = {setting["name"]: setting for setting in data.answer.json()["settings"]}
    assert (settings["concurrency"]["value"], settings["concurrency"]["origin"]) == (7, "HAULWRIGHT_CONCURRENCY")
    assert settings.keys() == {figure.name for figure in Settings.figures()}
    assert settings["database_url"]["value"] == "postgresql://***@db.example/jobs"


def test_only_who_runs_the_installation_sees_it(served):
    for role, expected in (("tenant", (403, 403)), ("support", (403, 403)), ("monitor", (200, 403))):
        person = Person(served).log_in(role, None if role == "monitor" else "acme")
        assert tuple(person.open(path).answer.status_code for path in ("/ui/doctor", "/ui/settings")) == expected
        assert "Settings:" not in person.open("/ui/doctor").text
