"""The hand that gives work out: the app, its tasks, and what a running task may do."""
