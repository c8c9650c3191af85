# SPDX-License-Identifier: Apache-2.0
"""Contents that are no list of numbers: archives, tables of other programs, pages, pictures.

Somebody names the wrong file, or a download brought something else. Then the kind is told, with
what to do, and no line of it is quoted.
"""

from __future__ import annotations

import codecs
import re
import zlib

_HEAD = 560  # A tar archive tells its kind at byte 257.
_LOOK = 65_536

_UNPACK = "unpack it"
_AS_CSV = "save it as CSV"
_EXPORT = "export it as CSV, or as COCO JSON"
_ROWS = "write its rows as CSV"
_WRONG_FILE = "give the file of text that was meant"
_PAGE = "download the file itself"
_WORKBOOK = "an Excel workbook or an archive"

# What stands at the beginning of a file, or at another place, and what it says about the file.
_KINDS: tuple[tuple[int, bytes, str, str], ...] = (
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", _WORKBOOK, _AS_CSV),
    (257, b"ustar", "a tar archive", _UNPACK),
    (0, b"\x1f\x8b", "gzip data that are packed twice", _UNPACK),
    (0, b"\x1f\x9d", "data packed by compress (.Z)", _UNPACK),
    (0, b"\xfd7zXZ\x00", "data packed by xz", _UNPACK),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (0, b"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    (0, b"\x28\xb5\x2f\xfd", "data packed by zstd", _UNPACK),
    (0, b"\x04\x22\x4d\x18", "data packed by lz4", _UNPACK),
    (0, b"LZIP", "data packed by lzip", _UNPACK),
    (0, b"\xff\x06\x00\x00sNaPpY", "data packed by snappy", _UNPACK),
    (0, b"MSCF", "a cabinet archive", _UNPACK),
    (0, b"!<arch>\n", "an ar archive", _UNPACK),
    (0, b"070701", "a cpio archive", _UNPACK),
    (0, b"\x93NUMPY", "an array of NumPy (.npy)", _ROWS),
    (0, b"PAR1", "a Parquet table", _EXPORT),
    (0, b"ARROW1", "an Arrow or Feather table", _EXPORT),
    (0, b"FEA1", "a Feather table", _EXPORT),
    (0, b"\xff\xff\xff\xff", "an Arrow stream", _EXPORT),
    (0, b"ORC", "an ORC table", _EXPORT),
    (0, b"Obj\x01", "an Avro table", _EXPORT),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file", _EXPORT),
    (0, b"CDF\x01", "a netCDF file", _EXPORT),
    (0, b"CDF\x02", "a netCDF file", _EXPORT),
    (0, b"MATLAB 5.0 MAT-file", "a MATLAB file", _EXPORT),
    (0, b"RDX2\n", "a file of R", _EXPORT),
    (0, b"RDX3\n", "a file of R", _EXPORT),
    (0, b"SQLite format 3\x00", "an SQLite database", _EXPORT),
    (0, b"%PDF-", "a PDF document", _EXPORT),
    (0, b"{\\rtf", "a document in RTF", "save it as plain text"),
    (0, b"%!PS", "a PostScript document", _EXPORT),
    (0, b"\x89PNG\r\n\x1a\n", "a PNG picture", _WRONG_FILE),
    (0, b"\xff\xd8\xff", "a JPEG picture", _WRONG_FILE),
    (0, b"GIF8", "a GIF picture", _WRONG_FILE),
    (0, b"II*\x00", "a TIFF picture", _WRONG_FILE),
    (0, b"MM\x00*", "a TIFF picture", _WRONG_FILE),
    (8, b"WEBP", "a WebP picture", _WRONG_FILE),
    (4, b"ftyp", "a film, or a picture in HEIF or AVIF", _WRONG_FILE),
    (0, b"RIFF", "a film or a sound", _WRONG_FILE),
    (0, b"\x1aE\xdf\xa3", "a film", _WRONG_FILE),
    (4, b"TFL3", "a TensorFlow Lite model", _WRONG_FILE),
    (0, b"\x7fELF", "a program", _WRONG_FILE),
    (0, b"MZ\x90\x00", "a program", _WRONG_FILE),
    (0, b"\x00\x05\x16\x07", "what macOS keeps beside a file", "name the file without '._'"),
    (0, b"\x00\x00\x00\x01Bud1", "a .DS_Store of macOS", _WRONG_FILE),
    (0, b"version https://git-lfs", "a pointer of Git LFS", "fetch the file: git lfs pull"),
    (0, b"version https://hawser", "a pointer of Git LFS", "fetch the file: git lfs pull"),
)
_PATTERNS = (
    (rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)", "data packed by bzip2", _UNPACK),
    (rb"BM.{4}\x00{4}", "a BMP picture", _WRONG_FILE),
    (rb"\x5d\x00\x00.{2}", "data packed by lzma", _UNPACK),
    (rb"\x80[\x02-\x05].", "a pickle of Python", _ROWS),
    (rb"\([ld]p\d+\n|c[\w.]+\n\w+\n[(p]", "a pickle of Python", _ROWS),
    (rb"[./]*(?:git/)?annex/objects/", "a pointer of git-annex", "fetch the file: git annex get"),
    (rb"outs:\s*\n\s*- (?:md5|hash|etag|size|path)\b", "a pointer of DVC", "fetch it: dvc pull"),
    (rb"<{7} ", "a file with a merge of git that is not resolved", "resolve it"),
    (rb"(?:<\?xml\b.*)?<svg\b", "an SVG picture", _WRONG_FILE),
    (
        rb"(?:<\?xml\b.*|<!--.*)?<(?:!doctype\s+html|html|head|body|title|script)\b",
        "a web page",
        _PAGE,
    ),
    (rb"<[?!a-z]", "an XML file", "give the folder of a ground truth in XML, or JSON or CSV"),
)
_ZIPPED = (
    ((b"[Content_Types].xml", b"opendocument", b"Index/Document.iwa"), _WORKBOOK, _AS_CSV),
    ((b".npy",), "arrays of NumPy (.npz)", _ROWS),
    ((b"data.pkl",), "a file of PyTorch", _ROWS),
    ((b"",), "a zip archive", _UNPACK),
)
_MATCHES = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), what, advice)
    for pattern, what, advice in _PATTERNS
)
_BLANKS = b"\xef\xbb\xbf \t\r\n"
_USUAL_BEGINNINGS = frozenset(b'0123456789[{"-+.#,')
_CONTROLS = bytes({*range(32)} - set(b"\t\n\v\f\r\x1b"))
_MOST_CONTROLS = 2
# Ways to read packed data that lack a header, or its beginning: zlib's numbers of a format, and
# what stands in for the bytes that are gone.
_HEADLESS = ((-15, b""), (15, b""), (31, b"\x1f\x8b"), (31, b"\x1f"), (31, b"\x1f\x8b\x08"))
_PRINTABLE = re.compile(rb"[\t\n\r -~]+")
_SHORTEST = 16  # A shorter text may come out of any bytes.


def foreign_kind(content: bytes) -> str | None:
    """Return what the content is and what to do, if it is clearly no text of numbers, else None."""
    head = content[:_HEAD]
    beginning = head.lstrip(_BLANKS)
    controls = len(head) - len(head.translate(None, _CONTROLS))
    rich_text = beginning.startswith(b"{\\rtf")
    if not beginning or (not controls and beginning[0] in _USUAL_BEGINNINGS and not rich_text):
        return None
    encoding = _wide_encoding(head)
    if encoding is not None:
        return f"the text is in {encoding}: save it as UTF-8"
    known = _known(content, head, beginning)
    if known is not None:
        return f"this is {known[0]}, not text: {known[1]}"
    if controls <= _MOST_CONTROLS:
        return None
    if _is_headless(content):
        return "this is packed data without the header of gzip, not text: pack the file again"
    return f"this is binary data, not text (it begins with {head[:4].hex(' ')}): {_WRONG_FILE}"


def _known(content: bytes, head: bytes, beginning: bytes) -> tuple[str, str] | None:
    """Return the kind of the content and the advice, if its beginning tells them."""
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")):
        names = content[:_LOOK] + content[-_LOOK:]  # Each member's name is at both ends.
        return next((w, a) for marks, w, a in _ZIPPED if any(one in names for one in marks))
    for place, magic, what, advice in _KINDS:
        if head.startswith(magic, place):
            return what, advice
    return next((found[1:] for found in _MATCHES if found[0].match(beginning)), None)


def _wide_encoding(head: bytes) -> str | None:
    """Return the encoding of a text of two or four bytes a character, with its mark or without."""
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "UTF-32"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "UTF-16"
    for width, encoding in ((4, "UTF-32"), (2, "UTF-16")):
        planes = sorted((head[place::width] for place in range(width)), key=_zeros)
        # A character of a list of numbers has one byte that counts; the others are zero.
        few = 0.9 * len(head) / width
        if len(head) >= 2 * width and _PRINTABLE.fullmatch(planes[0]):
            if all(_zeros(plane) >= few for plane in planes[1:]):
                return encoding
    return None


def _zeros(plane: bytes) -> int:
    return plane.count(0)


def _is_headless(content: bytes) -> bool:
    """Tell whether the content unpacks to text, once what may be missing is put before it."""
    for form, missing in _HEADLESS:
        try:
            text = zlib.decompressobj(form).decompress(missing + content[:_LOOK], _HEAD)
        except zlib.error:
            continue
        if len(text) >= _SHORTEST and _PRINTABLE.fullmatch(text):
            return True
    return False
