"""The harness: tasks tested through the real engine, on a database and a clock of the test's own."""
