"""HTTP with manners: limits, a guard, a gate and a cache before every request."""

from penstock.sources.http.classify import (
    Blocked,
    NotSent,
    OutcomeUnknown,
    Rejected,
    ServerFailed,
    TooLarge,
    Undecodable,
)
from penstock.sources.http.client import Http, Options, StreamOptions
from penstock.sources.http.gate import OPEN, Gate, Grant, Verdict
from penstock.sources.http.limits import Limits
from penstock.sources.http.policy import Policy
from penstock.sources.http.reply import Reply, Stream
from penstock.sources.http.secret import Credential, Secret
from penstock.sources.http.store import NoStore, Store, Stored

__all__ = [
    "OPEN",
    "Blocked",
    "Credential",
    "Gate",
    "Grant",
    "Http",
    "Limits",
    "NoStore",
    "NotSent",
    "Options",
    "OutcomeUnknown",
    "Policy",
    "Rejected",
    "Reply",
    "Secret",
    "ServerFailed",
    "Store",
    "Stored",
    "Stream",
    "StreamOptions",
    "TooLarge",
    "Undecodable",
    "Verdict",
]
