"""The outside, on loopback: a stand-in for what the applications read, with its own books and scripted faults.

It imports nothing of the rest and needs nothing but the standard library.
"""

from __future__ import annotations

from penstock.sandbox.books import Books, Entry, ModelCall, PaidRun
from penstock.sandbox.clock import Clock
from penstock.sandbox.faults import Fault, Faults
from penstock.sandbox.sandbox import Sandbox

__all__ = ["Books", "Clock", "Entry", "Fault", "Faults", "ModelCall", "PaidRun", "Sandbox"]
