# SPDX-License-Identifier: Apache-2.0
"""The sample client as the demo's and the drill's contestants need it."""

from __future__ import annotations

from collections.abc import Iterator

from client_sample.client import Referee


class LaterClient(Referee):
    """A client that may begin with a later image, because it was started again.

    With `shown` it asks the screen of the camera track to show each image, and gets no bytes.
    """

    def __init__(
        self, url: str, *, ca_file: str | None = None, first: int = 1, shown: bool = False
    ) -> None:
        super().__init__(url, ca_file=ca_file)
        self._first = first
        self._path = "/image_camera" if shown else "/image"

    def images(self, count: int, by_hundreds: bool = False) -> Iterator[tuple[int, bytes]]:
        """Yield the number and the bytes of each image from the first one on."""
        for image_id in range(self._first, count + 1):
            yield image_id, self._ask(self._path, token=self._token, image_name=image_id)
