"""What hosts are made with, checked for callers without a type checker. What a value means, the core judges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

#: Stands for an argument that was left out, where None is a value: JSON's null, or a principal that is missing by mistake.
ABSENT: Any = ...


def checked_timeout(timeout: float | None, *, zero: bool = False) -> float | None:
    """The seconds, or None for as long as it takes."""
    if timeout is None:
        return None
    seconds = checked_seconds("timeout", timeout, "seconds or None")
    if not (seconds > 0 or (zero and seconds == 0)):
        raise ValueError(f"timeout: expected more than 0 seconds, found {timeout}")
    return seconds


def checked_seconds(name: str, value: float, expected: str = "seconds") -> float:
    """The seconds as a plain float."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name}: expected {expected}, found {type(value).__name__}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name}: expected seconds that a clock can count") from None


def check_count(name: str, value: int, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name}: expected an integer, found {type(value).__name__}")
    if not least <= value < 2**63:
        raise ValueError(f"{name}: expected at least {least}, and less than 2**63")


def string_list(name: str, values: Iterable[str]) -> list[str]:
    if isinstance(values, str):
        raise TypeError(f"{name}: expected several strings, found one string")
    return list(values)


def copy_mapping(value: object) -> dict[Any, Any] | None:
    """The items of a mapping, and None for anything else."""
    mapping: Any = value
    return dict(mapping) if isinstance(value, Mapping) else None
