# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of tests whose program is not built."""

from native import needs


def leaves_out(*programs: str) -> bool:
    return needs(*programs).args[0]


def test_left_out_but_on_a_ci_machine(tmp_path, monkeypatch):
    monkeypatch.setenv("TAILRACE_BIN_DIR", str(tmp_path))
    program = tmp_path / "tailrace-there"
    program.touch(mode=0o755)
    monkeypatch.delenv("CI", raising=False)
    assert not leaves_out("tailrace-there")
    assert leaves_out("tailrace-there", "tailrace-absent")
    assert "tailrace-absent" in needs("tailrace-absent").kwargs["reason"]
    monkeypatch.setenv("CI", "true")
    assert not leaves_out("tailrace-absent")
