# SPDX-License-Identifier: BSD-3-Clause
"""What is said of a job that left no account."""

import pytest

from tailrace.account import how_it_ended


@pytest.mark.parametrize(
    ("returncode", "messages", "reason"),
    [
        (3, [], "the program ended with status 3 and without an account"),
        (3, ["tailrace-poisson: out.h5: No space left. Fix: free some"], "the program ended with status 3"),
        (5, ["tailrace-heat: warning: slow"], "the program ended with status 5 and without an account"),
        (-9, [], "the job was killed by SIGKILL"),
        (137, [], "a rank was killed by SIGKILL"),
    ],
)
def test_reasons(returncode, messages, reason):
    assert how_it_ended(returncode, messages) == (reason, None)
