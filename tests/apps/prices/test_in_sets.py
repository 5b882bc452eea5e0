"""What a page of listings says is written in sets: as many statements, however many listings it has."""

from __future__ import annotations

from tests.apps.prices.scenes import listed


def test_the_points_of_a_page_are_written_in_a_handful_of_statements(world, statements):
    world.page()
    taken = []
    for number, listings in enumerate((5, 5, 200)):  # with the first, what is looked up once
        intake = world.intake(f"Ardish crown {number}")
        good = [listed(id=str(place), url=f"https://shop.example/{number}/{place}") for place in range(listings)]
        bad = [listed(id=f"b{place}", amount="on request") for place in range(listings // 5)]
        world.answer("odd", *good, *bad)
        statements.texts.clear()
        world.collect(intake)
        taken.append(len(statements.of("prices_")))
        assert (len(world.points(intake)), len(world.reasons(intake))) == (listings, listings // 5)

    assert taken[1] == taken[2] <= 12
