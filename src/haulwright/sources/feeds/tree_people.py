"""Authors in a tree, each with what feedparser would call them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final
from xml.etree.ElementTree import Element

from haulwright.sources.feeds.controls import without_control_characters
from haulwright.sources.feeds.element_names import name_of
from haulwright.sources.feeds.tree_text import StrangeFeed, value_of
from haulwright.sources.feeds.xml_walk import LONGEST_PERSON_CHARS

_MAIL: Final = re.compile(
    r"(([a-zA-Z0-9\_\-\.\+]+)@((\[[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}\.)|(([a-zA-Z0-9\-]+\.)+))"
    r"([a-zA-Z]{2,4}|[0-9]{1,3})(\]?))(\?subject=\S+)?"
)
"""What feedparser takes for a mail address."""
_PARTS: Final = {"name": "name", "itunes_name": "name", "email": "email", "itunes_email": "email"}
_SILENT_PARTS: Final = frozenset({"uri", "url", "homepage"})


def check_length(person: Element) -> None:
    """Leave a name that is too long to who cuts it."""
    if sum(map(len, person.itertext())) > LONGEST_PERSON_CHARS:
        raise StrangeFeed


@dataclass(slots=True)
class People:
    """The authors of a feed or an entry, in order."""

    written: str = ""
    """The last of them, as it stands there."""
    names: dict[str, None] = field(default_factory=dict)
    _is_written: bool = False
    """One of them stands there without parts."""
    _has_mail: bool = False

    def add(self, person: Element) -> None:
        """Add an author, written out or in parts."""
        if len(person):
            if not self._add_named(person):
                self._add_parts(person)
            return
        self._is_written = True
        text = value_of(person)
        if len(text) > LONGEST_PERSON_CHARS:
            raise StrangeFeed
        name, mail = _name_and_mail(text) if "@" in text else (text, "")
        self._add(text, name, mail)

    def shown(self) -> str | None:
        """Their names, each once; a single one as it is written, with its mail address."""
        if len(self.names) > 1:
            return ", ".join(self.names)
        return _shown(self.written) or None

    def _add_named(self, person: Element) -> bool:
        """Add one who has a name and nothing else, as most have."""
        part, text = person[0], person[0].text
        if len(person) > 1 or len(part) or not text or len(text) > LONGEST_PERSON_CHARS or self.written or self.names:
            return False
        if name_of(part.tag) != "name" or not _is_blank(person.text) or not _is_blank(part.tail):
            return False
        name = text.strip()
        self._add(name, name, "")
        return True

    def _add_parts(self, person: Element) -> None:
        check_length(person)
        parts = {"name": "", "email": ""}
        stray = [person.text]
        for element in person:
            name = name_of(element.tag)
            if len(element) or (name not in _PARTS and name not in _SILENT_PARTS):
                raise StrangeFeed
            stray.append(element.tail)
            if name in _PARTS:
                parts[_PARTS[name]] = (element.text or "").strip()
        name, mail = parts["name"], parts["email"]
        # Of several, feedparser lets the parts of one run into another.
        if not all(map(_is_blank, stray)) or self._is_written or (self.names and (mail or not name)):
            raise StrangeFeed
        if self._has_mail:
            raise StrangeFeed
        self._add(f"{name} ({mail})" if name and mail else name or mail, name, mail)

    def _add(self, written: str, name: str, mail: str) -> None:
        self.written = written
        self._has_mail = self._has_mail or "@" in written
        if shown := _shown(name) or _shown(mail):
            self.names[shown] = None


def _shown(text: str) -> str:
    return (text if text.isprintable() else without_control_characters(text)).strip()


def _is_blank(text: str | None) -> bool:
    return not text or text.isspace()


def _name_and_mail(text: str) -> tuple[str, str]:
    """Return the name and the mail address that stand in one text."""
    mail = _MAIL.search(text)
    if mail is None:
        return text, ""
    name = text.replace(mail[0], "").replace("()", "").replace("<>", "").replace("&lt;&gt;", "").strip()
    name = name.removeprefix("(").removesuffix(")").strip()
    return name, mail[0]
