"""The outside, on loopback: a stand-in for what the applications read, with its own books and scripted faults.

It imports nothing of the rest and needs nothing but the standard library.
"""

from __future__ import annotations

from haulwright.sandbox.books import BookEntry, Books, ChargedRun, ModelCall
from haulwright.sandbox.clock import SandboxClock
from haulwright.sandbox.faults import Fault, FaultScript
from haulwright.sandbox.sandbox import Sandbox

__all__ = ["BookEntry", "Books", "ChargedRun", "Fault", "FaultScript", "ModelCall", "Sandbox", "SandboxClock"]
