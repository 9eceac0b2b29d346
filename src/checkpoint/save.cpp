// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/save.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "background_task.hpp"
#include "base/check.hpp"
#include "base/system.hpp"
#include "checkpoint/store.hpp"
#include "fixed_memory.hpp"
#include "manifest.hpp"
#include "mpi/verdict.hpp"
#include "outgoing.hpp"
#include "output/core/staging.hpp"
#include "output/registry/options.hpp"
#include "output/session/session.hpp"
#include "tailrace/error.hpp"

namespace tailrace::checkpoint {

namespace {

/// Says what the write path takes at a time.
constexpr std::int64_t buffer_bytes = 4 << 20;

h5::Shape rows_of(std::int64_t rows, std::size_t words) {
  return {static_cast<std::uint64_t>(rows), words};
}

/// Adds a dataset: this rank has `own` of its values, from `first` on.
void add_dataset(output::PlannedStream& stream, h5::DatasetSpec spec, std::int64_t first, std::int64_t own) {
  output::Share share;
  share.dataset = stream.datasets.size();
  share.type = spec.type;
  share.part_values = static_cast<std::int64_t>(h5::element_count(spec.shape));
  share.values = own;
  share.block = {{first, 0, 0}, {first + own, 1, 1}};
  share.runs = {{first, own}};
  if (own > 0) stream.shares.push_back(std::move(share));
  stream.datasets.push_back(std::move(spec));
}

/// For each set its data, then, when all digests are known, its directory: one stream, so that they are
/// together in buffers.
output::Plan make_plan(mpi::CommView comm, StepIndex step, const std::vector<PlacedSet>& sets) {
  output::PlannedStream stream;
  stream.name = stream.quantity = "state";
  stream.reduction = output::Reduction::final;
  stream.cadence = {.first = step, .every = 1, .last = step};
  for (const auto& placed : sets) {
    const auto& [set, count, stored, entries] = placed;
    const auto wide = static_cast<std::int64_t>(set->entry_words()),
               part_wide = static_cast<std::int64_t>(set->part_words());
    const auto spec = [&](const char* name, h5::Shape shape) {
      return h5::DatasetSpec{
          fmt::format("/sets/{}/{}", set->path(), name), std::move(shape), h5::ElementType::uint64, {}};
    };
    auto data = placed.data_spec();
    const auto value_bytes = static_cast<std::int64_t>(h5::size_bytes(data.type));
    add_dataset(stream, std::move(data), stored.first / value_bytes, stored.own / value_bytes);
    add_dataset(stream, spec("cells", rows_of(entries.all, set->entry_words())), entries.first * wide,
                entries.own * wide);
    add_dataset(stream, spec("parts", rows_of(comm.size(), set->part_words())), comm.rank() * part_wide,
                part_wide);
  }
  output::Plan plan;
  plan.streams.push_back(std::move(stream));
  return plan;
}

/// Buffers of the write path that hold so many bytes; at least two.
int buffers_for(std::int64_t bytes) noexcept {
  return static_cast<int>(
      std::clamp<std::int64_t>((bytes + buffer_bytes - 1) / buffer_bytes + 1, 2, output::max_buffers));
}

/// Returns what this rank has of all sets, before any is compressed.
std::int64_t state_bytes(const std::vector<std::unique_ptr<OutgoingSet>>& sets) {
  std::int64_t bytes = 0;
  for (const auto& set : sets) bytes += set->count() * set->bytes_each();
  return bytes;
}

/// Returns what of it this rank writes at most: those, and the entries of directories.
std::int64_t written_bytes(const std::vector<std::unique_ptr<OutgoingSet>>& sets) {
  std::size_t words = 0;
  for (const auto& set : sets) words += set->entries().size() + set->part_words();
  return state_bytes(sets) + static_cast<std::int64_t>(words * sizeof(std::uint64_t));
}

/// With compression as many bytes as in the write path are for cells that have no places yet.
std::int64_t max_buffered(const Packing& packing) noexcept {
  return packing.buffer_bytes / (packing.compression.wanted() ? 2 : 1);
}

/// Bytes that the buffers of the write path hold, the same on all ranks.
std::int64_t buffered_bytes(mpi::CommView comm, const std::vector<std::unique_ptr<OutgoingSet>>& sets,
                            const Packing& packing) {
  return std::min(mpi::max(comm, written_bytes(sets)), max_buffered(packing));
}

/// Compressed cells have no places until all ranks know what theirs take.
void make_compressed(const std::vector<std::unique_ptr<OutgoingSet>>& sets, std::int64_t max_kept) {
  for (const auto& set : sets) {
    if (!set->is_compressed()) continue;
    set->make_all(max_kept);
    max_kept -= set->kept_bytes();
  }
}

/// Options under which the file is written: those of the run, but for what only streams have.
output::WriteOptions writing_options(output::WriteOptions options, std::int64_t buffered_bytes) {
  options.buffers = buffers_for(buffered_bytes);
  if (options.strategy == "auto") options.strategy = "threads";
  options.sink = "hdf5";
  options.directories.clear();
  options.lustre = {};
  if (output::splits_samples(options)) options.strategy = "threads";
  return options;
}

}  // namespace

class Saving::Impl {
 public:
  Impl(mpi::CommView comm, std::string directory, const Origin& origin, const StateFunction& state,
       const output::WriteOptions& options, const Packing& packing, trace::Log& log,
       const output::SessionServices& services)
      : comm_(comm), directory_(std::move(directory)), origin_(origin) {
    place_ = partial_path(directory_, origin.step);
    mpi::collectively(
        comm,
        [&] {
          state(inventory_);
          sets_ = outgoing_sets(inventory_, packing.compression);
          make_compressed(sets_, max_buffered(packing));
          if (comm.is_root()) begin_checkpoint(directory_, origin.step);
        },
        output::close_limit_s);
    const auto buffered = buffered_bytes(comm, sets_, packing);
    clean_up_on_failure([&] { placed_ = place_sets(comm, sets_); });
    session_ = std::make_unique<output::Session>(comm, file(), make_plan(comm, origin.step, placed_),
                                                 inventory_.head(), writing_options(options, buffered), log,
                                                 output::SessionContext{.services = services});
    session_->write_final(origin.step,
                          [this](const output::Share& share, std::int64_t first, std::int64_t /*count*/,
                                 std::span<std::byte> out) { fill(share.dataset, first, out); });
  }

  [[nodiscard]] bool ready() {
    if (!sealed_) return session_->progress(output::WriteState::durable, origin_.step);
    return !naming_ || naming_->is_done();
  }

  void seal(const std::function<void()>& afterwards) {
    clean_up_on_failure([&] {
      session_->finish(origin_.step, {});
      const auto sums = all_sums();
      sealed_ = true;
      if (!comm_.is_root()) return;
      naming_ = std::make_unique<BackgroundTask>([this, sums, afterwards] {
        write_manifest(place_, manifest(sums));
        commit_checkpoint(directory_, origin_.step);
        if (afterwards) afterwards();
      });
    });
  }

  void finish() {
    if (!sealed_) seal({});
    clean_up_on_failure([&] { mpi::collectively_on_root(comm_, [&] { naming_->finish(); }); });
  }

  [[nodiscard]] bool is_sealed() const noexcept { return sealed_; }

  [[nodiscard]] StepIndex step() const noexcept { return origin_.step; }
  [[nodiscard]] std::int64_t bytes() const noexcept { return state_bytes(sets_); }

 private:
  template <class Action>
  void clean_up_on_failure(const Action& action) {
    try {
      action();
    } catch (...) {
      std::error_code ignored;
      if (comm_.is_root()) std::filesystem::remove_all(place_, ignored);
      throw;
    }
  }
  [[nodiscard]] std::string file() const { return fmt::format("{}/{}", place_, state_file); }

  void fill(std::size_t dataset, std::int64_t first, std::span<std::byte> out) {
    const auto& [set, count, stored, entries] = placed_[dataset / 3];
    if (dataset % 3 == 0) {
      TAILRACE_CHECK(set->give(out) == out.size(), "a set has the bytes that it was said to have");
      return;
    }
    const auto copy = [&](const std::vector<std::uint64_t>& words) {
      std::memcpy(out.data(), words.data() + first, out.size());
    };
    dataset % 3 == 1 ? copy(set->entries()) : copy(set->part(entries.first));
  }

  [[nodiscard]] std::vector<std::uint64_t> all_sums() const {
    std::vector<std::uint64_t> mine;
    for (const auto& set : sets_) mine.push_back(set->sum());
    return mpi::sum(comm_, mine);
  }

  /// Returns what is known before the file is looked at.
  [[nodiscard]] Manifest manifest(const std::vector<std::uint64_t>& sums) const {
    Manifest manifest{.simulation = origin_.simulation,
                      .program = origin_.program,
                      .step = origin_.step,
                      .time_s = origin_.time_s,
                      .ranks = comm_.size(),
                      .created = utc_now(),
                      .compressed = std::any_of(sets_.begin(), sets_.end(),
                                                [](const auto& set) { return set->is_compressed(); }),
                      .sets = {}};
    for (std::size_t i = 0; i < placed_.size(); ++i)
      manifest.sets[placed_[i].set->path()] = {.count = placed_[i].count.all, .sum = sums[i]};
    return manifest;
  }

  mpi::CommView comm_;
  std::string directory_, place_;
  Origin origin_;
  Inventory inventory_;
  std::vector<std::unique_ptr<OutgoingSet>> sets_;
  std::vector<PlacedSet> placed_;
  std::unique_ptr<output::Session> session_;
  bool sealed_ = false;
  std::unique_ptr<BackgroundTask> naming_;  ///< on the root; last: it ends before what it uses
};

SavingMemory memory_for(mpi::CommView comm, const StateFunction& state, const Packing& packing) {
  Inventory inventory;
  state(inventory);
  const auto sets = outgoing_sets(inventory, packing.compression);
  const auto buffered = buffered_bytes(comm, sets, packing);
  SavingMemory memory{.buffers = static_cast<std::size_t>(buffers_for(buffered)) *
                                 output::StagingPool::distance(buffer_bytes)};
  const auto cell = static_cast<std::size_t>(std::min(state_bytes(sets), max_cell_bytes));
  memory.beside = thread_bytes + cell + (comm.is_root() ? file_bytes : 0);
  for (const auto& set : sets) memory.beside += set->entries().size() * sizeof(std::uint64_t);
  if (packing.compression.wanted())
    memory.beside +=
        static_cast<std::size_t>(buffered) + CellCompressor::memory_bytes(packing.compression, cell);
  return memory;
}

Saving::Saving(mpi::CommView comm, const std::string& directory, const Origin& origin,
               const StateFunction& state, const output::WriteOptions& options, const Packing& packing,
               trace::Log& log, const output::SessionServices& services)
    : impl_(std::make_unique<Impl>(comm, directory, origin, state, options, packing, log, services)) {}
Saving::~Saving() = default;

bool Saving::ready() {
  return impl_->ready();
}
void Saving::seal(const std::function<void()>& afterwards) {
  impl_->seal(afterwards);
}
bool Saving::is_sealed() const noexcept {
  return impl_->is_sealed();
}
void Saving::finish() {
  impl_->finish();
}
StepIndex Saving::step() const noexcept {
  return impl_->step();
}
std::int64_t Saving::bytes() const noexcept {
  return impl_->bytes();
}

void save(mpi::CommView comm, const std::string& directory, const Origin& origin, const StateFunction& state,
          int keep) {
  trace::Log log("checkpoint");
  Saving saving(comm, directory, origin, state, output::WriteOptions(), Packing(), log);
  saving.seal([&] { prune_checkpoints(directory, keep); });  // on rank 0
  saving.finish();
}

}  // namespace tailrace::checkpoint
