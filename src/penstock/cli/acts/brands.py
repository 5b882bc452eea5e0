"""A brand with six sources: six paid runs, one for each, although a reply is lost and a worker dies."""

from __future__ import annotations

from typing import ClassVar, Final

from penstock.apps.brands.application import Brands
from penstock.cli.acts.act import Act, Check, Reached

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

    def begin(self) -> None:
        """Ask for the compile."""
        sandbox, tenant = self.world.sandbox, self.world.tenant
        sandbox.apify.script(times=100, duration_seconds=RUN_SECONDS)
        sandbox.faults.add("lost_reply", path="/apify/v2/act*/runs", method="POST", skip=2)
        self._brands = Brands.on(self.world.app)
        self._brand = self._brands.add(tenant, "Harbour Coffee", {"mission": "Coffee that is worth the walk."})
        for source in SOURCES:
            self._brands.connect(tenant, self._brand.id, *source)
        self._run = self._brands.compile(tenant, self._brand.id)

    def look(self) -> Reached:
        """Sources that are read, and the compile itself."""
        told = self._brands.status(self.world.tenant, self._run.id)
        read = sum(source.outcome is not None for source in told.sources)
        return Reached(read + told.run.is_over, len(SOURCES) + 1)

    def checks(self) -> list[Check]:
        """One paid run for each source, and a snapshot whose statements name what they rest on."""
        told = self._brands.status(self.world.tenant, self._run.id)
        paid = self.world.sandbox.books.paid_runs()
        spent = sum(run.cost for run in paid)
        once = len({run.actor for run in paid}) == len(paid) == len(SOURCES)
        made = told.run.status == "succeeded"
        said = self._statements() if made else []
        return [
            Check("brands: paid runs for six sources", f"{len(paid)}, {spent:.2f} USD", once),
            Check("brands: the compile", told.run.status, made),
            Check("brands: statements, each with its evidence", str(len(said)), bool(said) and all(said)),
        ]

    def _statements(self) -> list[bool]:
        """Each statement of the snapshot: whether it names what it rests on."""
        document = self._brands.snapshot(self.world.tenant, self._brand.id)
        said = [statement for section in document["sections"].values() for statement in section]
        return [bool(statement["evidence"] or statement["answers"]) for statement in said]

    def commands(self) -> list[str]:
        """The snapshot, and what a second compile would buy."""
        brand = f"{self._brand.id} --tenant {self.world.tenant}"
        return [f"brand show {brand}", f"brand compile {brand} --plan"]
