"""Sources under a fleet: real workers before one gate, an outside world that notes everything, and what both say."""
