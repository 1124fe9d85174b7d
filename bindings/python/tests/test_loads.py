"""Free JSON as Python values: the same as ``json.loads`` makes of it."""

from __future__ import annotations

import json
import random
from typing import Any

import agenthost
import pytest


def read(text: str) -> Any:
    return agenthost.CreateRun(agenthost.ExecutionContext("r"), input_json=text).input


def same(text: str) -> None:
    found, expected = read(text), json.loads(text)
    # `repr` tells 1 from 1.0 and True, and shows the order of members.
    assert repr(found) == repr(expected)


STRUCTURE = ["null", "true", "[]", "{}", "[[],{},[[]]]", '{"":{"":[""]}}', '{"a":1,"b":2,"a":3}', '"\\ud83d\\ude00\\u0000\\n"']
NUMBERS = ["0", "-0", "-0.0", "1e5", "1E-7", "123456789012345678", "18446744073709551616", "-9223372036854775809"]
EXTREMES = ["1.7976931348623157e308", "5e-324"]


@pytest.mark.parametrize("text", STRUCTURE + NUMBERS + EXTREMES)
def test_a_value_is_what_json_makes_of_it(text: str) -> None:
    same(text)


def test_names_are_told_apart_in_a_long_text() -> None:
    """More names than are remembered, with the same length and ends, and with escapes."""
    names = [f"{first}{n:03}{last}" for first in "aä" for last in ("z", '"', "\\", "ü") for n in range(50)] + ["", "a", "ä"]
    items = [{name: n for n, name in enumerate(names)} for _ in range(3)]
    for escaped in (False, True):
        same(json.dumps(items, ensure_ascii=escaped))


def test_nested_lists_and_objects_come_back_whole() -> None:
    chance = random.Random(1)

    def value(depth: int) -> Any:
        kind = chance.randrange(8 if depth else 5)
        if kind >= 5:
            items = [value(depth - 1) for _ in range(chance.randrange(6))]
            return items if kind < 7 else {chance.choice("abcdefä"): item for item in items}
        return chance.choice([None, True, chance.random(), chance.randrange(-1000, 10**18), "x" * chance.randrange(20)])

    for _ in range(50):
        same(json.dumps([value(8) for _ in range(20)]))
