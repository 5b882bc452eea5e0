"""What a call can fail with on the network. `classify` has the words for each, by its name."""

from __future__ import annotations

from typing import Final


class NetworkError(Exception):
    """The network, or the other side of it."""


class ConnectError(NetworkError):
    """No connection came about."""


class ConnectTimeout(NetworkError):
    """It took too long."""


class PoolTimeout(NetworkError):
    """All connections were in use for too long."""


class ReadError(NetworkError):
    """The connection broke."""


class ReadTimeout(NetworkError):
    """Nothing came for too long."""


class WriteTimeout(NetworkError):
    """Nothing could be sent for too long."""


class RemoteProtocolError(NetworkError):
    """What came is no HTTP, or not all of it."""


class ProxyError(NetworkError):
    """The proxy refused."""


FAILURES: Final = (NetworkError, OSError)
"""All of them: what `Exchange` makes errors of ours of."""
