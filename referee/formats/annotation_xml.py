# SPDX-License-Identifier: Apache-2.0
"""One file of XML annotations as text and tree: any encoding, and no other kind of file.

Expat, Python's own parser of XML, reads few encodings. So the text is decoded before it gets it.
"""

from __future__ import annotations

import codecs
import re
from pathlib import Path
from xml.etree import ElementTree

from referee.errors import InputError
from referee.formats.faults import quoted

_ROOT = "annotation"
_DECLARED = re.compile(rb"""\s*<\?xml\s[^>]*?encoding\s*=\s*["']([\w.:+ -]{1,40})["']""")
# The longer marks first: that of UTF-32 begins like that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
    (b"<\0\0\0", "utf-32-le"),
    (b"\0\0\0<", "utf-32-be"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)
# What programs write under these names has characters of the larger set.
_LARGER = {"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc_kr": "cp949"}
_HTML = re.compile(r"\s*(<!--.*?-->\s*)*<(!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL)
# Whose files have this root, and how the program exports what the referee reads.
_OTHER_TOOLS = {
    "annotations": (
        "it has all images in one file, as CVAT exports them: export as 'PASCAL VOC' or 'COCO'"
    ),
    "dataset": "it has all images in one file, as dlib's imglab writes them: convert it to COCO",
}
_PAGE = "a page of HTML, as a server sends it in place of a file: fetch the file again"


def annotation_of(file: Path, content: bytes) -> ElementTree.Element:
    """Return the root of an ILSVRC or PASCAL VOC annotation.

    Raises `InputError` naming the file for text in an unknown encoding or not in the one that it
    declares, for what is not XML, and for XML of another kind: it would count as an image without
    objects.
    """
    text = _text(file, content)
    if _HTML.match(text[:10_000]):
        raise InputError(f"{file} is {_PAGE}")
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        line, column = error.position
        raise InputError(
            f"{file}, line {line}, column {column}: not XML; complete or correct it there"
        ) from None
    if root.tag != _ROOT:
        kind = _OTHER_TOOLS.get(root.tag, "it is XML of another kind")
        raise InputError(
            f"{file} has the root {quoted(root.tag)}, not '{_ROOT}': {kind}."
            " Keep only annotations of ILSVRC or PASCAL VOC in the folder"
        )
    return root


def _text(file: Path, content: bytes) -> str:
    """Return the text of a file in the encoding that its mark or its declaration says."""
    encoding = _encoding(content)
    try:
        text = content.decode(_LARGER.get(codecs.lookup(encoding).name, encoding))
        text.encode("utf-8")  # Some encodings can write half a character.
    except LookupError:
        raise InputError(
            f"{file} declares the encoding {quoted(encoding)}, which nobody here knows: save it as"
            " UTF-8"
        ) from None
    except UnicodeError as error:
        start = error.start if isinstance(error, UnicodeDecodeError) else 0
        line = content.count(b"\n", 0, start) + 1
        why = "as it declares" if _DECLARED.match(content) else "as XML without a declaration is"
        raise InputError(
            f"{file}, line {line}: not text in {encoding.removesuffix('-sig').upper()}, {why};"
            " save it as UTF-8"
        ) from None
    return text


def _encoding(content: bytes) -> str:
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return encoding
    declared = _DECLARED.match(content)
    name = declared[1].decode("ascii", "replace").strip() if declared else "utf-8"
    # Windows's programs declare UTF-16 and write UTF-8. The declaration could not be read else.
    return "utf-8" if re.match(r"(utf|ucs).?(16|32|2|4)", name, re.IGNORECASE) else name
