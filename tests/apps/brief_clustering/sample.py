"""News that never happened: eight events in four pairs of a kind, each told by four papers in their own words."""

from __future__ import annotations


def _reports(text: str) -> tuple[str, ...]:
    """The reports of an event, which empty lines part."""
    return tuple(" ".join(report.split()) for report in text.strip().split("\n\n"))


QUAKE_OF_LISBON = _reports("""
A strong earthquake shook Lisbon before dawn on Monday, toppling chimneys in the Alfama quarter and sending people
into the streets. The seismological institute put the magnitude at 5.9. Mayor Helena Bastos said eleven people were
hurt and that the 28 tram would not run until its tracks were checked.

Lisbon woke to a tremor of magnitude 5.9 on Monday. In Alfama several chimneys came down and eleven residents were
treated for cuts, Mayor Helena Bastos told reporters at the town hall. Trams on line 28 stood still while engineers
looked at the tracks.

Schools in Lisbon stayed closed after the earthquake that damaged old houses in Alfama. Helena Bastos, the mayor,
thanked neighbours who had cleared rubble by hand. The Portuguese institute of seismology expects weaker aftershocks
for some days.

Portugal's capital counts the cost: two hundred houses in Alfama need new roofs after Monday's earthquake, says the
office of Lisbon's mayor Bastos. Insurers sent assessors; the tram line 28 reopened in the afternoon.
""")
QUAKE_OF_MANTA = _reports("""
An earthquake of magnitude 6.4 struck off the port of Manta in Ecuador on Thursday night. Fishing boats were thrown
onto the quay and the Hotel Umiña lost part of its front. Governor Rosa Cedeño declared an emergency for the province
of Manabí.

Manta, Ecuador: fishermen searched the quay for their boats after a quake of magnitude 6.4. Guests of the Hotel Umiña
spent the night on the beach. Rosa Cedeño, who governs Manabí, asked Quito for tents and water.

Ecuador sent two planes with tents to Manabí, where Thursday's earthquake left four hundred families of Manta without
a home. Governor Cedeño said the port could be used again in a week.

The front of the Hotel Umiña in Manta will be pulled down, Ecuadorian engineers decided after the earthquake. Nobody
was killed, which governor Rosa Cedeño called a wonder; the fishing fleet of Manabí lost thirty boats.
""")
FIRE_OF_THE_MILL = _reports("""
Fire destroyed the old Tuppen cotton mill in Norrköping on Saturday. Forty firefighters fought the flames along the
Motala river until noon. Fire chief Lars Hedin suspects sparks from roof repairs.

Norrköping loses a landmark: the Tuppen mill, where cotton was spun until 1970, burned down to its walls. Roofers had
worked with torches the day before, said Lars Hedin of the fire service.

The owner of the Tuppen mill on the Motala river wants to rebuild it. Police in Norrköping questioned three roofers;
according to fire chief Hedin the blaze began under the roof.

Smoke from the burning Tuppen mill was seen as far as Linköping. The museum of work in Norrköping had stored looms
there. Nobody was hurt, Lars Hedin said while his firefighters pumped water from the Motala.
""")
FIRE_OF_THE_CINEMA = _reports("""
The Sphinx Royal cinema in Ghent went up in flames during a late show on Wednesday. All ninety visitors got out, said
fire officer Mieke Claes. A projector in hall two is thought to have caught fire.

Ninety people left the Sphinx Royal in Ghent unharmed when smoke filled hall two. The projectionist pulled the alarm.
Mieke Claes, who led the firefighters, praised how calm everybody was.

Ghent mourns its oldest cinema. The fire that began in the projector of the Sphinx Royal left only the front with its
stone sphinxes. A collection for rebuilding reached 80,000 euros within a day.

Investigators took the projector of the Sphinx Royal to Brussels. The cinema in Ghent burned on Wednesday with ninety
visitors inside, none of whom was hurt, officer Claes confirmed.
""")
FINAL_OF_OSLO = _reports("""
Ines Okafor won the Oslo chess masters on Sunday, beating Tomasz Wolny in 61 moves with the black pieces. The
nineteen-year-old from Lagos sacrificed a rook on move 34 and never looked back.

A rook on move 34: Ines Okafor needed no more to break the defence of Tomasz Wolny in the final of the Oslo masters.
The Pole congratulated her on the stage.

Lagos celebrates Okafor. The chess player, nineteen, is the first African to win in Oslo; Wolny, the favourite, had
not lost a game there since 2019.

Tomasz Wolny blamed himself for the lost final in Oslo: he had seen the sacrifice of Ines Okafor and thought it
unsound. She takes home 120,000 kroner and the lead of the chess tour.
""")
FINAL_OF_BAKU = _reports("""
Yusuf Demirel took the title at the Baku chess open after a draw with Chen Ruolan on Friday. Half a point was enough
for the grandmaster from Izmir, who had won his first seven games.

Seven wins and two draws: Demirel is the champion of the Baku open. Chen Ruolan tried for five hours to win the last
game in the Crystal Hall, in vain.

Izmir's Yusuf Demirel said he had slept badly before he met Chen Ruolan in Baku. He leaves Azerbaijan with the cup and
a chess rating above 2750 for the first time.

The organisers of the chess open in Baku counted four thousand visitors in the Crystal Hall. They saw Demirel draw
with Chen, who ends second for the third year in a row.
""")
SALE_OF_THE_PORTS = _reports("""
Halden Shipping will buy Brightwater Ports for 2.3 billion dollars, both companies announced on Tuesday. The deal
brings Halden nine container terminals in West Africa. Its chief executive Greta Lunde spoke of a perfect fit.

Brightwater Ports, owner of nine terminals from Dakar to Luanda, goes to Halden Shipping. Greta Lunde, who leads
Halden, pays 2.3 billion dollars, a quarter more than the share price of Monday.

Dockers in Dakar fear for their jobs after the sale of Brightwater. Halden Shipping promised to keep all terminals
open; unions want it in writing from Greta Lunde.

Shares of Halden fell by four per cent: investors find 2.3 billion too much for Brightwater Ports. Regulators in
Senegal and Angola have to agree to the takeover of the terminals.
""")
SALE_OF_THE_DAIRY = _reports("""
Kestrel Foods has agreed to take over Morrow Dairy of Vermont for 640 million dollars. Morrow's cheddar will keep its
name, promised Kestrel chairman Paul Adeyemi on Wednesday.

Vermont's largest dairy is sold. Kestrel Foods pays 640 million for Morrow, whose founder Ann Morrow will stay as
adviser. Three hundred farms deliver milk to it.

Farmers who deliver to Morrow Dairy met in Montpelier. Paul Adeyemi of Kestrel Foods told them that the milk price is
fixed for three years after the takeover.

Analysts call the price of Morrow Dairy fair. With its cheddar Kestrel Foods wants to enter the market for cheese,
where chairman Adeyemi sees growth of six per cent a year.
""")
EVENTS: dict[str, tuple[str, ...]] = {
    "quake of Lisbon": QUAKE_OF_LISBON,
    "quake of Manta": QUAKE_OF_MANTA,
    "fire of the mill": FIRE_OF_THE_MILL,
    "fire of the cinema": FIRE_OF_THE_CINEMA,
    "final of Oslo": FINAL_OF_OSLO,
    "final of Baku": FINAL_OF_BAKU,
    "sale of the ports": SALE_OF_THE_PORTS,
    "sale of the dairy": SALE_OF_THE_DAIRY,
}
"""Each event with its reports."""
