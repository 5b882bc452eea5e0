"""Words that bind others together, in languages other than that of the labelled news: they say nothing of an event."""

# ruff: noqa: RUF001 - other alphabets look like ours
from __future__ import annotations

LEVEL = 3
"""What such a word weighs at most."""

_GERMAN = """
aber als also am an auch auf aus bei bis da damit dass das dem den der des die dies diese dieser doch durch ein eine
einem einen einer eines er es für gegen hat haben hatte hatten ich ihm ihn ihr ihre ihren im in ins ist kein keine
kann können man mehr mit nach nicht noch nun nur ob oder ohne sei sein seine seinen seit sich sie sind so soll
sollen über um und uns unter vom von vor war waren was weil wenn werden wie wir wird wurde wurden zu zum zur
zwischen
"""
_FRENCH = """
ai ainsi après au aussi autre aux avait avant avec avoir car ce ces cet cette ceux chez comme contre dans de depuis
des deux dont du elle elles en encore entre est et été être eu il ils je jusque la le les leur leurs lors lui mais
même mes moins ne nos notre nous on ont ou où par pas pendant peu plus pour qu quand que qui sa sans se selon ses si
son sont sous sur ta tous tout toute toutes très tu un une vers vos votre vous
"""
_SPANISH = """
al algo antes aunque cada como con contra cual cuando de del desde donde dos durante el ella ellos en entre era es
esa ese eso esta este esto estos fue fueron ha haber había han hasta hay la las le les lo los más me mientras mi
mismo muy nada ni no nos nosotros otra otro para pero poco por porque que quien se según ser si sido sin sino sobre
son su sus también tan tanto te tiene todo todos tras tu un una uno unos ya yo
"""
_ITALIAN = """
agli ai al alla alle anche che chi ci come con contro cui da dai dal dalla dalle degli dei del della delle dello di
dopo due ed era erano essere fra gli ha hanno il in io la le lei lo loro lui ma mentre mi nei nel nella nelle noi
non nostro ogni per perché più poi prima può qua quale quando quella quello questa questo qui se sei senza si sia
sono stata stato su sua sul sulla suo tra tu tutti tutto un una uno vi
"""
_PORTUGUESE = """
ao aos após as até com como contra da das de depois do dos ela ele eles em entre era essa esse esta está este foi
foram há isso já lhe mais mas me mesmo muito na nas não nem no nos nós os ou para pela pelas pelo pelos por quando
que quem se sem ser seu seus são só sobre sua suas também tem têm um uma umas uns você
"""
_DUTCH = """
aan al alle als bij dan dat de der deze die dit door dus een en er ge geen haar had heb hebben heeft het hem hij hoe
hun ik in is je kan maar meer men met mijn na naar niet niets nog nu of om omdat onder ons ook op over te tegen tot
uit van veel voor want waren was wat we wel werd wie wij worden wordt zal ze zeer zich zij zijn zo zonder
"""
_SWEDISH = """
allt än är att av bara de dem den denna deras det detta dig din du efter ej eller en ett för från ha hade han hans
har hennes hon honom hur icke in inte jag kan kunde man med mellan men mig min mot mycket när någon något några ni
nu och om oss på sedan sig sin sina skulle som så till under upp ur ut utan vad var vara vi vid
"""
_POLISH = """
aby ale bardzo bez bo być by był była było były co czy dla do gdy go ich ile im ja jak jako je jego jej jest jeszcze
już ku lub ma mi mnie na nad nam nas nie nich niż od on ona oni oraz po pod przed przez przy się są tak także tam te
tego tej ten to tu tym tylko we więc wszystko za ze że
"""
_RUSSIAN = """
без более бы был была были было быть вам вас ведь во вот все всего вы где да даже для до его ее её если есть еще ещё
же за здесь из или им их как когда кто ли либо между меня мне может мы на над надо наш не него нее нет ни них но ну
об однако он она они оно от очень по под при про раз со так также там те тем то того тоже той только том ты уже хотя
чего чем что чтобы эта эти это этого этой этот
"""
_TURKISH = """
ama ancak bir biri bu bunun çok da daha de değil diye en gibi göre hem her için ile ise kadar ki mi ne olan olarak
oldu olduğunu olduğu onun sonra şu tarafından üzere var ve veya ya yok
"""
_INDONESIAN = """
ada adalah akan atau bagi bahwa dalam dan dapat dari dengan di hanya ini itu juga karena ke kepada lebih mereka oleh
pada para saat saya sebagai secara serta setelah telah tidak untuk yang
"""
_ARABIC = """
إلى أن أو إن التي الذي بعد بين حتى ذلك على عن عند في قال قد كان كانت كل لا لم ما مع من منذ هذا هذه هو هي ولا وقد
وكان
"""
_ALL = (
    _GERMAN,
    _FRENCH,
    _SPANISH,
    _ITALIAN,
    _PORTUGUESE,
    _DUTCH,
    _SWEDISH,
    _POLISH,
    _RUSSIAN,
    _TURKISH,
    _INDONESIAN,
    _ARABIC,
)
FUNCTION_WORDS = frozenset(word for words in _ALL for word in words.split())
