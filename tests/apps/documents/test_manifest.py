"""Manifests: what is listed is read, and what is wrong with a line is said in its place."""

from __future__ import annotations

import json

import pytest

from haulwright.apps.documents.file_names import name_of_url, tenant_folder
from haulwright.apps.documents.identity import identity_url
from haulwright.apps.documents.manifest import Item, read_manifest
from haulwright.errors import InvalidValue

SHA = "a" * 64


@pytest.fixture
def read(tmp_path):
    """The lines of a manifest with this content."""

    def run(text, name="list.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return list(read_manifest(path))

    return run


def test_csv_has_a_header_and_says_what_is_expected(read):
    (line,) = read(f"url,work_id,artifact_id,title,sha256,bytes,type\nhttps://a.example/x.pdf,w,a,T,{SHA.upper()},7,\n")

    item = line.item
    assert (line.number, item.work_id, item.artifact_id, item.title) == (2, "w", "a", "T")
    assert (item.sha256, item.bytes, item.type, item.name) == (SHA, 7, None, "x.pdf")


def test_a_comma_at_the_end_of_every_line_is_no_cell_too_many(read):
    (line,) = read("url,title,\nhttps://a.example/x.pdf,T,\n")

    assert (line.why, line.item.title) == ("", "T")


def test_json_lines_are_read_by_their_name_or_their_first_character(read):
    fields = ({"url": "https://a.example/x.pdf", "bytes": 7}, {"canonical_url": "https://b.example/"})
    text = "\n\n".join(map(json.dumps, fields))

    for name in ("list.jsonl", "list"):
        assert [(line.number, line.item.url) for line in read(text, name)] == [
            (1, "https://a.example/x.pdf"),
            (3, "https://b.example/"),
        ]


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("ftp://a.example/x,,", "http"),
        ("nothing,,", "http"),
        (",,w", "missing"),
        ("https://user:pw@a.example/x,,", "names a user"),
        ("https://a.example/x,../../etc/passwd,", "path"),
        ("https://a.example/x,.bashrc,", "hidden"),
        ("https://a.example/x,a\\b,", "path"),
        ("https://[::1/x,,", "IPv6"),
        ("https://a.example/x,,,,,", "more cells"),
    ],
)
def test_a_bad_line_is_refused_and_the_next_one_is_read(read, row, why):
    bad, good = read(f"url,name,work_id\n{row}\nhttps://a.example/ok.pdf,,\n")

    assert bad.item is None
    assert why in bad.why
    assert "pw" not in bad.why
    assert good.item.name == "ok.pdf"


@pytest.mark.parametrize(
    "text", ['{"url": 7}', "[]", "{", '{"url": ["x"]}', '{"url": "https://a.example", "bytes": -1}']
)
def test_what_is_no_object_with_an_address_is_refused(read, text):
    (line,) = read(f"{text}\n", "list.jsonl")

    assert line.item is None
    assert line.why


def test_bytes_that_are_no_text_and_lines_without_end_spoil_only_themselves(read):
    long = b'{"url": "https://a.example/' + b"x" * 300_000 + b'"}\n'

    lines = read(b'{"url": "https://a.example/\xff"}\n' + long + b'{"url": "https://a.example/ok"}\n', "list.jsonl")

    assert [line.number for line in lines] == [1, 2, 3]
    assert [line.item is not None for line in lines] == [False, False, True]


@pytest.mark.proves("IK-02", "IK-04")
def test_the_same_artefact_has_the_same_key_however_its_address_is_written():
    plain = Item("https://a.example/x.pdf")

    assert plain.key == Item(" HTTPS://A.example:443/x.pdf#page=2 ").key
    assert plain.key != Item("https://a.example/x.pdf?id=7").key
    assert plain.key != Item("https://a.example/x.pdf", work_id="w").key


@pytest.mark.parametrize(
    "signature",
    [
        "X-Amz-Signature=1&X-Amz-Date=2&X-Amz-Credential=3",
        "Signature=1&Expires=2&Key-Pair-Id=3",
        "sv=1&se=2&sig=3",
        "X-Goog-Signature=1&X-Goog-Expires=9",
    ],
)
def test_a_signature_is_no_part_of_an_address(signature):
    assert identity_url(f"https://a.example/x?v=2&{signature}") == "https://a.example/x?v=2"


def test_parameters_that_only_look_like_a_signature_stay():
    assert identity_url("https://a.example/x?se=1&sp=2") == "https://a.example/x?se=1&sp=2"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://a.example/a/b.pdf?x=1", "b.pdf"),
        ("https://a.example/", "document"),
        ("https://a.example/%2e%2e%2f%2e%2e%2fpasswd", "passwd"),
        ("https://a.example/a b;c.pdf", "a_b_c.pdf"),
    ],
)
def test_the_name_of_an_address_leads_nowhere_else(url, name):
    assert name_of_url(url) == name


def test_tenants_have_folders_that_cannot_be_each_others():
    names = ["acme", "Acme", "../acme", "t-acme", "a/b", ".staging", "ä"]

    folders = [tenant_folder(name) for name in names]

    assert folders[0] == "acme"
    assert len(set(folders)) == len(names)
    assert all("/" not in folder and not folder.startswith(".") for folder in folders)


def test_a_hash_or_a_type_that_is_none_is_refused():
    for fields in ({"sha256": "abc"}, {"type": "pdf"}, {"bytes": -1}, {"bytes": 2**63}):
        with pytest.raises(InvalidValue):
            Item("https://a.example/x", **fields)
