"""The parts of the proof of prices."""
