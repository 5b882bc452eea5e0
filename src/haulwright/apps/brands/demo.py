"""A brand with six sources: six paid runs, one for each, although a reply is lost and a worker dies."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Final

from haulwright.application.scenario import Act, Check, Reached
from haulwright.apps.brands.application import Brands
from haulwright.sandbox import Sandbox

SOURCES: Final = (
    ("instagram", "posts", "harbourcoffee"),
    ("instagram", "reels", "harbourcoffee"),
    ("tiktok", "profile_videos", "harbourcoffee"),
    ("linkedin", "company_posts", "harbourcoffee"),
    ("youtube", "channel_videos", "harbourcoffee"),
    ("web", "pages", "https://harbour-coffee.example/"),
)
RUN_SECONDS: Final = 3


class BrandsAct(Act):
    """One compile."""

    name: ClassVar[str] = "brands"
    promise: ClassVar[str] = "a brand is compiled from six paid runs; the reply of one start is lost"

    @staticmethod
    def environment(sandbox: Sandbox, folder: Path) -> Mapping[str, str]:  # noqa: ARG004 - as the class above says
        """Polite figures are for other people's servers: here nobody has a minute to wait."""
        return {
            "APIFY_BASE_URL": f"{sandbox.url}/apify",
            "APIFY_TOKEN": "demo",
            "HAULWRIGHT_BRANDS_POLL_INTERVAL_SECONDS": "0.5",
            "HAULWRIGHT_BRANDS_LAG_SECONDS": "1",
        }

    def begin(self) -> None:
        """Ask for the compile."""
        sandbox, principal = self.world.sandbox, self.world.principal
        sandbox.apify.script(times=100, duration_seconds=RUN_SECONDS)
        sandbox.faults.add("lost_reply", path="/apify/v2/act*/runs", method="POST", skip=2)
        self._brands = Brands.on(self.world.app)
        self._brand = self._brands.add(principal, "Harbour Coffee", {"mission": "Coffee that is worth the walk."})
        for source in SOURCES:
            self._brands.connect(principal, self._brand.id, *source)
        self._run = self._brands.compile(principal, self._brand.id)

    def look(self) -> Reached:
        """Sources that are read, and the compile itself."""
        status = self._brands.status(self.world.principal, self._run.id)
        read = sum(source.outcome is not None for source in status.sources)
        return Reached(read + status.run.is_over, len(SOURCES) + 1)

    def checks(self) -> list[Check]:
        """One paid run for each source, and a snapshot whose statements name what they rest on."""
        run = self._brands.status(self.world.principal, self._run.id).run
        paid = self.world.sandbox.books.paid_runs()
        spent = sum(paid_run.cost for paid_run in paid)
        once = len({paid_run.actor for paid_run in paid}) == len(paid) == len(SOURCES)
        succeeded = run.status == "succeeded"
        founded = self._statements() if succeeded else []
        return [
            Check("brands: paid runs for six sources", f"{len(paid)}, {spent:.2f} USD", once),
            Check("brands: the compile", run.status, succeeded),
            Check("brands: statements, each with its evidence", str(len(founded)), bool(founded) and all(founded)),
        ]

    def _statements(self) -> list[bool]:
        """Each statement of the snapshot: whether it names what it rests on."""
        document = self._brands.snapshot(self.world.principal, self._brand.id)
        statements = [statement for section in document["sections"].values() for statement in section]
        return [bool(statement["evidence"] or statement["answers"]) for statement in statements]

    def commands(self) -> list[str]:
        """The snapshot, and what a second compile would buy."""
        brand = f"{self._brand.id} --tenant {self.world.tenant}"
        return [f"brand show {brand}", f"brand compile {brand} --plan"]


ACT: Final = BrandsAct
