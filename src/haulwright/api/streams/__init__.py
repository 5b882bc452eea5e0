"""Events as they happen, as server-sent events: one follower a process, and a place of its own for every client."""
