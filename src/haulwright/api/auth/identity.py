"""Who sent a request, as far as it is proven, and as whom that one acts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from haulwright.errors import Forbidden, Refused
from haulwright.operations.principal import Principal, Role

TENANT_HEADER: Final = b"haulwright-tenant"
REASON_HEADER: Final = b"haulwright-reason"


@dataclass(frozen=True, slots=True)
class CallerIdentity:
    """Somebody who is known: by a token that was verified, or by a session of this process."""

    name: str
    role: Role
    tenant: str | None = None
    """Whose rows it may see. A tenant has one; others name their target in each request, if their role needs one."""
    is_browser: bool = False
    """Known by a cookie, which a browser sends by itself: what changes something needs a sign that it was meant."""

    def principal(self, tenant: str | None = None, reason: str = "") -> Principal:
        """As whom it acts. A tenant that is named in the request counts for staff alone."""
        match self.role:
            case "tenant":
                if self.tenant is None:
                    raise Forbidden("The token names no tenant.", hint="Ask whoever issued it for one that does.")
                return Principal.of_tenant(self.tenant, self.name)
            case "support":
                if tenant is None:
                    hint = "Send the headers Haulwright-Tenant and Haulwright-Reason."
                    raise Refused("Support says for whom it acts, and why.", hint=hint)
                if self.tenant not in {None, tenant}:
                    raise Forbidden(f"This token acts for {self.tenant!r} alone.", hint="Use the token of that tenant.")
                return Principal.support(self.name, tenant=tenant, reason=reason)
            case _:
                principal = Principal(self.role, self.name, self.tenant, reason)
                return principal if tenant is None else principal.for_tenant(tenant)


class Authenticator(Protocol):
    """One way to know somebody."""

    async def identify(self, credential: str) -> CallerIdentity | None:
        """Who shows this bearer credential; None where it is of another kind. One that is not valid raises."""
