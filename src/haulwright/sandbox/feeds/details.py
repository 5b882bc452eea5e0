"""What makes an event this one and no other: details that all its reports share, each in one of two wordings."""

from __future__ import annotations

from random import Random

DETAILS: dict[str, tuple[str, ...]] = {
    "landmark": (
        "the old granary", "Saint Brannoc's chapel", "the cable-car station", "the herring market",
        "Lamplighter Square", "the velodrome", "the lime kilns", "the observatory hill", "the tram depot",
        "the botanical glasshouse", "Cormorant Lock", "the signal tower", "the customs shed", "the opera steps",
        "the brickworks chimney", "the salt warehouse", "Widow's Bridge", "the pilgrim hostel", "the sugar refinery",
        "the ice rink", "the mint museum", "the orphanage gate", "the windmill ridge", "the ferry pontoon",
    ),
    "witness": (
        "a beekeeper", "a retired tram driver", "two nuns", "a school orchestra", "a night porter", "a locksmith",
        "a falconer", "a group of surveyors", "a chess club", "a bargeman", "three apprentice bakers",
        "a cartographer", "a wedding party", "an organ tuner", "a lighthouse keeper", "a mushroom picker",
        "a piano teacher", "a glazier", "a rowing crew", "a taxidermist", "a sign painter", "a veterinary surgeon",
        "a stamp dealer", "a choirmaster",
    ),
    "object": (
        "a copper turbine", "a crate of violins", "the archive ledgers", "a bronze stag", "a diesel generator",
        "forty beehives", "the parish bell", "an antique sextant", "a consignment of tulip bulbs", "the mosaic floor",
        "a prototype balloon", "the telegraph cabinet", "a grand piano", "the reservoir valve", "a carousel",
        "the painted ceiling", "a hoard of cutlery", "the weather mast", "a fleet of bicycles", "a cinema projector",
        "the herbarium", "a racing sled", "the freight elevator", "a rack of servers",
    ),
    "helper": (
        "the mountain rescue", "the harbour pilots", "the coopers' guild", "a choir from the valley",
        "the cadet corps", "the dairy cooperative", "the amateur radio society", "the veterans' league",
        "the botanists' circle", "the volunteer firemen", "the accountants' chamber", "the scouts",
        "the university canteen", "the canal trust", "the cycling federation", "the midwives' association",
        "the puppet theatre", "the gliding school", "the stonemasons", "the library friends", "the allotment holders",
        "the ferrymen", "the deaf society", "the polar institute",
    ),
    "dispute": (
        "parking permits", "the price of firewood", "an unpaid insurance premium", "missing blueprints", "a fence",
        "overtime slips", "a forged stamp", "the noise of cooling fans", "fishing licences", "a broken thermostat",
        "an unsigned contract", "holiday rosters", "asbestos panels", "a delayed audit", "water rights",
        "sheep pasture", "a misprinted ballot", "heating subsidies", "the colour of the facade", "night flights",
        "pigeon droppings", "a lost passport", "street lighting", "a mislaid key",
    ),
    "remedy": (
        "a temporary footbridge", "a hotline", "an auction", "free tickets", "a public hearing", "new gauges",
        "a petition", "sniffer dogs", "a drone survey", "a lottery", "a rent freeze", "armoured cabling",
        "mobile kitchens", "a curfew", "an open day", "replacement buses", "a scholarship", "thermal cameras",
        "a plaque", "second-hand pumps", "an amnesty", "soundproof glazing", "a travelling exhibition",
        "an independent auditor",
    ),
}  # fmt: skip

FRAMES: dict[str, tuple[str, str]] = {
    "landmark": ("It began near {}, people there say.", "Most of it was seen around {}."),
    "witness": ("Among the first to notice was {}.", "The alarm was raised by {}."),
    "object": ("At the centre of it all is {}.", "Much of the talk turns on {}."),
    "helper": ("Support came from {}.", "{} offered to help."),
    "dispute": ("Behind it lies a quarrel over {}.", "Critics point to {}."),
    "remedy": ("For now there will be {}.", "The answer so far: {}."),
}


def of_story(number: int) -> dict[str, str]:
    """The details of one event: those of events with near numbers have at most a few of them in common."""
    return {
        name: values[(number + number // len(values) * step) % len(values)]
        for step, (name, values) in enumerate(DETAILS.items(), 1)
    }


def sentences(details: dict[str, str], luck: Random, count: int) -> list[str]:
    """Some of the details in the words of one paper."""
    return [
        _sentence(luck.choice(FRAMES[name]).format(details[name])) for name in luck.sample(sorted(details), k=count)
    ]


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
