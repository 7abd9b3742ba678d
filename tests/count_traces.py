"""Counts calls, results and failures of foreign traces, independently of the product.

Prints one line a file: name, runs with messages, calls, results, failures. Used by tests/foreign/traces.rs.
"""

import json
import os
import sys


def conversations(document):
    if isinstance(document, dict):
        return [run["messages"] for run in document["simulations"]]
    return [run["traj"] for run in document]


def is_failure(message):
    if message.get("error") is not None:
        return message["error"]
    return (message["content"] or "").startswith("Error:")


for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        runs = conversations(json.load(file))
    messages = [message for run in runs for message in run]
    results = [message for message in messages if message["role"] == "tool"]
    calls = sum(len(message.get("tool_calls") or []) for message in messages)
    failures = sum(map(is_failure, results))
    print(os.path.basename(path), len(runs), calls, len(results), failures)
