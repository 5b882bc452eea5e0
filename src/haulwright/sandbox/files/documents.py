"""Small documents that a reader can open: texts and PDFs of one page."""

from __future__ import annotations

from haulwright.sandbox.chance import chance

SUBJECTS = ("water meters", "harbour dues", "grain storage", "night trains", "tidal gauges", "rooftop gardens")
FONTS = b"<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >>"
FINDINGS = (
    "The figures of the second quarter were collected by hand and checked twice.",
    "Two of the nine stations reported late; their values are estimates.",
    "Costs fell by four per cent, most of it in transport.",
    "The committee asks for a review before the next season.",
    "No change of method was made since the last report.",
)


def text(seed: int, name: str, version: int) -> bytes:
    """A report in plain text."""
    return "\n\n".join([*_lines(seed, name, version), ""]).encode()


def pdf(seed: int, name: str, version: int) -> bytes:
    """The same report as a PDF of one page."""
    shown = " ".join(f"({_escaped(line)}) Tj T*" for line in _lines(seed, name, version))
    stream = f"BT /F1 11 Tf 60 780 Td 16 TL {shown} ET".encode()
    objects = (
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources %s >>" % FONTS,
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
    )
    return _assembled(objects)


def _lines(seed: int, name: str, version: int) -> list[str]:
    luck = chance(seed, name, version, "document")
    title = f"Report on {luck.choice(SUBJECTS)}: {name}, edition {version}"
    return [title, *luck.sample(FINDINGS, k=4)]


def _assembled(objects: tuple[bytes, ...]) -> bytes:
    """Objects with the table that says where each begins."""
    body, places = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(objects) + 1
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (count, len(body))
    return body + b"xref\n0 %d\n0000000000 65535 f \n" % count + table + trailer


def _escaped(line: str) -> str:
    return line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
