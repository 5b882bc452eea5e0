"""The last one out closes the door: connections do not outlive the event loop that they belong to."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from haulwright.sources.http import Http


class SharedClient:
    """Counts who is inside on each event loop. A worker has one loop, a test or a command may have many."""

    def __init__(self, http: Http) -> None:
        self._http = http
        self._inside: Counter[asyncio.AbstractEventLoop] = Counter()

    @asynccontextmanager
    async def enter(self) -> AsyncIterator[Http]:
        """The client, whose connections on this loop are closed when nobody is inside any more."""
        loop = asyncio.get_running_loop()
        self._inside[loop] += 1
        try:
            yield self._http
        finally:
            self._inside[loop] -= 1
            if not self._inside[loop]:
                del self._inside[loop]
                await self._http.aclose()
