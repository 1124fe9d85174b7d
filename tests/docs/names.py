"""Looks whether the pages name what exists: paths, `path::test` and `Type::function` in code spans, relative links, anchors."""

from __future__ import annotations

import functools
import re
import subprocess
import sys
from pathlib import Path

from languages import ROOT
from run import pages

_FOLDERS = ("src", "tests", "docs", "bindings", "include", "benches", "examples", "fuzz", ".github", ".ci")
_FENCED = re.compile(r"^```.*?^```", flags=re.MULTILINE | re.DOTALL)
_SPAN = re.compile(r"`([^`]+)`")
_PATH = re.compile(rf"^(?P<path>(?:{'|'.join(map(re.escape, _FOLDERS))})/[^\s:]*)(?:::(?P<name>\w+))?$")
_ITEM = re.compile(r"^[A-Za-z_]\w*(?:::\w+)+$")
_LINK = re.compile(r"\]\((?P<target>[^)#]*)(?:#(?P<anchor>[^)]*))?\)")


def anchors(page: str) -> set[str]:
    """The anchors of a page's headings, as they are made on the web."""
    headings = re.findall(r"^#+ (.*)$", _FENCED.sub("", page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@functools.cache
def words() -> set[str]:
    """Every word of the sources."""
    kinds = ["*.rs", "*.h", "*.hpp", "*.py", "*.js", "*.mjs", "*.sh", "*.toml"]
    listed = subprocess.run(["git", "ls-files", *kinds], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    # A file that is listed and not there is one that is being moved. Here stand names that nobody has.
    sources = (ROOT / name for name in listed if (ROOT / name).exists() and not name.startswith("tests/docs/"))
    return {word for source in sources for word in re.findall(r"\w+", source.read_text(encoding="utf-8", errors="replace"))}


def missing(name: Path, text: str) -> list[str]:
    """What the page names and nobody has. A path may be a pattern; it is looked for from the root, and from the page's folder."""
    found = []
    for span in _SPAN.findall(_FENCED.sub("", text)):
        if _ITEM.match(span):
            found += [f"{name}: no source has {span}"] * (not set(span.split("::")) <= words())
        if not (named := _PATH.match(span)):
            continue
        there = [*ROOT.glob(named["path"].rstrip("/")), *(ROOT / name.parent).glob(named["path"].rstrip("/"))]
        if not there:
            found.append(f"{name}: there is no {named['path']}")
        elif named["name"] and not any(re.search(rf"\b{named['name']}\b", path.read_text(encoding="utf-8")) for path in there):
            found.append(f"{name}: {named['path']} has no {named['name']}")
    for link in _LINK.finditer(_FENCED.sub("", text)):
        if "://" in link["target"]:
            continue
        target = ROOT / name.parent / link["target"] if link["target"] else ROOT / name
        if not target.exists():
            found.append(f"{name}: the link {link['target']} leads nowhere")
        elif link["anchor"] and link["anchor"] not in anchors(target.read_text(encoding="utf-8")):
            found.append(f"{name}: {target.name} has no section #{link['anchor']}")
    return found


def main() -> int:
    wrong = [each for name in pages() for each in missing(name, (ROOT / name).read_text(encoding="utf-8"))]
    for each in wrong:
        print(each)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
