"""Dispatches a page's requests to a scripted service, and compares what comes out with the page's responses.

Reads a JSON list of `{"kind", "request", "response"}` from standard input, and writes a list of what is wrong with each, or
null. A `response` is what the service gave, its body or the error that it raised. A `refusal` is the dispatcher's own: the
service is not asked.
Runs with the Python that has the package.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import agenthost


class Scripted:
    """Answers each call with what the page's response says, and counts how often it is asked."""

    def __init__(self, response: dict[str, Any]) -> None:
        self.response = response
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name not in {operation.value for operation in agenthost.Operation}:
            raise AttributeError(name)

        def answer(request: object, call: object) -> Any:
            self.asked.append(name)
            if self.response["ok"]:
                return self.response["body"]
            error = self.response["error"]
            raise agenthost.HostError(
                error["code"],
                error["message"],
                retryable=error["retryable"],
                details=error["details"],
                metadata=error["metadata"],
            )

        return answer


def wrong(kind: str, request: str, response: str) -> str | None:
    """What is wrong with a pair, if anything."""
    expected = json.loads(response)
    service = Scripted(expected)
    found = json.loads(agenthost.Host(service).dispatch_json(request.encode()))
    asked = [json.loads(request)["operation"]] if kind == "response" else []
    if service.asked != asked:
        return f"the service was asked {service.asked}, expected {asked}"
    if found != expected:
        return f"the response is\n{json.dumps(found, indent=2)}"
    agenthost.decode_response(response.encode())
    return None


if __name__ == "__main__":
    json.dump([wrong(**pair) for pair in json.load(sys.stdin)], sys.stdout)
