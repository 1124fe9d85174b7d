"""Runs every code block of every page: `run.py [LANGUAGE...]`, all of them by default. Ends with `docs: N passed, M failed`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from blocks import BadPage, Block, blocks
from languages import LANGUAGES, ROOT, Folders

BROKEN = "tests/docs/broken/"


def pages() -> list[Path]:
    """The pages of the repository, by their names in it."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    return [Path(name) for name in names if not name.startswith(BROKEN)]


def faults(names: list[Path], chosen: list[str]) -> list[tuple[str, str | None]]:
    """Runs the blocks of the pages: the place of each, and what is wrong with it."""
    found: list[tuple[str, str | None]] = []
    runnable: list[Block] = []
    for name in names:
        try:
            runnable += blocks(ROOT / name, name)
        except BadPage as bad:
            found.append((str(bad).partition(": ")[0], str(bad)))
    if not chosen:
        for block in runnable:
            if block.language not in LANGUAGES:
                found.append((block.place, f"nothing runs {block.language!r}: a block that cannot run is no code block"))
    with tempfile.TemporaryDirectory(prefix="agenthost-docs-") as scratch:
        folders = Folders(Path(scratch))
        runners = dict.fromkeys(LANGUAGES[name] for name in LANGUAGES if not chosen or name in chosen)
        for runner in runners:
            own = [block for block in runnable if LANGUAGES.get(block.language) is runner]
            began = time.monotonic()
            if own:
                found += zip([block.place for block in own], runner(own, folders), strict=True)
                print(f"docs: {len(own)} by {runner.__name__} in {time.monotonic() - began:.1f} s", flush=True)
    return found


def main(chosen: list[str]) -> int:
    if unknown := set(chosen) - set(LANGUAGES):
        print(f"usage: run.py [{'|'.join(LANGUAGES)}]... ({', '.join(unknown)} is none)", file=sys.stderr)
        return 2
    results = faults(pages(), chosen)
    for place, wrong in results:
        if wrong:
            print(f"docs: FAILED {place}\n{wrong.rstrip()}")
    failed = sum(wrong is not None for _, wrong in results)
    print(f"docs: {len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
