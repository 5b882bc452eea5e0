from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from haulwright.sources.feeds.markup import ATTRIBUTES, BLOCKS, INLINE, VOID, clean

PIECES = st.lists(
    st.sampled_from(
        ["<p>", "</p>", "<b", ">", "<a href=", "'", '"', "javascript:alert(1)", "https://a.example/", "<script>", " ",
         "</script>", "<svg>", "<math>", "<style>", "</style>", "<!--", "-->", "<img src=x onerror=alert(1)>", "\0",
         "<title>", "</title>", "<textarea>", "<table>", "<form>", "&lt;script&gt;", "&#106;", "<noscript>", "<x:y>",
         "<template>"]
    ),
    max_size=12,
).map("".join)  # fmt: skip


@given(PIECES | st.text(max_size=60))
@example("<noscript><p title='</noscript><img src=x onerror=alert(1)>'>")
@example("<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>")
def test_only_known_elements_and_attributes_come_out_however_it_is_read_again(markup):
    html, _ = clean(markup, "https://news.example/")

    body = LexborHTMLParser(html).body
    for node in body.traverse() if body else ():
        if node.is_element_node and node.tag != "body":
            assert node.tag in INLINE | BLOCKS | VOID
            assert set(node.attributes) <= set(ATTRIBUTES.get(node.tag, ()))
            assert all(
                re.match("https?://", node.attributes.get(name) or "http://") for name in ("href", "src", "cite")
            )


@pytest.mark.parametrize(
    ("markup", "html", "text"),
    [
        ("just words", "just words", "just words"),
        ("5 > 3 & 2", "5 &gt; 3 &amp; 2", "5 > 3 & 2"),
        ("<p>One</p><p>Two</p>", "<p>One</p><p>Two</p>", "One Two"),
        ("One<br>Two", "One<br>Two", "One Two"),
        ("f<b>u</b>ll", "f<b>u</b>ll", "full"),
        ("<p onclick='x()' style='x' class='y'>One", "<p>One</p>", "One"),
        ("<script>x()</script>One<style>p{}</style>", "One", "One"),
        ("<font color=red>One <blink>two</blink></font>", "One two", "One two"),
        ("<a href='/x'>One</a>", '<a href="https://news.example/x">One</a>', "One"),
        ("<a href=' javascript:x()'>One</a>", "<a>One</a>", "One"),
        ("<a href='java&#10;script:x()'>One</a>", "<a>One</a>", "One"),
        ("<img src='data:image/png;base64,x' alt='a \"gate\"'>", '<img alt="a &quot;gate&quot;">', ""),
        (
            "<table><tr><td colspan=2>1<td>2</table>",
            '<table><tbody><tr><td colspan="2">1</td><td>2</td></tr></tbody></table>',
            "1 2",
        ),
        ("<iframe src='https://bad.example'>x</iframe><form><p>y</p></form>z", "z", "z"),
        ("<html><head><title>t</title></head><body><p>One</p></body></html>", "<p>One</p>", "One"),
        ("<frameset><frame></frameset>", "", ""),
        ("<!-- hidden -->One", "One", "One"),
        ("", "", ""),
    ],
)
def test_markup_is_written_anew_with_its_text(markup, html, text):
    assert clean(markup, "https://news.example/") == (html, text)


def test_markup_that_nests_without_end_keeps_its_text_and_some_of_its_tags():
    html, text = clean("<div>" * 5_000 + "deep")

    assert text == "deep"
    assert html.count("<div>") == html.count("</div>") == 100


def test_cleaning_what_is_clean_changes_nothing():
    html, text = clean("<p>One <a href='/x'>two</a><br>&lt;three&gt;</p>", "https://news.example/")

    assert clean(html) == (html, text)
