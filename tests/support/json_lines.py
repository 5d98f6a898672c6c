"""Files with a JSON value a line, as runs and preference pairs are written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def json_lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]
