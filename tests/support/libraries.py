# SPDX-License-Identifier: Apache-2.0
"""Large libraries that the core extra of the tests does not bring."""

from __future__ import annotations

import os

EXTRAS = {
    "ai_edge_litert": "litert",
    "coremltools": "coreml",
    "cv2": "camera",
    "distributed": "season",
    "onnxruntime": "onnx",
    "pandas": "pandas",
    "sphinx": "docs",
}
"""The extra that brings a library, by the library's module."""

FOR_DEVELOPERS = {"test", "test-all", "check", "docs", "release"}
"""The extras that no user installs."""


def reason_to_skip(error: BaseException | None) -> str | None:
    """Return why a file of tests that could not be imported is skipped, or None if it is not.

    Under `CI=true` all libraries must be there.
    """
    missing = (error.name or "").partition(".")[0] if isinstance(error, ImportError) else ""
    if missing not in EXTRAS or os.environ.get("CI") == "true":
        return None
    return f"needs the extra [{EXTRAS[missing]}]. Install: pip install -e '.[test-all]'"
