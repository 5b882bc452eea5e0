"""HTTP with manners: limits, a guard, a gate and a cache before every request."""

from haulwright.sources.http.cache_store import CacheEntry, CacheStore, NoCacheStore, RenewingStore
from haulwright.sources.http.classify import (
    Blocked,
    NotSent,
    OutcomeUnknown,
    Rejected,
    ServerFailed,
    TooLarge,
    Undecodable,
)
from haulwright.sources.http.client import Http, RequestOptions, StreamOptions
from haulwright.sources.http.gate import OPEN, Gate, Grant, Verdict
from haulwright.sources.http.limits import Limits
from haulwright.sources.http.policy import Policy
from haulwright.sources.http.reply import Reply, Stream
from haulwright.sources.http.secret import Credential, Secret

__all__ = [
    "OPEN",
    "Blocked",
    "CacheEntry",
    "CacheStore",
    "Credential",
    "Gate",
    "Grant",
    "Http",
    "Limits",
    "NoCacheStore",
    "NotSent",
    "OutcomeUnknown",
    "Policy",
    "Rejected",
    "RenewingStore",
    "Reply",
    "RequestOptions",
    "Secret",
    "ServerFailed",
    "Stream",
    "StreamOptions",
    "TooLarge",
    "Undecodable",
    "Verdict",
]
