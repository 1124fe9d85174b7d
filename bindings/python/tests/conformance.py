"""Plays the contract's vectors through the package. Ends with ``python: N passed, M failed``.

``dispatch.jsonl`` goes through a host four times: a service of ``def`` methods with typed results and with dicts, one of
``async def`` methods awaited, and one dispatched synchronously on the home loop. What is refused before any service is asked
goes through a host of durable runs too, which has to answer with the same bytes. ``client.jsonl`` goes through
``decode_response``. ``AGENTHOST_VECTORS`` names another folder.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Callable
from typing import Any

import agenthost
from vectors import AsyncScript, Json, Script, decoded, equal, expect, load, message

_MEMBERS = {"protocolVersion", "requestId", "operation", "ok", "body", "error"}
_LOOP = asyncio.new_event_loop()
_DURABLE = agenthost.Host.open("memory:")


def _sync_typed(vector: dict[str, Json]) -> tuple[Script, bytes]:
    script = Script(vector.get("reply"), dicts=False)
    return script, agenthost.Host(script).dispatch_json(message(vector, "request"))


def _sync_dicts(vector: dict[str, Json]) -> tuple[Script, bytes]:
    script = Script(vector.get("reply"), dicts=True)
    return script, agenthost.Host(script).dispatch_json(bytearray(message(vector, "request")))


def _awaited(vector: dict[str, Json]) -> tuple[Script, bytes]:
    script = AsyncScript(vector.get("reply"), dicts=False)
    host = agenthost.Host(script)
    return script, _LOOP.run_until_complete(host.dispatch_json_async(message(vector, "request")))


def _at_home(vector: dict[str, Json]) -> tuple[Script, bytes]:
    script = AsyncScript(vector.get("reply"), dicts=True)
    with agenthost.Host(script) as host:
        return script, host.dispatch_json(message(vector, "request"))


def play_durable(vector: dict[str, Json]) -> None:
    request = message(vector, "request")
    wanted = agenthost.Host(Script(None, dicts=False)).dispatch_json(request)
    for found in (_DURABLE.dispatch_json(request), _LOOP.run_until_complete(_DURABLE.dispatch_json_async(request))):
        if found != wanted:
            raise AssertionError(f"expected {wanted!r}, found {found!r}")


def play_dispatch(way: Callable[[dict[str, Json]], tuple[Script, bytes]], vector: dict[str, Json]) -> None:
    script, response = way(vector)
    if len(script.seen) > 1:
        raise AssertionError("the service was called more than once")
    expect("call", vector["call"], script.seen[0] if script.seen else None)
    found = json.loads(response)
    wanted = vector["response"]
    if set(found) != _MEMBERS:
        raise AssertionError(f"members {sorted(found)}")
    for name in ("ok", "requestId", "operation"):
        if wanted[name] != "*":
            expect(name, wanted[name], found[name])
    if wanted["ok"]:
        expect("error", None, found["error"])
        expect("body", wanted["body"], found["body"])
        return
    expect("body", {}, found["body"])
    error = found["error"]
    for name in ("code", "retryable", "details"):
        if name in wanted:
            expect(name, wanted[name], error[name])
    for name, value in wanted.get("error", {}).items():
        expect(name, value, error[name])
    if vector["call"] is None and not error["message"]:
        raise AssertionError("a refusal without a message")
    if error["code"] == "internal":
        _nothing_leaks(vector, response.decode())


def _nothing_leaks(vector: dict[str, Json], response: str) -> None:
    error = (vector.get("reply") or {}).get("error") or {}
    secrets = [error.get("message", "")]
    for member in ("details", "metadata"):
        if isinstance(error.get(member), dict):
            secrets += [value if isinstance(value, str) else json.dumps(value) for value in error[member].values()]
    for secret in secrets:
        if len(secret) > 3 and secret in response:
            raise AssertionError(f"the response tells {secret!r}")


def play_client(vector: dict[str, Json]) -> None:
    wanted = vector["expect"]
    try:
        response = agenthost.decode_response(message(vector, "response"))
    except agenthost.BadResponse:
        expect("outcome", wanted["outcome"], "rejected")
        return
    if response.error is None:
        expect("outcome", wanted["outcome"], "ok")
        if "decoded" in wanted:
            expect("decoded", wanted["decoded"], decoded(response.result))
        return
    expect("outcome", wanted["outcome"], "error")
    error = response.error
    found = {
        "code": str(error.code),
        "message": error.message,
        "retryable": error.retryable,
        "details": error.details,
        "metadata": error.metadata,
        "originalCode": error.original_code,
    }
    for name, value in wanted.get("error", {}).items():
        expect(name, value, found[name])


def plays() -> list[tuple[str, Callable[[dict[str, Json]], Any], dict[str, Json]]]:
    """Every way of every vector: name, how, vector."""
    ways = {"sync": _sync_typed, "dicts": _sync_dicts, "await": _awaited, "home loop": _at_home}
    found: list[tuple[str, Callable[[dict[str, Json]], Any], dict[str, Json]]] = []
    for vector in load():
        if "expect" in vector:
            found.append((vector["name"], play_client, vector))
            continue
        for name, way in ways.items():
            found.append((f"{vector['name']} ({name})", lambda vector, way=way: play_dispatch(way, vector), vector))
        if vector["call"] is None:
            found.append((f"{vector['name']} (durable)", play_durable, vector))
    return found


def main() -> int:
    assert equal(1, 1.0)
    assert not equal(True, 1)
    logging.disable(logging.CRITICAL)
    passed = failed = 0
    for name, play, vector in plays():
        try:
            play(vector)
            passed += 1
        except Exception as error:
            failed += 1
            print(f"python: FAILED {name}: {type(error).__name__}: {error}")
    if passed == 0:
        failed += 1
        print("python: FAILED the vectors: none found")
    print(f"python: {passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
