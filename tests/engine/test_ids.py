from __future__ import annotations

import subprocess
import sys
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from haulwright.engine import ids
from haulwright.engine.ids import is_id, new_id, time_of
from haulwright.errors import InvalidValue


def test_an_id_is_a_uuid_of_version_7_in_its_usual_form():
    made = uuid.UUID(new_id())
    assert made.version == 7
    assert made.variant == uuid.RFC_4122
    assert str(made) == str(made).lower()


def test_an_id_tells_when_it_was_made():
    before = time.time_ns() // 1_000_000 * 1_000
    made = time_of(ids._Sequence(time.time_ns).next_id())
    assert before <= made <= time.time_ns() // 1_000


def test_ids_of_a_process_only_grow():
    made = [new_id() for _ in range(20_000)]
    assert all(earlier < later for earlier, later in pairwise(made))


def test_ids_grow_while_the_clock_stands_still_or_steps_back():
    readings = iter([5_000_000_000, *[4_000_000_000] * 5_000, 5_000_000_000, 9_000_000_000])
    sequence = ids._Sequence(lambda: next(readings))
    made = [sequence.next_id() for _ in range(5_003)]
    assert all(earlier < later for earlier, later in pairwise(made))
    assert time_of(made[0]) == 5_000_000
    assert time_of(made[-1]) == 9_000_000


def test_threads_never_get_the_same_place_in_the_order():
    sequence = ids._Sequence(
        lambda: time.sleep(0) or time.time_ns()
    )  # gives way to the other threads at the worst time
    with ThreadPoolExecutor(4) as threads:
        batches = list(threads.map(lambda _: [sequence.next_id() for _ in range(2_000)], range(4)))
    assert len({made[:18] for batch in batches for made in batch}) == 8_000
    assert all(batch == sorted(batch) for batch in batches)


def test_a_forked_child_makes_other_ids_than_its_parent():
    script = (
        "import os; from haulwright.engine import ids; ids.new_id(); end, start = os.pipe();\n"
        "rest = lambda: [ids.new_id()[-17:] for _ in range(300)]\n"
        "if os.fork() == 0: os.write(start, '\\n'.join(rest()).encode()); os._exit(0)\n"
        "os.wait(); print(len(set(os.read(end, 65536).decode().split()) & set(rest())))"
    )
    shared = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert shared.stdout.strip() == "0"


def test_the_rest_of_an_id_cannot_be_guessed():
    rests = [int(new_id().replace("-", "")[16:], 16) & (2**62 - 1) for _ in range(4_000)]
    assert len(set(rests)) == 4_000
    for bit in range(62):
        assert 1_600 < sum(rest >> bit & 1 for rest in rests) < 2_400


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "00000000-0000-0000-0000-000000000000",
        "018F2F6E-7C1A-7ABC-8DEF-0123456789AB",
        "018f2f6e-7c1a-4abc-8def-0123456789ab",
        "018f2f6e-7c1a-7abc-cdef-0123456789ab",
        "018f2f6e-7c1a-7abc-8def-0123456789ab\n",
    ],
)
def test_what_new_id_never_writes_is_no_id(text):
    assert not is_id(text)
    with pytest.raises(InvalidValue, match="is no id of ours"):
        time_of(text)


def test_every_new_id_is_an_id():
    assert all(is_id(new_id()) for _ in range(1_000))
