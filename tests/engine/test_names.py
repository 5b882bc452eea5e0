"""One rule for a name, wherever it is given: what one door takes, no other refuses."""

from __future__ import annotations

import pytest

from haulwright.engine.names import NAME_LIMIT_CHARS, check_name
from haulwright.engine.schedule import ScheduleSpec
from haulwright.engine.source import source_key
from haulwright.engine.task import TaskOptions
from haulwright.errors import InvalidValue
from haulwright.operations.principal import Principal

LONGEST = "n" * NAME_LIMIT_CHARS
DOORS = {
    "task": lambda name: check_name("task", name),
    "queue": lambda name: TaskOptions(queue=name),
    "schedule": lambda name: ScheduleSpec.declare(name, "0 * * * *", "task"),
    "task of a schedule": lambda name: ScheduleSpec.declare("hourly", "0 * * * *", name),
    "tenant of a schedule": lambda name: ScheduleSpec.declare("hourly", "0 * * * *", "task", tenant=name),
    "source": source_key,
    "tenant": Principal.of_tenant,
    "principal": Principal.admin,
}


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS.keys())
def test_a_name_of_200_characters_is_taken_everywhere_and_a_longer_one_nowhere(door):
    door(LONGEST)

    with pytest.raises(InvalidValue, match="1 to 200 printable characters"):
        door(LONGEST + "n")
