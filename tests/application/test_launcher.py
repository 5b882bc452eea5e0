"""`python -m` of an application's package is a worker for it alone: it logs, and takes the options of any worker."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from haulwright.discovery import installed_applications

SPECS = installed_applications().specs


@pytest.mark.parametrize("name", SPECS)
def test_each_application_has_a_worker_that_logs_and_takes_the_usual_options(name, sqlite_url, tmp_path):
    words = [sys.executable, "-m", SPECS[name].package, "--until-empty", "--database", sqlite_url, "--name", "w"]
    kept = {key: value for key, value in os.environ.items() if not key.startswith("HAULWRIGHT_")}
    environment = {**kept, "HAULWRIGHT_DOCUMENTS_FOLDER": str(tmp_path / "content")}
    worker = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)

    assert worker.returncode == 0, worker.stderr
    assert "worker started" in worker.stderr
    assert "worker stopped" in worker.stderr
    assert f"queues={','.join(SPECS[name].served_queues)} " in worker.stderr
