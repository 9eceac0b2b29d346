// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/restore.hpp"

#include <fmt/format.h>

#include <set>

#include "checkpoint/store.hpp"
#include "contents.hpp"
#include "mpi/verdict.hpp"
#include "output/core/sink.hpp"
#include "restoration.hpp"
#include "tailrace/error.hpp"

namespace tailrace::checkpoint {

namespace {

[[noreturn]] void refuse_state(const std::string& path, const std::string& what) {
  throw Error(ErrorInfo{.kind = ErrorKind::input,
                        .message = fmt::format("{}: {}", path, what),
                        .path = path,
                        .rank = 0,
                        .hint = "give a checkpoint of this case"});
}

}  // namespace

class Checkpoint::Impl {
 public:
  Impl(mpi::CommView comm, std::string path, const std::string& simulation)
      : comm_(comm), path_(std::move(path)) {
    std::vector<std::byte> bytes;
    std::vector<Head> head(1);
    mpi::collectively_on_root(comm, [&] {
      const auto manifest = read_manifest(path_);
      if (manifest.simulation != simulation)
        refuse_state(path_,
                     fmt::format("is of the simulation {}, not of {}", manifest.simulation, simulation));
      head[0] = {manifest.step, manifest.time_s, manifest.ranks};
      bytes = to_bytes(read_contents(path_, manifest));
    });
    mpi::broadcast(comm, head, 0);
    mpi::broadcast(comm, bytes, 0);
    head_ = head[0];
    contents_ = contents_of(bytes);
  }

  [[nodiscard]] std::vector<std::string> restore(const StateFunction& state) const {
    std::vector<std::string> left;
    std::map<std::string, Restoration::Taken> taken;
    const auto restore_here = [&] {
      Restoration restoration(contents_, fmt::format("{}/{}", path_, state_file));
      state(restoration);
      left = restoration.left();
      taken = restoration.taken();
    };
    mpi::collectively(comm_, restore_here, output::close_limit_s);
    compare(taken);
    return left;
  }

  struct Head {
    StepIndex step = 0;
    double time_s = 0;
    int ranks = 0;
  };
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] const Head& head() const noexcept { return head_; }

 private:
  /// Finds out whether all ranks together took what was saved. All named the same sets.
  void compare(const std::map<std::string, Restoration::Taken>& taken) const {
    std::vector<std::uint64_t> mine;
    for (const auto& [path, part] : taken) mine.insert(mine.end(), {part.count, part.sum});
    const auto all = mpi::sum(comm_, mine);
    std::size_t i = 0;
    for (const auto& [path, part] : taken) {
      const auto& set = contents_.sets.at(path);
      const std::uint64_t count = all[i++], sum = all[i++];
      if (count != static_cast<std::uint64_t>(set.count))
        refuse_state(path_, fmt::format("{}: the ranks took {} of {}", path, count, set.count));
      if (sum != set.sum) refuse_state(path_, fmt::format("{}: the ranks took others than were saved", path));
    }
  }

  mpi::CommView comm_;
  std::string path_;
  Head head_;
  Contents contents_;
};

Checkpoint::Checkpoint(mpi::CommView comm, const std::string& path, const std::string& simulation)
    : impl_(std::make_unique<Impl>(comm, path, simulation)) {}
Checkpoint::~Checkpoint() = default;
Checkpoint::Checkpoint(Checkpoint&&) noexcept = default;
Checkpoint& Checkpoint::operator=(Checkpoint&&) noexcept = default;

const std::string& Checkpoint::path() const noexcept {
  return impl_->path();
}
StepIndex Checkpoint::step() const noexcept {
  return impl_->head().step;
}
double Checkpoint::time_s() const noexcept {
  return impl_->head().time_s;
}
int Checkpoint::ranks() const noexcept {
  return impl_->head().ranks;
}
std::vector<std::string> Checkpoint::restore(const StateFunction& state) const {
  return impl_->restore(state);
}

/// The paths of the checkpoints in a directory, newest first, on all ranks.
static std::vector<std::string> checkpoints_in(mpi::CommView comm, const std::string& directory) {
  std::string lines;
  mpi::collectively_on_root(comm, [&] {
    for (const auto& found : list_checkpoints(directory)) lines += found.path + '\n';
  });
  lines = mpi::broadcast(comm, lines, 0);
  std::vector<std::string> paths;
  for (std::size_t begin = 0, end = 0; (end = lines.find('\n', begin)) != std::string::npos; begin = end + 1)
    paths.push_back(lines.substr(begin, end - begin));
  return paths;
}

/// Why none of them can be restored, each reason once.
static Error no_checkpoint(const std::string& directory, const std::vector<ErrorInfo>& refusals) {
  Problems problems(fmt::format("{}: no checkpoint to resume from", directory));
  std::set<std::string> reasons;
  for (const auto& refusal : refusals)
    if (reasons.insert(refusal.message).second) problems.add(refusal.message, refusal.hint);
  if (problems.empty()) problems.add("there is none", "give the directory of a run that wrote checkpoints");
  return Error(ErrorInfo{
      .kind = ErrorKind::input, .message = problems.message(), .path = directory, .rank = 0, .hint = {}});
}

Restored restore_newest(mpi::CommView comm, const std::string& directory, const std::string& simulation,
                        const StateFunction& state) {
  Restored restored;
  std::vector<ErrorInfo> refusals;
  for (const auto& path : checkpoints_in(comm, directory)) {
    try {
      const Checkpoint checkpoint(comm, path, simulation);
      const auto left = checkpoint.restore(state);
      restored.step = checkpoint.step();
      restored.path = path;
      for (const auto& refusal : refusals)
        restored.warnings.push_back(fmt::format("skipped a checkpoint: {}", refusal.message));
      for (const auto& part : left)
        restored.warnings.push_back(
            fmt::format("{}: {} is not known to this program, and left out", path, part));
      return restored;
    } catch (const Error& error) {
      if (error.info().rank < 0) throw;  // the ranks do not know of each other any more
      refusals.push_back(error.info());
    }
  }
  throw no_checkpoint(directory, refusals);
}

}  // namespace tailrace::checkpoint
