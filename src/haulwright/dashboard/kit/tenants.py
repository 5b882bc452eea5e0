"""For whom a page of an application is: for the tenant of the caller, or for the one that its address names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from haulwright.dashboard.kit.call import PageCall
    from haulwright.dashboard.kit.forms import Form
    from haulwright.operations.principal import Principal

TENANT: Final = "tenant"
"""The word of a query with which staff who see all tenants look at one of them."""


def page_principal(call: PageCall) -> Principal:
    """On whose behalf a page is read. Who is bound to one tenant is refused another, whether or not there is such."""
    name = call.query.get(TENANT, "").strip()
    return call.principal.for_tenant(name) if name else call.principal


def acting_principal(call: PageCall, form: Form) -> Principal:
    """On whose behalf a form is sent: the same, with the reason that the form gives."""
    principal = page_principal(call)
    reason = form.text("reason")
    return replace(principal, reason=reason) if reason else principal
