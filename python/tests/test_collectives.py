# SPDX-License-Identifier: BSD-3-Clause
"""scripts/collectives.py finds functions without a tag, and a page that is not what the headers say."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "collectives.py"
HEADER = """#pragma once
namespace tailrace::mpi {
/// Sums up. @collective{comm}, synchronises.
double sum(CommView comm, double value);
std::int64_t sum(CommView comm, std::int64_t value);

/// Says nothing of ranks.
int plain(int value);

/// Sees all ranks.
class Group {
 public:
  /// @collective{comm}
  explicit Group(CommView comm);
  Group(const Group&) = delete;
  ~Group();
  [[nodiscard]] int size() const noexcept { return size_; }
  /// Looks at this rank. @local
  bool
  ready();
%s
 private:
  void hidden(CommView comm);
  int size_ = 0;
};
/// Values on their way.
class Message {
 public:
  /// Waits for it. @neighbour
  void finish();
  /// @local
  void look();
  /// What to do with it. @collective
  std::function<void(int)> act;
};
}  // namespace tailrace::mpi
"""


def collectives(root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, str(SCRIPT), *options, str(root)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


@pytest.fixture
def root(tmp_path) -> Path:
    (tmp_path / "include/tailrace").mkdir(parents=True)
    (tmp_path / "docs/reference").mkdir(parents=True)
    plant(tmp_path, "")
    return tmp_path


def plant(root: Path, member: str) -> None:
    (root / "include/tailrace/group.hpp").write_text(HEADER % member)


def test_page(root):
    done = collectives(root)
    assert (done.returncode, done.stdout) == (0, "collectives: 6 functions, 0 problems\n")
    rows = [
        line for line in (root / "docs/reference/collectives.md").read_text().splitlines() if "`mpi::" in line
    ]
    assert rows == [
        "| `mpi::sum` | collective (comm) |",
        "| `mpi::Group::Group` | collective (comm) |",
        "| `mpi::Group::size` | local |",
        "| `mpi::Group::ready` | local |",
        "| `mpi::Message::finish` | neighbour |",
    ]
    assert collectives(root, "--check").returncode == 0


@pytest.mark.parametrize(
    ("member", "count"),
    [
        ("  /// Does something.\n  void act();", 0),
        ("  void act();", 0),
        ("  /// @local, or @collective{comm} at times.\n  void act();", 2),
    ],
)
def test_a_function_without_its_one_tag(root, member, count):
    plant(root, "\n" + member)
    done = collectives(root)
    assert done.returncode == 1
    assert f"tailrace/group.hpp: mpi::Group::act has {count} tags instead of one" in done.stdout


def test_a_page_that_is_not_current(root):
    collectives(root)
    plant(root, "\n  /// @local\n  void act();")
    done = collectives(root, "--check")
    assert done.returncode == 1 and "collectives.md is not what the headers say" in done.stdout


def test_this_checkout():
    done = collectives(ROOT, "--check")
    assert done.returncode == 0, done.stdout
