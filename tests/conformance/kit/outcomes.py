"""Writes what came of each test of the kit into the file that A2A_EDGE_OUTCOMES names: a JSON object to a line."""

import json
import os

import pytest

LEVELS = ("must", "should", "may")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.when != "call" and report.passed:
        return
    if hasattr(report, "wasxfail"):
        # At SHOULD and MAY the kit expects a failure, and tells why there was one.
        result, reason = ("passed" if report.passed else "failed"), report.wasxfail
    elif report.skipped:
        result, reason = "skipped", report.longrepr[2]
    else:
        result, reason = report.outcome, report.longreprtext
    line = {
        "id": item.nodeid,
        "level": next((level for level in LEVELS if item.get_closest_marker(level)), None),
        "outcome": result,
        "reason": reason.removeprefix("reason: ").removeprefix("Skipped: "),
    }
    with open(os.environ["A2A_EDGE_OUTCOMES"], "a", encoding="utf-8") as lines:
        lines.write(json.dumps(line) + "\n")
