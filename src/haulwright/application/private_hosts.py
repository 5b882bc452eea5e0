"""Addresses that tenants give: refused when they are given, where they can be seen to lead into the own network.

What a name leads to is judged at every request, by the guard of the client.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from haulwright.errors import InvalidValue
from haulwright.sources.http import Policy
from haulwright.sources.http.classify import Blocked
from haulwright.sources.http.ssrf_guard import Guard


def policy_of(private_hosts: str) -> Policy:
    """Public addresses, and the hosts and networks that a setting names, comma separated."""
    return Policy.for_hosts(private_hosts)


def require_public(url: str, policy: Policy, setting: str) -> None:
    """Refuse an address whose host is no public one by its looks, unless the policy, made of a setting, allows it."""
    host = urlsplit(url).hostname or ""
    try:
        Guard(policy).check_literal(host)
    except Blocked:
        hint = f"Where that is meant, set {setting}={host} for the workers and here."
        raise InvalidValue("host", host, "is an address that is not public", hint=hint) from None
