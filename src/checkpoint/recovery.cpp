// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "checkpoint/local.hpp"
#include "checkpoint/store.hpp"
#include "mpi/node.hpp"
#include "mpi/verdict.hpp"
#include "node_store.hpp"
#include "shared_copy.hpp"
#include "tailrace/error.hpp"

namespace tailrace::checkpoint {

namespace {

/// The note of the earlier segment, on all ranks.
std::optional<LocalMark> shared_mark(mpi::CommView comm, const std::string& directory) {
  LocalMark mark;
  if (comm.is_root()) mark = read_local_mark(directory).value_or(LocalMark{});
  mark = {.run = mpi::broadcast(comm, mark.run, 0), .directory = mpi::broadcast(comm, mark.directory, 0)};
  if (mark.run.empty()) return {};
  return mark;
}

/// Chooses, among the parts of one step that the ranks have found, one of each rank that wrote.
class Choice {
 public:
  Choice(mpi::CommView comm, const LocalMark& mark, StepIndex step, const std::vector<PartFile>& found)
      : comm_(comm) {
    for (const auto& file : found)
      if (file.step == step) try_to([&] { take(mark, file); });
    ranks_ = mpi::max(comm, parts_.empty() ? 0 : std::int64_t{parts_.front().part.ranks});
    for (bool changed = true; changed;) {
      choose();
      const auto before = parts_.size();
      for (const auto& part : chosen()) check(part);
      changed = mpi::max(comm, std::int64_t{parts_.size() != before}) != 0;
    }
  }

  /// The parts that this rank is to copy: of several of one rank, as where nodes share a file system, the
  /// first.
  [[nodiscard]] std::vector<StoredPart> chosen() const {
    std::vector<StoredPart> mine;
    for (const auto& part : parts_) {
      const bool twice = std::any_of(mine.begin(), mine.end(),
                                     [&](const auto& other) { return other.part.rank == part.part.rank; });
      if (!twice && before_[static_cast<std::size_t>(part.part.rank)] == 0) mine.push_back(part);
    }
    return mine;
  }
  /// The ranks that wrote parts which nobody has.
  [[nodiscard]] const std::vector<int>& missing() const noexcept { return missing_; }
  [[nodiscard]] std::int64_t ranks() const noexcept { return ranks_; }

 private:
  void take(const LocalMark& mark, const PartFile& file) {
    auto part = read_part(file.description);
    if (part.run == mark.run && part.rank == file.rank && part.origin.step == file.step)
      parts_.push_back({std::move(part), file});
  }

  /// A part that is damaged does not count.
  template <class Action>
  static bool try_to(const Action& action) {
    try {
      action();
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  void check(const StoredPart& part) {
    if (try_to([&] { verify(part.part, part.file.data); })) return;
    std::erase_if(parts_, [&](const auto& other) { return other.file.data == part.file.data; });
  }

  /// The lowest rank that has a part copies it.
  void choose() {
    std::vector<std::int64_t> have(static_cast<std::size_t>(ranks_));
    for (const auto& part : parts_) have[static_cast<std::size_t>(part.part.rank)] = 1;
    before_ = mpi::exclusive_scan(comm_, have);
    have = mpi::sum(comm_, have);
    missing_.clear();
    for (std::size_t rank = 0; rank < have.size(); ++rank)
      if (have[rank] == 0) missing_.push_back(static_cast<int>(rank));
  }

  mpi::CommView comm_;
  std::vector<StoredPart> parts_;
  std::int64_t ranks_ = 0;
  std::vector<std::int64_t> before_;  ///< lower ranks that have the part of each rank, too
  std::vector<int> missing_;
};

}  // namespace

bool has_local_level(const std::string& directory) {
  return read_local_mark(directory).has_value();
}

std::vector<std::string> complete_from_nodes(mpi::CommView comm, const std::string& directory,
                                             const output::WriteOptions& options) {
  std::vector<std::string> warnings;
  const auto mark = shared_mark(comm, directory);
  if (!mark) return warnings;
  StepIndex newest = -1;
  mpi::collectively_on_root(comm, [&] {
    if (const auto there = list_checkpoints(directory); !there.empty()) newest = there.front().step;
  });
  newest = mpi::max(comm, newest);
  const mpi::Node node(comm);
  std::vector<PartFile> found;
  if (node.comm().is_root()) found = list_parts(*mark);
  for (;;) {
    StepIndex mine = -1;
    for (const auto& file : found) mine = std::max(mine, file.step);
    const auto step = mpi::max(comm, mine);
    if (step <= newest) return warnings;
    const Choice choice(comm, *mark, step, found);
    if (choice.ranks() > 0 && choice.missing().empty()) {
      SharedCopy(comm, directory, choice.chosen(), options).finish();
      return warnings;
    }
    warnings.push_back(fmt::format(
        "the checkpoint of step {} on the nodes ({}) is left out: {} of {} parts are missing or damaged, of "
        "ranks {}",
        step, segment_directory(*mark), choice.missing().size(), choice.ranks(),
        fmt::join(choice.missing(), " ")));
    std::erase_if(found, [&](const auto& file) { return file.step >= step; });
  }
}

void forget_local_level(mpi::CommView comm, const std::string& directory) {
  const auto mark = shared_mark(comm, directory);
  if (!mark) return;
  if (comm.is_root()) remove_local_mark(directory);
  const mpi::Node node(comm);
  if (node.comm().is_root()) remove_segment(*mark);
}

}  // namespace tailrace::checkpoint
