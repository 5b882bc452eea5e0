"""Who asks. A tenant sees its own rows; support names its target and its reason; an admin sees all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from haulwright.engine.names import check_name, check_tenant
from haulwright.errors import Forbidden, Refused

Role = Literal["tenant", "support", "admin", "system", "monitor"]


class TenantRequired(Refused):
    """The principal acts for no tenant, and every row has one owner."""

    def __init__(self, actor: str) -> None:
        hint = "Name it: principal.for_tenant('acme')"
        super().__init__(f"{actor} acts for no tenant, and this needs one.", hint=hint)


@dataclass(frozen=True, slots=True)
class Principal:
    """The one on whose behalf something is done."""

    kind: Role
    name: str
    tenant: str | None
    """The tenant whose rows it may see; None is every tenant."""
    reason: str = ""

    @classmethod
    def of_tenant(cls, tenant: str, name: str = "") -> Principal:
        """A tenant, known from a verified token and from nowhere else."""
        return cls("tenant", name or tenant, check_tenant(tenant))

    @classmethod
    def support(cls, name: str, *, tenant: str, reason: str) -> Principal:
        """Support staff, who say whose rows they touch and why."""
        if not reason.strip():
            message = "Support acts for a tenant only with a reason."
            raise Refused(message, hint="Give the ticket or a sentence; it is recorded.")
        return cls("support", check_name("principal", name), check_tenant(tenant), reason)

    @classmethod
    def admin(cls, name: str, reason: str = "") -> Principal:
        """Somebody who runs the installation."""
        return cls("admin", check_name("principal", name), None, reason)

    @classmethod
    def monitor(cls, name: str) -> Principal:
        """A program that watches the installation: it sees figures of all tenants, and no job."""
        return cls("monitor", check_name("principal", name), None)

    @classmethod
    def system(cls, name: str = "worker", *, tenant: str | None = None) -> Principal:
        """The installation itself: a worker that acts for the tenant of its job."""
        return cls("system", name, tenant)

    def for_tenant(self, tenant: str) -> Principal:
        """The same within the rows of one tenant. Who is bound to one already may name no other."""
        if self.tenant is not None and self.tenant != tenant:
            message = f"A {self.kind} of {self.tenant} may not act for another tenant."
            raise Forbidden(message, hint="Ask somebody who runs the installation to do it.")
        return replace(self, tenant=check_tenant(tenant))

    @property
    def acting_tenant(self) -> str:
        """The tenant whose rows are written. Refused where none is named: every row has one owner."""
        if self.tenant is None:
            raise TenantRequired(self.actor)
        return self.tenant

    @property
    def actor(self) -> str:
        """How events name it."""
        return f"{self.kind}:{self.name}"
