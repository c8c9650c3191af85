# SPDX-License-Identifier: Apache-2.0
"""The runner's log survives a shut-down, and its list of pictures names each image once."""

from __future__ import annotations

from pathlib import Path

import pytest

from client_sample.aiotbench_log import HEADER, DataSetPicture, Log, read_pictures


def picture(image_id: str = "1", label: int = 5) -> DataSetPicture:
    """Return a picture that is not on the disk."""
    return DataSetPicture(image_id, Path(f"{image_id}.jpg"), label)


def listed(folder: Path, content: str, *names: str) -> list[DataSetPicture]:
    """Write a list of labels and these empty pictures, and read the list."""
    for name in names:
        (folder / name).touch()
    (folder / "labels.csv").write_text(content)
    return read_pictures(folder, folder / "labels.csv")


@pytest.mark.parametrize(
    "content",
    ["file,label\na_00012.JPEG,7\nb_00003.JPEG,9\n", "a_00012.JPEG 7\n\nb_00003.JPEG\t9\n"],
)
def test_a_list_of_labels_names_the_images_by_their_numbers(content, tmp_path):
    """Lines with comma or blanks, with a header or without, give id, path and label."""
    found = listed(tmp_path, content, "a_00012.JPEG", "b_00003.JPEG")
    assert [("12", 7), ("3", 9)] == [(it.image_id, it.label) for it in found]
    assert tmp_path / "a_00012.JPEG" == found[0].path


def test_names_without_a_number_of_their_own_are_the_ids(tmp_path):
    """If two names end in one number, or one in none, the names are the ids."""
    found = listed(tmp_path, "a1.png,1\nb1.png,2\nc.png,3\n", "a1.png", "b1.png", "c.png")
    assert ["a1", "b1", "c"] == [it.image_id for it in found]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("", "names no picture"),
        ("a.png,1\nb.png,x\n", r"line 2: 'b.png,x' is not file,label"),
        ("a.png,1\nb.png,1,2\n", "line 2"),
        ("a.png,1\nb.png,1\n", r"1 of the pictures do not exist; the first is .*b\.png"),
        ("a.png,1\na.jpg,1\n", "two pictures have the name 'a'"),
    ],
)
def test_a_faulty_list_of_labels_is_refused(content, sentence, tmp_path):
    """The error names the line, the picture or the name that is wrong."""
    with pytest.raises(ValueError, match=sentence):
        listed(tmp_path, content, "a.png", "a.jpg")


def test_a_log_is_read_back(tmp_path):
    """A log that is opened again knows its rows and adds new ones below."""
    log = Log(tmp_path / "log.csv")
    log.append("mo_tfc", picture("1"), 5, 0.25)
    log.append("mo_tfc", picture("2"), 6, 0.5)
    log.close()
    again = Log(tmp_path / "log.csv")
    assert {"mo_tfc": (2, 1, 0.75)} == again.totals
    assert (True, False) == (again.has("mo_tfc", picture("2")), again.has("sq_tfc", picture("2")))
    again.append("sq_tfc", picture("2"), 5, 1e-9)
    again.close()
    lines = (tmp_path / "log.csv").read_text().splitlines()
    assert [HEADER, "1,mo_tfc,5,5,0.250000000", "2,mo_tfc,5,6,0.500000000"] == lines[:3]
    assert "2,sq_tfc,5,5,0.000000001" == lines[3]


@pytest.mark.parametrize("cut", range(1, 26))
def test_a_row_that_a_shut_down_cut_off_is_dropped(cut, tmp_path):
    """Wherever the last row is cut, the log goes on with whole rows alone."""
    path = tmp_path / "log.csv"
    row = "2,mo_tfc,5,5,0.500000000\n"
    path.write_text(f"{HEADER}\n1,mo_tfc,5,5,0.250000000\n" + row[:-cut])
    log = Log(path)
    assert (1, len(row) - cut) == (log.totals["mo_tfc"][0], log.dropped)
    log.append("mo_tfc", picture("2"), 5, 0.5)
    log.close()
    assert f"{HEADER}\n1,mo_tfc,5,5,0.250000000\n{row}" == path.read_text()


def test_a_header_that_was_cut_off_is_written_again(tmp_path):
    """A shut-down in the very first line leaves a log that begins anew."""
    path = tmp_path / "log.csv"
    path.write_text(HEADER[:10])
    Log(path).close()
    assert HEADER + "\n" == path.read_text()


def test_another_file_is_not_taken_for_a_log(tmp_path):
    """A file with other lines is refused and stays as it is."""
    path = tmp_path / "log.csv"
    path.write_text("dear diary\n")
    with pytest.raises(ValueError, match="line 1: 'dear diary' is no row of a log"):
        Log(path)
    assert "dear diary\n" == path.read_text()


def test_other_labels_need_another_log(tmp_path):
    """A list with another label for a logged image is refused."""
    log = Log(tmp_path / "log.csv")
    log.append("mo_tfc", picture("1", 5), 5, 0.25)
    with pytest.raises(ValueError, match="label 5 for image 1, and the list of labels has 4"):
        log.has("mo_tfc", picture("1", 4))
    log.close()


def test_two_runs_do_not_write_one_log(tmp_path):
    """A second run on the same log is refused while the first one has it open."""
    log = Log(tmp_path / "log.csv")
    with pytest.raises(ValueError, match="another run is writing"):
        Log(tmp_path / "log.csv")
    log.close()
    Log(tmp_path / "log.csv").close()
