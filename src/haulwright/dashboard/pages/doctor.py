"""Doctor: is all well here, from the machine up to the work, what to type where it is not; and every setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from haulwright.dashboard.kit.call import PageCall
from haulwright.dashboard.kit.navigation import Nav
from haulwright.dashboard.kit.pages import PageRoutes
from haulwright.operations.views.health import FindingView, SettingView, findings_view, settings_view
from haulwright.settings import Settings

pages = PageRoutes("doctor")

_WORST_FIRST: Final = ("problem", "warn", "ok")


@dataclass(frozen=True, slots=True)
class DoctorPage:
    """What was found, what does not work first."""

    findings: list[FindingView]
    problems: int
    warnings: int


@dataclass(frozen=True, slots=True)
class SettingsPage:
    """Every setting with its value and origin. Secrets are not shown."""

    settings: list[SettingView]


@pages.get("/doctor", "doctor.html", "Doctor", verb="health.read", nav=Nav("Doctor", key="d"))
def doctor(call: PageCall) -> DoctorPage:
    """Look at everything once. Nothing is changed."""
    view = findings_view(call.operations.health.examine(Settings.load()))
    findings = sorted(view["findings"], key=lambda finding: _WORST_FIRST.index(finding["level"]))
    warnings = sum(finding["level"] == "warn" for finding in findings)
    return DoctorPage(findings, view["problems"], warnings)


@pages.get("/settings", "settings.html", "Settings", verb="settings.read")
def settings(call: PageCall) -> SettingsPage:
    """Every setting of this process: its value, and where the value came from."""
    return SettingsPage(settings_view(call.operations.health.settings(Settings.load()))["settings"])
