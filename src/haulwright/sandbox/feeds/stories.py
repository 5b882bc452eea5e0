"""The kinds of things that happen, and how they are told. Every name here is invented."""

from __future__ import annotations

from dataclasses import dataclass

PEOPLE = (
    "Ines Halvorsen", "Tomas Brandt", "Leila Okafor", "Marcus Thorne", "Petra Vance", "Samir Lindgren", "Greta Moreau",
    "Daniel Achterberg", "Noor Castellan", "Owen Raske", "Hanna Sorel", "Julius Werth", "Mirela Stan", "Pavel Dunne",
)  # fmt: skip
"""Who writes for the papers."""
_FIRST = (
    "Bal", "Cor", "Dun", "Esk", "Fal", "Grev", "Hol", "Iv", "Jar", "Kest", "Lind", "Marr", "Nol", "Ors", "Pell", "Quil",
    "Rav", "Skar", "Tolv", "Ulm", "Vant", "West", "Yar", "Zel",
)  # fmt: skip
_MIDDLE = (
    "a", "e", "i", "o", "u", "an", "en", "in", "on", "un", "ar", "er", "ir", "or", "ur", "al", "el", "il", "ol", "ul",
)  # fmt: skip
_LAST = ("bach", "dorf", "fjord", "gate", "holt", "kirk", "mar", "nitz", "quist", "sund", "thorpe", "wick")
_NAMES = len(_FIRST) * len(_MIDDLE) * len(_LAST)
_NAMES_OF_A_STORY = 13
_STRIDE = 1_847
"""Has no divisor in common with their number, so that names that follow each other are far apart."""


def cast(number: int) -> dict[str, str | int]:
    """Who and where a story is about, and its figures: names and figures that no other story near its number has."""
    names = [_name(number * _NAMES_OF_A_STORY + role) for role in range(_NAMES_OF_A_STORY)]
    return {
        "place": names[0],
        "person": f"{names[1]} {names[2]}",
        "company": names[3],
        "region": names[4],
        "speaker": f"{names[5]} {names[6]}",
        "office": names[7],
        "guest": f"{names[8]} {names[9]}",
        "society": names[10],
        "host": f"{names[11]} {names[12]}",
        "n": 21 + number * _STRIDE % 461,
        "m": 2 + number * _STRIDE % 47,
    }


def _name(number: int) -> str:
    """An invented name; the next one like it is some thousand numbers away."""
    rest, first = divmod(number * _STRIDE % _NAMES, len(_FIRST))
    last, middle = divmod(rest, len(_MIDDLE))
    return _FIRST[first] + _MIDDLE[middle] + _LAST[last]


@dataclass(frozen=True, slots=True)
class Story:
    """One kind of event: headlines of which each paper picks one, and facts of which each tells some."""

    section: str
    headlines: tuple[str, ...]
    facts: tuple[str, ...]


STORIES: tuple[Story, ...] = (
    Story(
        "weather",
        (
            "Flood in {place} forces {n} families from homes",
            "{place} under water as river Ard breaks its banks",
            "Hundreds evacuated after {place} flooding",
            "{place} mayor {person} calls flood worst in decades",
        ),
        (
            "The river rose {m} metres overnight and broke through the dyke at {place}.",
            "{n} families spent the night in school gymnasiums, the flood service said.",
            "Mayor {person} asked the region for boats, pumps and sandbags.",
            "Rail traffic through {place} is halted until the embankment has been checked.",
            "Forecasters expect the water to fall slowly from tomorrow.",
        ),
    ),
    Story(
        "business",
        (
            "{company} to buy rival for {m} billion",
            "Takeover: {company} agrees {m} billion merger deal",
            "{company} shares jump on merger announcement",
            "Merger will make {company} largest in its field, says {person}",
        ),
        (
            "{company} will pay {m} billion in cash and shares, both boards announced.",
            "Chief executive {person} said the merger would close within {n} days.",
            "Competition authorities in {place} have yet to approve the takeover.",
            "Unions fear that {n} jobs at {company} are at risk.",
            "Shareholders of {company} are to vote on the offer next month.",
        ),
    ),
    Story(
        "politics",
        (
            "{person} wins {place} election by {n} votes",
            "Narrow victory for {person} in {place} ballot",
            "{place} votes: {person} declared winner",
            "Recount demanded after {person} takes {place}",
        ),
        (
            "{person} won the election in {place} by a margin of {n} votes.",
            "Turnout was {m} percentage points higher than at the last ballot.",
            "The electoral commission of {place} received several complaints.",
            "Opponents called for a recount in the northern districts.",
            "{person} promised to form a council within two weeks.",
        ),
    ),
    Story(
        "labour",
        (
            "Strike halts {company} in {place}",
            "{company} workers walk out over pay",
            "{n} workers on strike at {company} plant",
            "Talks fail: {place} plant of {company} at standstill",
        ),
        (
            "{n} workers of {company} laid down tools in {place} this morning.",
            "The union asks for a raise of {m} per cent and shorter night shifts.",
            "{company} called the strike disproportionate and offered mediation.",
            "Union leader {person} said the walkout could last until Friday.",
            "Suppliers in {place} have begun to send their own staff home.",
        ),
    ),
    Story(
        "science",
        (
            "Fossil found near {place} rewrites early whale history",
            "{place} dig: {person} unearths {m}-million-year-old whale",
            "Ancient whale skeleton discovered at {place}",
            "Whale fossil of {place} puzzles scientists",
        ),
        (
            "The skeleton lay under {m} metres of clay in a quarry near {place}.",
            "Palaeontologist {person} dates the whale to {m} million years.",
            "The find has {n} teeth, more than any known relative.",
            "A museum in {place} will show the skull from spring.",
            "The team published its description of the fossil this week.",
        ),
    ),
    Story(
        "technology",
        (
            "Outage at {company} leaves {n} thousand offline",
            "{company} network down for {m} hours",
            "Faulty update blamed for {company} outage",
            "{company} apologises after nationwide outage",
        ),
        (
            "The outage at {company} began shortly after midnight and lasted {m} hours.",
            "About {n} thousand customers had no connection, most of them around {place}.",
            "A faulty update of routing software was the cause, {company} said.",
            "Technical director {person} apologised and promised refunds.",
            "The regulator has asked {company} for a written report.",
        ),
    ),
    Story(
        "sport",
        (
            "{place} win cup final after penalties",
            "Heartbreak for rivals as {place} lift the cup",
            "{person} the hero in {place} cup triumph",
            "Penalty drama: cup goes to {place}",
        ),
        (
            "{place} won the cup final on penalties after {n} minutes without a goal.",
            "Goalkeeper {person} saved {m} shots in the shoot-out.",
            "It is the first cup for {place} in {n} years.",
            "Fans filled the harbour square of {place} until the morning.",
            "The coach praised {person} and the patience of the team.",
        ),
    ),
    Story(
        "courts",
        (
            "Court fines {company} over {place} spill",
            "{company} must pay {m} million for polluting {place}",
            "Judge {person} rules against {company}",
            "Polluter pays: {company} loses {place} case",
        ),
        (
            "A court in {place} fined {company} {m} million for a chemical spill.",
            "Judge {person} found that warnings had been ignored for {n} days.",
            "{company} said it would study the ruling and may appeal.",
            "Fishermen of {place} welcomed the verdict.",
            "The spill had closed the beaches of {place} for a season.",
        ),
    ),
    Story(
        "economy",
        (
            "Central bank of {place} raises rate to {m} per cent",
            "Rates up again: {place} bank surprises markets",
            "{person} defends rate rise",
            "Borrowers in {place} face dearer loans after rate decision",
        ),
        (
            "The central bank of {place} raised its key rate to {m} per cent.",
            "Governor {person} said inflation was still too high.",
            "{n} analysts in a poll had expected no change of the rate.",
            "Mortgage lenders in {place} announced higher instalments.",
            "The next rate meeting takes place in six weeks.",
        ),
    ),
    Story(
        "culture",
        (
            "{place} festival opens with {person} premiere",
            "Record crowd at {place} film festival",
            "{person} returns to {place} with new film",
            "Applause and boos for {person} at {place} festival",
        ),
        (
            "The film festival of {place} opened with a work by {person}.",
            "{n} films from {m} countries compete for the silver heron.",
            "Critics were divided: some left the premiere of {person} early.",
            "Hotels in {place} are booked out until the award night.",
            "The jury announces the winner of the festival on Sunday.",
        ),
    ),
)
