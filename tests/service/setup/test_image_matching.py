# SPDX-License-Identifier: Apache-2.0
"""Every image of the ground truth is one file, and every used file one image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from referee.errors import InputError
from referee.service.setup.image_matching import ImageMatching, ListedImage, match_images


def matched(files: Sequence[str], names: Mapping[int, str | None]) -> ImageMatching:
    """Match the names of a ground truth, each of which stands in a file of its own."""
    listed = {own: ListedImage(name, f"{own}.xml") for own, name in names.items()}
    return match_images("images", files, listed, ["notes.txt", "c.bmp", "a.txt"])


def numbers(matching: ImageMatching) -> list[tuple[int, int, str]]:
    """Return (image id, id in the ground truth, file) of each image."""
    return [(image.image_id, image.source_id, image.file) for image in matching.images]


def test_two_images_of_one_file_are_refused() -> None:
    """The refusal names the file and both entries, wherever the entries differ."""
    with pytest.raises(InputError) as refused:
        matched(["img0.jpg", "b.jpg"], {4: "Test/img0.jpg", 7: "Train/img0.jpg", 9: "b.jpg"})
    told = str(refused.value)
    assert "img0.jpg is the only file for two images" in told
    assert "'Test/img0.jpg' (4.xml) and 'Train/img0.jpg' (7.xml)" in told


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["a.jpg"], {1: "a.jpg", 2: "a.jpg"}),
        (["a.jpg"], {1: "a.jpg", 2: "A"}),
        (["1.jpg"], {1: None, 2: "1.jpg"}),
        (["1.jpg", "2.jpg"], {1: "1.jpg", 2: "2.jpg", 3: "x/2.jpg"}),
    ],
)
def test_no_spelling_makes_two_images_of_one_file(
    files: list[str], names: dict[int, str | None]
) -> None:
    """The same file under two names is refused, in a numbered folder too."""
    with pytest.raises(InputError, match="is the only file for two images"):
        matched(files, names)


def test_folders_tell_equal_names_apart() -> None:
    """Entries with one base name are two images where the folder has both files."""
    files = ["Test/img0.jpg", "Test/img1.jpg", "Train/img0.jpg", "Train/img1.jpg"]
    names = {k: name for k, name in enumerate(reversed(files), start=10)}
    expected = [(k - 9, k, name) for k, name in names.items()]
    assert expected == numbers(matched(files, names))


def test_an_image_that_two_files_could_be_is_refused() -> None:
    """The refusal names both files and the entry."""
    with pytest.raises(InputError, match=r"holds d/a\.jpg and e/a\.jpg, and 'a\.jpg' \(3\.xml\)"):
        matched(["d/a.jpg", "e/a.jpg"], {3: "a.jpg"})
    with pytest.raises(InputError, match=r"holds 5\.jpg and 5\.png, and image 5 could"):
        matched(["5.jpg", "5.png"], {5: None})


def test_an_image_of_another_kind_is_told() -> None:
    """An image that is there as a bitmap is not called missing; its labels are no image."""
    with pytest.raises(InputError, match=r"c\.bmp is named as neither JPEG nor PNG"):
        matched(["b.jpg"], {1: "b.jpg", 2: "sub\\c.bmp"})
    with pytest.raises(InputError, match=r"1 of 1 image is not there: a\.jpg"):
        matched(["b.jpg"], {1: "a.jpg"})


def test_a_file_with_another_suffix_is_named() -> None:
    """Programs write a.jpg of a.png; nobody knows whether it was converted, so it is asked."""
    with pytest.raises(InputError, match=r"x/a\.jpg is not there, but a\.png is\."):
        matched(["a.png"], {1: "x/a.jpg"})


def test_a_numbered_folder_keeps_its_numbers_beside_other_folders() -> None:
    """What lies in other folders changes no number, and a folder around changes none either."""
    names = {30: "1.jpg", 20: "2.jpg", 10: "3.jpg"}
    beside = ["1.jpg", "2.jpg", "3.jpg", "thumbs/1.jpg", "thumbs/x.jpg"]
    expected = [(1, 30, "1.jpg"), (2, 20, "2.jpg"), (3, 10, "3.jpg")]
    assert expected == numbers(matched(beside, names))
    inside = [f"images/{k}.jpg" for k in (1, 2, 3)]
    expected = [(1, 30, inside[0]), (2, 20, inside[1]), (3, 10, inside[2])]
    assert expected == numbers(matched(inside, names))


def test_numbers_in_two_folders_are_names() -> None:
    """The k-th image in ascending order of own ids is image k."""
    files = ["a/1.jpg", "a/2.jpg", "b/1.jpg", "b/2.jpg"]
    names = {40: "a/1.jpg", 30: "a/2.jpg", 20: "b/1.jpg", 10: "b/2.jpg"}
    expected = [(1, 10, "b/2.jpg"), (2, 20, "b/1.jpg"), (3, 30, "a/2.jpg"), (4, 40, "a/1.jpg")]
    assert expected == numbers(matched(files, names))


def test_what_the_truth_lists_is_counted_apart() -> None:
    """A numbered folder may have an image without a box; it is used and not listed."""
    matching = matched(["1.jpg", "2.jpg", "3.jpg"], {1: None, 3: None})
    assert (3, 2) == (len(matching.images), matching.listed)
