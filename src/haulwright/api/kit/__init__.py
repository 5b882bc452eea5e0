"""What every route stands on: who calls, problems, cursors, and how an endpoint is run."""
