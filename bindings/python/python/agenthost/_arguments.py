"""What hosts are made with, checked for callers without a type checker. What a value means, the core judges."""

from __future__ import annotations

from collections.abc import Iterable


def check_timeout(timeout: float | None, *, zero: bool = False) -> None:
    if timeout is None:
        return
    check_seconds("timeout", timeout, "seconds or None")
    if not (timeout > 0 or (zero and timeout == 0)):
        raise ValueError(f"timeout: expected more than 0 seconds, found {timeout}")


def check_seconds(name: str, value: float, expected: str = "seconds") -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name}: expected {expected}, found {type(value).__name__}")


def check_count(name: str, value: int, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name}: expected an integer, found {type(value).__name__}")
    if not least <= value < 2**63:
        raise ValueError(f"{name}: expected at least {least}, and less than 2**63")


def names(sensitive_names: Iterable[str]) -> list[str]:
    if isinstance(sensitive_names, str):
        raise TypeError("sensitive_names: expected several names, found one string")
    return list(sensitive_names)
