# SPDX-License-Identifier: Apache-2.0
"""Logs of AIoTBench are read as one, in pieces, and each fault is named by file and line."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.errors import InputError
from referee.extras.aiotbench import classification_log, line_chunks
from referee.extras.aiotbench.classification_log import (
    FIELDS,
    ImageNumbers,
    WholeNumbers,
    read_logs,
)
from referee.extras.aiotbench.score import Tally

WORKLOADS = ("mo_tfc", "sq_py", "re_ca")
HEADER = ",".join(FIELDS)
Row = tuple[str, str, int, int, float]


def read(folder: Path, *contents: bytes | str, chunk: int = 2**20) -> dict[str, Tally]:
    """Write each content into a file of its own, and read them as one log."""
    paths = []
    for number, content in enumerate(contents, 1):
        paths.append(folder / f"log{number}.csv")
        paths[-1].write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            classification_log, "read_chunks", lambda path: line_chunks.read_chunks(path, chunk)
        )
        return read_logs(paths, WORKLOADS, "MODEL_IMPLEMENTATION")


def refusal(folder: Path, *contents: bytes | str) -> str:
    """Return the error of logs that cannot be read, without the folder."""
    with pytest.raises(InputError) as caught:
        read(folder, *contents)
    return str(caught.value).replace(f"{folder}/", "")


def test_a_log_adds_up(tmp_path):
    """Images, right answers and times of each workload are added up."""
    found = read(
        tmp_path,
        "1,mo_tfc,5,5,0.25\n2,mo_tfc,5,6,0.5\n1,sq_py,5,5,1\n",
    )
    assert {"mo_tfc": Tally(2, 1, 0.75), "sq_py": Tally(1, 1, 1.0)} == found


@pytest.mark.parametrize(
    "content",
    [
        f"{HEADER}\n1,mo_tfc,5,5,0.25\n2,mo_tfc,7,5,0.5\n",
        f"{', '.join(FIELDS)}\r\n1, mo_tfc, 5, 5, 0.25\r\n2, mo_tfc, 7, 5, 0.5\r\n",
        "1 mo_tfc 5 5 0.25\n2\tmo_tfc\t7\t5\t0.5",
        "\ufeff1 , mo_tfc,5,5,2.5e-1\n\n   \n2,mo_tfc,7.0,5,.5\n\n",
        "1,mo_tfc,5,5,0.25\r2,mo_tfc,7,5,0.5\r",
        "1.jpg,mo_tfc,05,5,+0.25\nILSVRC2012_val_00000002.JPEG,mo_tfc,7,5,5e-1\n",
    ],
)
def test_every_way_to_write_a_log_reads_alike(content, tmp_path):
    """Header, blanks, line ends, a byte order mark and blank lines do not change the result."""
    assert {"mo_tfc": Tally(2, 1, 0.75)} == read(tmp_path, content)


def number(value: float) -> st.SearchStrategy[str]:
    """Return ways to write a number."""
    return st.sampled_from([repr(value), f"{value:.17e}", f"+{value!r}"])


@st.composite
def logs(draw: st.DrawFn) -> list[Row]:
    """Return rows without a double."""
    keys = draw(
        st.lists(st.tuples(st.integers(0, 40), st.sampled_from(WORKLOADS)), min_size=1, unique=True)
    )
    label = st.integers(-3, 1000)
    time_s = st.floats(1e-6, 1e6)
    return [(str(image), name, draw(label), draw(label), draw(time_s)) for image, name in keys]


def expected(rows: list[Row]) -> dict[str, Tally]:
    """Add rows up, one by one."""
    found = {}
    for name in {row[1] for row in rows}:
        own = [row for row in rows if row[1] == name]
        right = sum(row[2] == row[3] for row in own)
        found[name] = Tally(len(own), right, math.fsum(row[4] for row in own))
    return found


@given(logs(), st.data())
def test_any_log_adds_up_however_it_is_cut(tmp_path_factory, rows, data):
    """Order of lines, separators, pieces and files never change a bit of the result."""
    shuffled = data.draw(st.permutations(rows))
    separator = st.sampled_from([",", ", ", " ", "\t", " , "])
    lines = [
        data.draw(separator).join([*map(str, row[:4]), data.draw(number(row[4]))])
        for row in shuffled
    ]
    cut = data.draw(st.integers(0, len(lines)))
    end = data.draw(st.sampled_from(["\n", "\r\n"]))
    files = [HEADER + end + end.join(lines[:cut]), end.join(lines[cut:])]
    folder = tmp_path_factory.mktemp("logs")
    assert expected(rows) == read(folder, *files, chunk=data.draw(st.integers(1, 200)))


@given(logs(), st.data())
def test_a_second_line_of_an_image_is_always_found(tmp_path_factory, rows, data):
    """Wherever two lines of one image and workload stand, the error names both lines."""
    first = data.draw(st.integers(0, len(rows) - 1))
    second = data.draw(st.integers(first + 1, len(rows)))
    image, name = rows[first][:2]
    again = data.draw(st.sampled_from([image, f"00{image}", f"{image}.jpg", f"{image}.0"]))
    rows = [*rows[:second], (again, name, 1, 1, 0.5), *rows[second:]]
    text = "".join(f"{','.join(map(str, row))}\n" for row in rows)
    folder = tmp_path_factory.mktemp("logs")
    with pytest.raises(InputError) as caught:
        read(folder, text, chunk=data.draw(st.integers(1, 200)))
    assert f"log1.csv, line {second + 1}, image_id: image '{image}' of {name}" in str(caught.value)
    assert str(caught.value).endswith(f"log1.csv, line {first + 1}")


@given(st.binary(max_size=200))
def test_no_content_breaks_the_reader(tmp_path_factory, content):
    """Any bytes give a result or one sentence that names the file."""
    folder = tmp_path_factory.mktemp("logs")
    try:
        read(folder, content, chunk=7)
    except InputError as error:
        assert "log1.csv" in str(error)


@given(logs(), st.text("0123456789abcdefxyz_,. \t\nmo", max_size=40))
def test_columns_and_lines_agree_about_every_fault(tmp_path_factory, rows, noise):
    """Reading by columns accepts exactly the logs that reading line by line accepts."""
    text = "".join(f"{','.join(map(str, row))}\n" for row in rows) + noise

    def outcome() -> object:
        try:
            return read(folder, text)
        except InputError as error:
            return str(error)

    folder = tmp_path_factory.mktemp("logs")
    by_columns = outcome()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(classification_log.LogReader, "_read_fast", lambda self, line, text: None)
        assert outcome() == by_columns


def test_the_same_image_in_two_files_is_refused(tmp_path):
    """The error names both files and lines."""
    assert (
        "log2.csv, line 2, image_id: image '7' of mo_tfc was logged before: log1.csv, line 1"
        == refusal(tmp_path, "7,mo_tfc,1,1,0.5\n", f"{HEADER}\n7,mo_tfc,1,1,0.5\n")
    )


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("2,mo_xx,1,1,0.5", "workload_id: 'mo_xx' is not a workload: give MODEL_IMPLEMENTATION"),
        ("2,MO_TFC,1,1,0.5", "workload_id: 'MO_TFC' is not a workload"),
        ("2,mo_tfc,1.5,1,0.5", "real_label: '1.5' is not a whole number"),
        ("2,mo_tfc,1,cat,0.5", "predict_label: 'cat' is not a whole number"),
        ("2,mo_tfc,1,nan,0.5", "predict_label: 'nan' is not a whole number"),
        ("2,mo_tfc,1,,0.5", "predict_label: '' is not a whole number"),
        ("2,mo_tfc,1,1,0", "time: '0' is not a time above 0, in seconds"),
        ("2,mo_tfc,1,1,-0.5", "time: '-0.5' is not a time above 0"),
        ("2,mo_tfc,1,1,nan", "time: 'nan' is not a time above 0"),
        ("2,mo_tfc,1,1,inf", "time: 'inf' is not a time above 0"),
        ("2,mo_tfc,1,1,1e-300", "time: '1e-300' is not a time above 0"),
        ("2,mo_tfc,1,1,1_0", "time: '1_0' is not a time above 0"),
        ("2,mo_tfc,1,1,0.5s", "time: '0.5s' is not a time above 0"),
        (",mo_tfc,1,1,0.5", "image_id: '' is not an image's name"),
        ("a\x07,mo_tfc,1,1,0.5", r"image_id: 'a\x07' is not an image's name"),
        ("2,mo_tfc,1,1", "has 4 fields, not 5: give image_id,workload_id,"),
        ("2,mo_tfc,1,1,0.5,9", "has 6 fields, not 5"),
        (HEADER, "is a header: only a file's first line may be one"),
        ("1,mo_tfc,1,1,0.5", "image_id: image '1' of mo_tfc was logged before: log1.csv, line 2"),
    ],
)
def test_a_fault_is_named_by_file_line_and_field(line, fault, tmp_path):
    """Each fault gets its own sentence, with the place and what is expected."""
    content = f"{HEADER}\n1,mo_tfc,1,1,0.5\n{line}\n3,mo_tfc,1,1,0.5\n"
    found = refusal(tmp_path, content)
    assert found.startswith("log1.csv, line 3")
    assert fault in found


def test_cells_that_slide_into_another_line_are_refused(tmp_path):
    """A line with a cell too many and a line with one too few do not make up for each other."""
    found = refusal(tmp_path, "1,mo_tfc,1,1,0.1,2\nmo_tfc,3,3,0.2\n")
    assert found.startswith("log1.csv, line 1 has 6 fields")


def test_images_may_have_any_name(tmp_path):
    """Names that are no numbers, and numbers of more than 64 bits, name images by their text."""
    names = ["cat", "dog.png", str(2**64), str(2**64 + 1), "-1", "7"]
    text = "".join(f"{name},mo_tfc,1,1,0.5\n" for name in names)
    assert Tally(6, 6, 3.0) == read(tmp_path, text)["mo_tfc"]


@pytest.mark.parametrize("content", ["", "\n \n", f"{HEADER}\n"])
def test_a_log_without_a_line_is_refused(content, tmp_path):
    """Without any line there is nothing to score, and the error says what a log has."""
    assert f"log1.csv: no line of a workload; give lines {HEADER}" == refusal(tmp_path, content)


def test_content_that_is_no_text_is_refused(tmp_path):
    """UTF-16 and broken UTF-8 are named, with the line."""
    assert "log1.csv, the text is in UTF-16: save it as UTF-8" == refusal(
        tmp_path, HEADER.encode("utf-16")
    )
    assert refusal(tmp_path, b"1,mo_tfc,1,1,0.5\n\xff\n").startswith("log1.csv, line 2 is not text")


def test_files_that_cannot_be_read_are_named(tmp_path):
    """A missing file and a folder each get a sentence."""
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_logs([tmp_path / "none.csv"], WORKLOADS, "")
    with pytest.raises(InputError, match="is a folder"):
        read_logs([tmp_path], WORKLOADS, "")


def test_images_get_running_numbers():
    """Texts of one number are one image; other texts are images of their own."""
    images = ImageNumbers()
    texts = ["7", "cat", "007", "7.jpg", "7.0", "cat.jpg", "7"]
    assert [0, 1, 0, 0, 0, 2, 0] == [images[text] for text in texts]
    assert 3 == images.count


def test_numbers_too_large_for_64_bits_are_different_images():
    """Two numbers of more than 64 bits do not become one image."""
    images = ImageNumbers()
    assert [0, 1, 0] == [images[text] for text in (str(2**70), str(2**70 + 1), str(2**70))]


@pytest.mark.parametrize("text", ["", "a\x00", "a\u2028b"])
def test_a_text_that_nobody_can_read_names_no_image(text):
    """An empty text, or one with control characters, is refused each time."""
    images = ImageNumbers()
    for _ in range(2):
        with pytest.raises(ValueError):
            images[text]
    assert 0 == images.count


def test_whole_numbers_are_read_in_each_form():
    """A label may be written 7, 07 or 7.0; anything else is refused each time."""
    labels = WholeNumbers()
    assert [7, 7, 7, -1] == [labels[text] for text in ("7", "07", "7.0", "-1")]
    for text in ("7.5", "x", "", "nan", "7.5"):
        with pytest.raises(ValueError):
            labels[text]


@pytest.mark.parametrize("blank", ["", " "], ids=["by columns", "line by line"])
def test_labels_that_are_one_off_are_counted(blank, tmp_path):
    """Of five answers one is right, two are one above and one is one below the real label."""
    labels = [(5, 5), (5, 6), (7, 8), (9, 8), (9, 3)]
    lines = [f"{n},{blank}mo_tfc, {real},{got},0.5" for n, (real, got) in enumerate(labels)]
    tally = read(tmp_path, "\n".join(lines) + "\n")["mo_tfc"]
    assert (5, 1, 2, 1) == (tally.images, tally.right, tally.one_above, tally.one_below)
