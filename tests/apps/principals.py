"""Who asks in the tests of applications."""

from __future__ import annotations

from haulwright import Principal

ACME = Principal.of_tenant("acme")
GLOBEX = Principal.of_tenant("globex")
SYSTEM = Principal.system()
ADMIN = Principal.admin("root")
SUPPORT = Principal.support("sam", tenant="acme", reason="ticket 7")
