"""What the pages say to type works as it stands: the program of the README, those of the guides, and the tutorial."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import textwrap
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from haulwright.sandbox import Sandbox

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
GUIDES = ("run-on-a-schedule", "unique-keys", "async-tasks", "log-from-tasks")
BASH = shutil.which("bash") or "/bin/bash"
PAGE = b"<html><head><title>Example Domain</title></head></html>"


def blocks(page: str, language: str) -> list[str]:
    """The blocks of a page in a language."""
    return [text for kind, text in BLOCK.findall((ROOT / page).read_text("utf-8")) if kind == language]


def environment(**more: str) -> dict[str, str]:
    """That of a newcomer: nothing of ours is set, and the commands of the running environment are on the path."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HAULWRIGHT_", "DATABASE_URL"))}
    return {**kept, "PATH": f"{sysconfig.get_path('scripts')}:{os.environ['PATH']}", **more}


def shell(script: str, folder: Path, **more: str) -> str:
    """What a plain shell answers; it ends at the first command that fails."""
    done = subprocess.run(
        [BASH, "-eu", "-c", script], cwd=folder, env=environment(**more), capture_output=True, text=True,
        timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class ExamplePage(BaseHTTPRequestHandler):
    """Answers every address with one page."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def example() -> Iterator[str]:
    """The address of a server that stands for https://example.com."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), ExamplePage)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.timeout(300)
def test_the_program_of_the_readme_runs_when_it_is_pasted(tmp_path, example):
    """Only its server is another one: the tests ask nobody outside."""
    (program,) = blocks("README.md", "python")
    program = program.replace("https://example.com", example)
    (tmp_path / "shop.py").write_text(
        program.replace('app.source("example.com",', 'app.source("example.com", private=True,')
    )
    (commands,) = [text for text in blocks("README.md", "console") if "python shop.py" in text]

    told = shell(commands, tmp_path)

    assert re.search(r"<Handle [0-9a-f-]{36} created>", told)
    assert re.search(r"state +succeeded", told)
    assert re.search(r"result +Example Domain", told)
    assert re.search(r"example\.com +ok +30/min", told)
    assert "hourly titles" in told


@pytest.mark.parametrize("guide", GUIDES)
def test_the_program_of_a_guide_runs(tmp_path, guide):
    (program,) = blocks(f"docs/how-to/{guide}.md", "python")
    (tmp_path / "program.py").write_text(program)

    shell("python program.py && haulwright worker -A program:app --until-empty", tmp_path)


@pytest.mark.parametrize("page", sorted(ROOT.glob("docs/**/*.md")), ids=lambda page: page.stem)
def test_every_program_of_the_pages_is_python(page):
    for text in blocks(str(page.relative_to(ROOT)), "python"):
        compile(textwrap.dedent(text), str(page), "exec", flags=0x2000)  # await may stand alone


APPLICATIONS = {
    "brief": ("3 feeds, 3 read", r"\d+ articles were placed", "The brief of .* is published", r"# Brief of \d"),
    "documents": (
        "2 planned, 0 known, 0 repeated, 1 refused",
        r"INDEXED +3",
        "report.pdf: 876 bytes",
        "3 files, 0 of them",
    ),
    "prices": (r"worth +[\d.]+ GBP", r"crown\n", r"succeeded +0 +13"),
    "syncs": ("acme is on the plan growth now", r"shop +(queued|running)", "Syncs by state"),
}
"""What the first section of an application's page promises who types it."""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("application", APPLICATIONS)
def test_the_first_minutes_of_an_application_work_when_they_are_typed(tmp_path, application):
    """Only the port of the sandbox is another one; a worker that the page leaves running ends when nothing is due."""
    text = (ROOT / "docs" / "applications" / f"{application}.md").read_text("utf-8")
    section = text.partition("\n## ")[2].partition("\n## ")[0]
    typed = "\n".join(commands for kind, commands in BLOCK.findall(section) if kind == "console")
    typed = re.sub("^haulwright sandbox .*&$", "", typed, flags=re.MULTILINE)
    typed = re.sub("^(haulwright worker (?!.*--until-empty).*)$", r"\1 --until-empty", typed, flags=re.MULTILINE)
    with Sandbox() as sandbox:
        told = shell(typed.replace("http://127.0.0.1:8765", sandbox.url), tmp_path)

    for words in APPLICATIONS[application]:
        assert re.search(words, told), told


PIP = """
pip() { cp -r "$PIP_STANDS_FOR/." "$VIRTUAL_ENV/"; }
python3() { command python3 "$1" "$2" --without-pip "$3"; }
"""
"""No network here: what is installed is a link to the packages of the running environment."""


@pytest.fixture
def installed(tmp_path):
    """The files that an installation adds to a virtual environment."""
    folder = tmp_path / "installed"
    packages = folder / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    packages.mkdir(parents=True)
    (packages / "tree.pth").write_text(f"{sysconfig.get_path('purelib')}\n{ROOT / 'src'}\n")
    script = folder / "bin" / "haulwright"
    script.parent.mkdir()
    script.write_text('#!/bin/sh\nexec "$VIRTUAL_ENV/bin/python" -m haulwright "$@"\n')
    script.chmod(0o755)
    return str(folder)


@pytest.mark.crash
@pytest.mark.timeout(300)
def test_the_tutorial_works_when_it_is_typed_line_by_line(tmp_path, installed):
    place = tmp_path / "place"
    place.mkdir()
    (program,) = blocks("docs/tutorial/first-job.md", "python")
    (place / "shop.py").write_text(program)
    lines = [line for text in blocks("docs/tutorial/first-job.md", "console") for line in text.splitlines()]
    typed = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    python = shutil.which("python3") or sys.executable

    told = shell("\n".join([PIP, *typed]), place, PIP_STANDS_FOR=installed, PATH=f"{Path(python).parent}:/usr/bin:/bin")

    answers = [line for line in lines if not line.startswith("$ ")]
    assert "no live worker serves the queue 'default'" in answers
    for answer in answers:
        assert re.sub("[0-9a-f-]{36}", "ID", answer) in re.sub("[0-9a-f-]{36}", "ID", told)
    assert (place / "outside.txt").read_text() == "asked for A1\n"
    assert re.search(r"state +succeeded", told)
    assert re.search(r"losses +1", told)
    assert "hourly prices" in told
