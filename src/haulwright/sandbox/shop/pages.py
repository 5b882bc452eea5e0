"""The pages of a shop, in its old and its new layout."""

from __future__ import annotations

from html import escape
from typing import Any

from haulwright.sandbox.shop.catalogue import Piece, Shop, price_text


def listing(shop: Shop, shown: list[Piece], base: str, following: str | None, layout: str) -> str:
    """A page of the list."""
    write = _row_v2 if layout == "v2" else _row_v1
    rows = "\n".join(write(shop, piece, base) for piece in shown)
    more = f'<a class="next" rel="next" href="{escape(following)}">Next page</a>' if following else ""
    frame = f'<section data-role="grid">{rows}</section>' if layout == "v2" else f'<ul class="listing">{rows}</ul>'
    return _page(shop, f"<h1>Coins</h1>\n{frame}\n{more}")


def detail(shop: Shop, piece: Piece, layout: str) -> str:
    """The page of one piece."""
    if layout == "v2":
        facts = "".join(f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in _facts(piece))
        body = (
            f'<main data-sku="{piece.id}"><h1>{escape(piece.title)}</h1><dl>{facts}</dl>{_amount(shop, piece)}</main>'
        )
    else:
        facts = "".join(f"<tr><th>{name}</th><td>{escape(value)}</td></tr>" for name, value in _facts(piece))
        body = (
            f'<div class="item" id="item-{piece.id}"><h1 class="title">{escape(piece.title)}</h1>'
            f'<span class="price">{price_text(shop, piece.price)}</span><table class="facts">{facts}</table></div>'
        )
    return _page(shop, body)


def document(shop: Shop, piece: Piece, base: str) -> dict[str, Any]:
    """A piece for programs."""
    return {
        "id": piece.id,
        "title": piece.title,
        "url": f"{base}/items/{piece.id}",
        "year": piece.year,
        "metal": piece.metal,
        "condition": piece.condition,
        "price": {"amount": f"{piece.price / 100:.2f}", "currency": shop.currency},
        "status": "sold" if piece.sold else "for_sale",
        "listed_at": piece.day(piece.listed),
        "sold_at": piece.day(piece.sold) if piece.sold else None,
    }


def _row_v1(shop: Shop, piece: Piece, base: str) -> str:
    state = '<em class="sold">Sold</em>' if piece.sold else ""
    return (
        f'<li class="item"><a class="title" href="{base}/items/{piece.id}">{escape(piece.title)}</a> '
        f'<span class="condition">{piece.condition}</span> <span class="price">{price_text(shop, piece.price)}</span>'
        f"{state}</li>"
    )


def _row_v2(shop: Shop, piece: Piece, base: str) -> str:
    state = "sold" if piece.sold else "offer"
    link = f'<a href="{base}/items/{piece.id}">{escape(piece.title)}</a>'
    grade = f"<p>Grade <b data-grade>{piece.condition}</b></p>"
    return f'<article data-sku="{piece.id}" data-state="{state}"><h2>{link}</h2>{grade}{_amount(shop, piece)}</article>'


def _amount(shop: Shop, piece: Piece) -> str:
    value, text = f"{piece.price / 100:.2f}", price_text(shop, piece.price)
    return f'<data class="amount" value="{value}" data-currency="{shop.currency}">{text}</data>'


def _facts(piece: Piece) -> list[tuple[str, str]]:
    facts = [("Year", str(piece.year)), ("Metal", piece.metal), ("Condition", piece.condition)]
    facts.append(("Listed", piece.day(piece.listed)))
    return [*facts, ("Sold", piece.day(piece.sold))] if piece.sold else facts


def _page(shop: Shop, body: str) -> str:
    head = f'<meta charset="utf-8"><title>{escape(shop.title)}</title>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>{body}</body></html>\n'
