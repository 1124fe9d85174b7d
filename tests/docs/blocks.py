"""The code blocks of a Markdown page.

A block is named by the section that it stands in. It stands alone, or its first line says where it goes on: a comment of its
language that reads ``Goes on from "SECTION".``, the heading of an earlier section of the same page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<info>[^`]*)$")
_HIDDEN = re.compile(r"^\s*(?:>.*(?:`{3,}|~{3,})|<pre\b)")
_HEADING = re.compile(r"^#+ (?P<heading>.*)$")
_LIST = re.compile(r"^\s*([-*+]|\d+\.) ")
_GOES_ON = re.compile(r'(?:#|//|/\*|--) Goes on from "(?P<section>.*)"\.')


@dataclass(frozen=True)
class Block:
    """A code block: where it is, what its fence says (``words`` follow the language), its code, and all that is run for it."""

    page: Path
    line: int
    section: str
    language: str
    words: tuple[str, ...]
    code: str
    program: str

    @property
    def place(self) -> str:
        """For people, and unique."""
        return f"{self.page}:{self.line}"


class BadPage(Exception):
    """A page whose blocks cannot be told apart."""


def blocks(page: Path, name: Path) -> list[Block]:
    """All code blocks of a page, fenced or indented; those that are indented have no language."""
    found: list[Block] = []
    section = page.stem
    lines = page.read_text(encoding="utf-8").splitlines()
    at, in_list = 0, False
    while at < len(lines):
        line, first = lines[at], at + 1
        at += 1
        if heading := _HEADING.match(line):
            section, in_list = heading["heading"], False
        elif fence := _FENCE.match(line):
            body = []
            while at < len(lines) and not re.match(rf"^ *{fence['fence']}+\s*$", lines[at]):
                body.append(lines[at].removeprefix(fence["indent"]))
                at += 1
            if at == len(lines):
                raise BadPage(f"{name}:{first}: the fence is never closed")
            at += 1
            found.append(_block(found, name, first, section, fence["info"].split(), body))
        elif _HIDDEN.match(line):
            raise BadPage(f"{name}:{first}: a block in a quotation or in HTML is not run: write it as a fence of its own")
        elif _LIST.match(line):
            in_list = True
        elif line.strip() and not line.startswith(" "):
            in_list = False
        elif line.startswith(" " * (8 if in_list else 4)) and line.strip() and (first == 1 or not lines[first - 2].strip()):
            found.append(_block(found, name, first, section, [], [line]))
    return found


def _block(earlier: list[Block], page: Path, line: int, section: str, info: list[str], body: list[str]) -> Block:
    language, code = info[0] if info else "", "".join(f"{each}\n" for each in body)
    program = code
    if goes_on := _GOES_ON.match(code):
        before = [each for each in earlier if (each.section, each.language) == (goes_on["section"], language)]
        if len(before) != 1:
            raise BadPage(f"{page}:{line}: there are {len(before)} blocks of {language} before it under {goes_on['section']!r}")
        program = f"{before[0].program}\n\n{code}"
    return Block(page, line, section, language, tuple(info[1:]), code, program)
