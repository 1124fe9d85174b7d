"""Shows that what is wrong is noticed: the blocks of the pages in `broken` have to fail, each for the reason that stands in the
comment before it. Ends with `docs-notices: N passed, M failed`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from languages import ROOT
from names import missing
from run import BROKEN, faults

_NAMES = """`src/lib.rs` `src/nothing.rs` `tests/docs/*.py` `tests/docs/*.none` `Host::no_such_function` `Host::dispatch`
`tests/docs/run.py::main` `tests/docs/run.py::no_such_test`
[there](README.md#agenthost) [nowhere](nowhere.md) [no section](README.md#nothing) [elsewhere](https://example.org/)"""
_MISSING = [
    "there is no src/nothing.rs",
    "there is no tests/docs/*.none",
    "no source has Host::no_such_function",
    "tests/docs/run.py has no no_such_test",
]
_MISSING += ["the link nowhere.md leads nowhere", "README.md has no section #nothing"]
_EXPECTED = re.compile(r"<!-- fails: (?P<reason>.*) -->")


def main() -> int:
    passed = failed = 0
    pages = sorted((ROOT / BROKEN).glob("*.md"))
    names = [page.relative_to(ROOT) for page in pages]
    found = dict(faults(names, []))
    for page, name in zip(pages, names, strict=True):
        lines = page.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            if not (expected := _EXPECTED.fullmatch(line.strip())):
                continue
            # The block begins two lines further down.
            wrong = found.pop(f"{name}:{number + 2}", None)
            if wrong is not None and expected["reason"] in wrong:
                passed += 1
            else:
                failed += 1
                print(f"docs-notices: FAILED {name}:{number + 2}: expected {expected['reason']!r}, found {wrong!r}")
    for place, wrong in found.items():
        if wrong is not None:
            failed += 1
            print(f"docs-notices: FAILED {place}: {wrong}")
    if (unnamed := missing(Path("page.md"), _NAMES)) == [f"page.md: {each}" for each in _MISSING]:
        passed += 1
    else:
        failed += 1
        print(f"docs-notices: FAILED names that nobody has: found {unnamed}")
    print(f"docs-notices: {passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
