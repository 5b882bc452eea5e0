"""The task `brands.abort`: a run that nobody waits for any more is stopped, so that it costs no more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from haulwright.errors import RunError

if TYPE_CHECKING:
    from haulwright.apps.brands.buying.account import ApifyAccount

GONE: Final = "GONE"
NOT_FOUND: Final = 404


class AbortTask:
    """Stops runs at Apify."""

    def __init__(self, account: ApifyAccount) -> None:
        self._account = account

    async def abort(self, actor_run_id: str) -> str:
        """Stop a run, and say how it stands then; one that is not there is stopped enough."""
        async with self._account.open() as apify:
            try:
                return (await apify.aabort(actor_run_id)).status
            except RunError as error:
                if getattr(error, "status_code", None) == NOT_FOUND:
                    return GONE
                raise
