"""The Python code in the documentation: each block stands alone, or says in its first line which section's it goes on from."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / "README.md", ROOT / "bindings" / "python" / "README.md", ROOT / "docs" / "python.md"]

_PART = re.compile(r"^#+ (?P<heading>[^\n]*)$|^```(?P<language>\w*)\n(?P<code>.*?)^```", flags=re.MULTILINE | re.DOTALL)
_GOES_ON = re.compile(r'# Goes on from "(?P<section>.*)"\.\n')


def programs(page: Path) -> dict[str, str]:
    """What a reader runs: the code of each section, after that of the section it goes on from."""
    found: dict[str, str] = {}
    heading = page.stem
    for part in _PART.finditer(page.read_text(encoding="utf-8")):
        if part["heading"] is not None:
            heading = part["heading"]
        if part["language"] != "python":
            continue
        code = part["code"]
        goes_on = _GOES_ON.match(code)
        assert heading not in found, f"{page.name}: two blocks under {heading!r}: a block is named by its section"
        found[heading] = (found[goes_on["section"]] + "\n\n" if goes_on else "") + code
    assert found, f"{page.name} has no Python code"
    return found
