# SPDX-License-Identifier: BSD-3-Clause
"""The account of a fragment program: what it says of the end."""

import pytest

from tailrace.fragments.record import UNPLACED, ended_account, problems_said

MESSAGE = "p.fa:3:5: error: y is written twice [SEM1]"


@pytest.mark.parametrize(
    ("lines", "reason", "kind", "message"),
    [
        ([MESSAGE], "", "program", "p.fa:3:5: y is written twice"),
        ([MESSAGE], "rank 1 was killed", "program", "rank 1 was killed"),
        ([], "rank 1 was killed", "killed", "rank 1 was killed"),
        (["tailrace-fragments: no memory"], "", "program", UNPLACED),
    ],
)
def test_a_failure_has_its_kind_and_a_message(lines, reason, kind, message):
    account = ended_account({}, 3, 1.0, reason, problems_said(lines))
    assert account["status"] == "failed" and account["reason"] == message
    assert account["error"] == {"kind": kind, "message": message}


def test_a_finished_program_has_neither_reason_nor_error():
    account = ended_account({}, 0, 1.0, "", [])
    assert account["status"] == "finished" and not account.keys() & {"reason", "error"}
