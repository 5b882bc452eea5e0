"""Credentials: who asks Airbyte. The database has their names; the secrets are in the environment of the worker."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from haulwright.apps.syncs.settings import AirbyteSettings
from haulwright.errors import InvalidValue
from haulwright.settings import Settings
from haulwright.sources.http import Secret

SHARED: Final = "shared"
"""The credential of the installation, with which the syncs of all tenants run that have none of their own."""
_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Credentials:
    """A token that somebody else renews, or a client that fetches its tokens itself."""

    name: str
    secret: Secret
    client_id: str | None = None
    """None where the secret is the token itself."""

    @property
    def is_shared(self) -> bool:
        """Whether more than one tenant depends on it."""
        return self.name == SHARED


Vault = Callable[[str], Credentials | None]
"""Finds the credential of a name; None where there is none."""


def check_credential(name: str) -> str:
    """The name of a credential, in a form that the environment can carry."""
    if not _NAME.fullmatch(name):
        hint = "Use lower-case letters, digits and hyphens, at most 40."
        raise InvalidValue("credential", name, "is no name of a credential", hint=hint)
    return name


def from_environment(name: str, environ: Mapping[str, str] | None = None) -> Credentials | None:
    """The credential that the settings name, or one of a tenant's own: `AIRBYTE_API_TOKEN_ACME` and its siblings."""
    if name == SHARED:
        airbyte = AirbyteSettings.load(Settings.load(environ))
        return _credentials(name, airbyte.client_id, airbyte.client_secret, airbyte.api_token)
    environ = os.environ if environ is None else environ
    suffix = check_credential(name).upper().replace("-", "_")
    parts = ("CLIENT_ID", "CLIENT_SECRET", "API_TOKEN")
    return _credentials(name, *(environ.get(f"AIRBYTE_{part}_{suffix}") for part in parts))


def _credentials(name: str, client_id: str | None, client_secret: str | None, token: str | None) -> Credentials | None:
    """A client with its secret comes before a token, which nobody renews."""
    if client_id and client_secret:
        return Credentials(name, Secret(client_secret), client_id)
    return Credentials(name, Secret(token)) if token else None
