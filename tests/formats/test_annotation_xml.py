# SPDX-License-Identifier: Apache-2.0
"""An annotation in XML is read in any encoding, and no other kind of file is taken for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.errors import InputError
from referee.formats.xml_truth import annotation_of

FILE = Path("xml/a.xml")


def declared(name: str, text: str = "你好") -> str:
    """Return an annotation that declares an encoding."""
    return f"<?xml version='1.0' encoding=\"{name}\"?>\n<annotation><a>{text}</a></annotation>"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (declared("GBK").encode("gbk"), "你好"),
        (declared("gb2312").encode("gb2312"), "你好"),
        (declared("gb2312", "镕").encode("gb18030"), "镕"),
        (declared("GB18030", "😀").encode("gb18030"), "😀"),
        (declared("Big5").encode("big5"), "你好"),
        (declared("Shift_JIS", "①犬").encode("cp932"), "①犬"),
        (declared("EUC-KR", "개").encode("euc_kr"), "개"),
        (declared("euc-jp", "犬").encode("euc_jp"), "犬"),
        (declared("windows-1251", "кот").encode("cp1251"), "кот"),
        (declared("ISO-8859-1", "größe").encode("latin-1"), "größe"),
        (declared("cp936").encode("gbk"), "你好"),
        (declared("utf-8").encode("utf-8-sig"), "你好"),
        (declared("utf8").encode(), "你好"),
        (declared("utf-16").encode("utf-16"), "你好"),
        (declared("UTF-16LE").encode("utf-16-le"), "你好"),
        (declared("utf-16").encode("utf-16-be"), "你好"),
        (declared("utf-32").encode("utf-32"), "你好"),
        (declared("utf-16").encode("utf-8"), "你好"),
        (declared("GBK").encode("utf-8-sig"), "你好"),
        ("<annotation><a>你好</a></annotation>".encode(), "你好"),
        ("<annotation><a>犬</a></annotation>".encode("utf-16"), "犬"),
    ],
)
def test_an_encoding_that_python_knows_is_read(content: bytes, text: str) -> None:
    """The mark counts before the declaration, and the set that programs really write."""
    assert text == annotation_of(FILE, content).findtext("a")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (declared("klingon").encode(), "declares the encoding 'klingon', which nobody here knows"),
        (declared("rot13").encode(), "'rot13', which nobody here knows"),
        (declared("base64").encode(), "'base64', which nobody here knows"),
        (declared("utf-8").encode("gbk"), "line 2: not text in UTF-8, as it declares"),
        ("<annotation>\n\n你</annotation>".encode("gbk"), "line 3: not text in UTF-8, as XML"),
        (declared("ascii").encode(), "line 2: not text in ASCII"),
        (declared("utf-7", "+2D0-").encode(), "not text in UTF-7"),
        (declared("undefined").encode(), "not text in UNDEFINED"),
        (b"", "line 1, column 0: not XML"),
        (b"<annotation>", "line 1, column 12: not XML"),
        (b"\0" * 99, "not XML"),
        (declared("\0x").encode(), "not XML"),
        (b"<annotations><image/></annotations>", "'annotations', not 'annotation': .*CVAT"),
        (b"<dataset><images/></dataset>", "'dataset', not 'annotation': .*imglab"),
        (b"<Annotation/>", "'Annotation', not 'annotation': it is XML of another kind"),
        (b"<a xmlns='http://x.org/'/>", "'{http://x.org/}a', not"),
        (b"<!DOCTYPE html>\n<html><body><br></body>", "is a page of HTML"),
        (b"\n <!-- x --><HTML lang=en><p>404", "is a page of HTML"),
        (b"<html xmlns='http://www.w3.org/1999/xhtml'></html>", "is a page of HTML"),
    ],
)
def test_what_is_no_annotation_is_refused_by_name(content: bytes, message: str) -> None:
    """The sentence names the file and says what it is."""
    with pytest.raises(InputError, match=rf"a\.xml.* ?{message}"):
        annotation_of(FILE, content)
