"""Words that every text has, in English, German, French and Spanish; shorter ones are no topics anyway."""

from __future__ import annotations

from typing import Final

_ENGLISH = """
about above after again against almost alone along already also although always among another anybody anyone anything
around away back because been before behind being below best better between both came come comes coming could didn does
doesn doing done down during each either else enough even ever every everyone everything find first from gets getting
give given goes going gone good great have having here hers herself high himself into isn itself just keep keeps kept
know last later least less like little long look looking made make makes making many maybe mean might mine more most
much must myself need needs never next none nothing often once only onto other others ours ourselves over part perhaps
please quite rather really right said same says seen shall should shouldn since some someone something soon still such
sure take taken takes taking tell than that their theirs them themselves then there these they thing things think this
those though three through till time times today together told tomorrow took toward towards tried tries truly under
until upon used uses using very want wants wasn week well went were weren what whatever when where whether which while
whole whom whose will with within without would wouldn year years yesterday your yours yourself
finally link links minute minutes quick quickly read save site
"""
_GERMAN = """
aber alle allem allen aller alles also andere anderen auch aufs beim beide bereits bin bist dabei dadurch dafür damit
danach dann daran darauf daraus darf darüber darum davon dazu deine deinem deinen deiner denn deren dessen deshalb
dich dies diese diesem diesen dieser dieses doch dort durch eben eine einem einen einer eines einfach einige einmal
etwas euch euer eure ganz gegen gibt habe haben hatte hatten hier hinter ihre ihrem ihren ihrer immer jede jedem jeden
jeder jedes jetzt kann kannst kein keine keinem keinen keiner können könnte machen mehr mein meine meinem meinen
meiner mich muss müssen nach neben nicht nichts noch nun oder ohne schon sehr sein seine seinem seinen seiner seit
sich sind soll sollen sondern sonst über unser unsere unserem unseren unserer unter viel viele vom von vor wann warum
weil welche welcher wenn werden wieder wird wirst wollen worden wurde wurden zwar zwischen
"""
_FRENCH = """
ainsi alors après aucun aussi autre autres avant avec avoir bien car ceci cela celle celles celui ceux chaque chez comme
comment dans depuis deux donc elle elles encore entre être fait faire fois leur leurs mais même mêmes moins notre nous
parce pendant peut plus pour pourquoi puis quand quel quelle quelles quels sans sera ses sont sous suis sur tous tout
toute toutes très trop vers vont votre vous
"""
_SPANISH = """
algo algunas algunos ante antes como con contra cual cuando desde donde durante ella ellas ellos entre eran eres esas
esos esta estaba estado están estar estas este esto estos fueron hace hacia hasta mientras mucho muchos nada nosotros
nuestra nuestras nuestro nuestros otra otras otro otros para pero poco porque puede quien según siempre sobre somos
también tanto tiene tienen toda todas todo todos unas unos usted ustedes vosotros vuestra vuestro
"""
STOP_WORDS: Final = frozenset(f"{_ENGLISH} {_GERMAN} {_FRENCH} {_SPANISH}".split())
