# SPDX-License-Identifier: Apache-2.0
"""The answers of the 2015-2019 referee, byte for byte, because old clients compare them."""

from __future__ import annotations

from referee.service.setup.extra import all_extras

VALID_TOKEN = "Valid Token\n"
LOGOUT_SUCCESS = "Logout success\n"
RESULT_STORED = "Result stored in the server database\n"
RESULT_MISMATCH = "Result field length mismatch\n"
DISPLAY_SUCCESS = "Display success\n"
DISPLAY_FAILED = "Display failed to start\n"

INVALID_USER = "Invalid User"
"""The answer of `/no_of_images` to a bad token; it differs from all other routes' answer."""

OLD_TYPE = "text/html; charset=utf-8"
"""The type of the old referee's texts, which are no HTML; its clients get it still."""

PLAIN_TYPE = "text/plain; charset=utf-8"
"""The type of every other text."""

OLD_ROUTES = frozenset(
    "/login /get_token /verify /no_of_images /logout /image /zipimages /image_camera "
    "/result".split()
)
"""The routes of 2015-2019 on which its clients read texts."""

ANSWERS: dict[str, tuple[int, str | None]] = {
    "username_missing": (401, "Missing username or password\n"),
    "login_invalid": (401, "Invalid username or password\n"),
    "login_busy": (401, None),
    "login_failed": (500, "Invalid username or password\n"),
    "not_armed": (401, None),
    "session_over": (401, None),
    "other_session_live": (401, None),
    "other_lane": (401, None),
    "meter_unavailable": (500, "Powermeter not connected\n"),
    "other_device": (403, None),
    "token_missing": (400, None),
    "token_invalid": (401, "Invalid Token\n"),
    "image_name_missing": (400, None),
    "image_index_empty": (500, "Invalid Image index\n"),
    "image_index_invalid": (406, "Invalid Image index\n"),
    "image_index_out_of_range": (406, "Image index out of range\n"),
    "archive_index_invalid": (406, "Image index out of range\n"),
    "image_missing": (500, "Image not found\n"),
    "lists_unequal": (406, RESULT_MISMATCH),
    "fields_unused": (406, RESULT_MISMATCH),
    "not_a_number": (406, RESULT_MISMATCH),
    "too_many_rows": (413, None),
    "length_missing": (411, None),
    "body_too_large": (413, None),
    "body_truncated": (400, None),
    "body_too_slow": (408, None),
    "form_invalid": (400, None),
    "media_type_unknown": (415, None),
    "not_stored": (500, None),
    "display_off": (500, DISPLAY_FAILED),
    "display_failed": (500, DISPLAY_FAILED),
    "images_shown": (406, None),
    "address_unknown": (404, None),
    "method_unknown": (405, None),
}
"""The status and text for each refusal code; None means that the refusal's sentence is sent."""


NEWER = frozenset({"fields_unused"})
"""Codes of refusals that use a text of the old referee where that took the request."""


def status_and_text(code: str) -> tuple[int, str | None]:
    """Return the status and text for a refusal's code, also of a guest or an answer format.

    That of a format's faulty body is 400.
    """
    guests = (extra.refusals[code] for extra in all_extras() if code in extra.refusals)
    return ANSWERS.get(code) or (next(guests, 400), None)
