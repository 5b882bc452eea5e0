"""Who asks. A tenant sees its own rows; support names its target and its reason; an admin sees all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from penstock.engine.task import check_name
from penstock.errors import Forbidden, Refused


@dataclass(frozen=True, slots=True)
class Principal:
    """The one on whose behalf something is done."""

    kind: Literal["tenant", "support", "admin", "system"]
    name: str
    tenant: str | None
    """The tenant whose rows it may see; None is every tenant."""
    reason: str = ""

    @classmethod
    def of_tenant(cls, tenant: str, name: str = "") -> Principal:
        """A tenant, known from a verified token and from nowhere else."""
        return cls("tenant", name or tenant, check_name("tenant", tenant))

    @classmethod
    def support(cls, name: str, *, tenant: str, reason: str) -> Principal:
        """Support staff, who say whose rows they touch and why."""
        if not reason.strip():
            message = "Support acts for a tenant only with a reason."
            raise Refused(message, hint="Give the ticket or a sentence; it is recorded.")
        return cls("support", check_name("principal", name), check_name("tenant", tenant), reason)

    @classmethod
    def admin(cls, name: str, reason: str = "") -> Principal:
        """Somebody who runs the installation."""
        return cls("admin", check_name("principal", name), None, reason)

    @property
    def actor(self) -> str:
        """How events name it."""
        return f"{self.kind}:{self.name}"

    def require(self, verb: str, *kinds: str) -> None:
        """Refuse a verb to those who are not of these kinds."""
        if self.kind not in kinds:
            message = f"A {self.kind} may not {verb}; it takes {' or '.join(kinds)}."
            raise Forbidden(message, hint="Ask support to do it.")
