"""What application code holds: the app, its tasks and their handles, and the context of a running task."""
