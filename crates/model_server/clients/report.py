"""What the Python clients share: a check is a name and what the client made of the answer, one line each."""

import json
import os
import sys

QUESTION = "Is anybody there?"
SYSTEM = "Answer in one sentence."
PARAMETERS = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "lines": {"type": "integer", "minimum": 3}},
    "required": ["path", "lines"],
    "additionalProperties": False,
}
ANSWER = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": ["met", "open"]}, "count": {"type": "integer"}},
    "required": ["verdict", "count"],
    "additionalProperties": False,
}
RESULT = "3 lines"


def bases():
    """The base URLs, from the lines that the server prints."""
    return dict(line.split(" ", 1) for line in os.environ["MODEL_SERVER_BASES"].splitlines())


def report(name, value):
    """Says what came of a check."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    print(f"{name}: {text}")


def check(name, make):
    """Runs a check; whatever it raises is what came of it."""
    try:
        value = make()
    except Exception as error:  # whatever it is, it is the result
        value = f"raised {type(error).__name__}: {error}"
    report(name, value)
    sys.stdout.flush()
