"""The parts of the proof of brands."""
