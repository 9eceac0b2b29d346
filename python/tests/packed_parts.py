# SPDX-License-Identifier: BSD-3-Clause
"""What pages hold packed, as their script takes it apart."""

import base64
import json
import zlib
from typing import Any


def unpacked(text: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(text)))
