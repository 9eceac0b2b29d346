// SPDX-License-Identifier: BSD-3-Clause
#include <random>
#include <utility>

#include "checkpoint/local.hpp"
#include "digest.hpp"
#include "fixed_memory.hpp"
#include "local_saving.hpp"
#include "mpi/verdict.hpp"
#include "shared_copy.hpp"

namespace tailrace::checkpoint {

namespace {

std::string new_name() {
  std::random_device random;
  return hex((std::uint64_t{random()} << 32) | random());
}

}  // namespace

class TwoLevels::Impl {
 public:
  Impl(mpi::CommView comm, const LocalLevel& level, const std::string& directory,
       const Compression& compression, const output::Options& options)
      : comm_(comm),
        level_(level),
        directory_(directory),
        compression_(compression),
        options_(options),
        node_(comm) {
    forget_local_level(comm, directory);
    mark_ = {.run = mpi::broadcast(comm, comm.is_root() ? new_name() : "", 0), .directory = level.directory};
    mpi::collectively_on_root(comm, [&] { write_local_mark(directory_, mark_); });
    const auto partners = find_partners(comm, node_);
    if (level.partner) messages_ = mpi::Comm::duplicate(comm);
    place_ = {.run = mark_.run,
              .node_directory = node_directory(mark_, partners.node),
              .partners = partners,
              .partner_comm = messages_,
              .copies = level.partner && partners.nodes > 1};
  }

  void take(const Origin& origin, const StateFunction& state) {
    local_ = std::make_unique<LocalSaving>(comm_, place_, origin, state, compression_);
  }

  [[nodiscard]] bool is_local_pending() const noexcept { return local_ != nullptr; }
  [[nodiscard]] bool is_copy_pending() const noexcept { return copy_ != nullptr; }
  [[nodiscard]] bool ready() { return local_ ? local_->ready() : !copy_ || copy_->ready(); }

  std::int64_t commit_local() {
    const auto local = std::exchange(local_, nullptr);
    local->finish();
    newest_ = local->own();
    wanted_ = wanted_ || ++count_ % level_.copy_every == 0;
    // A copy that is under way has the files of an older one open.
    if (node_.comm().is_root()) remove_parts_before(place_.node_directory, local->step());
    return local->bytes();
  }

  void commit_copy() {
    const auto copy = std::exchange(copy_, nullptr);
    copy->finish();
  }

  void start_wanted_copy() {
    if (!wanted_ || copy_) return;
    copy_ = std::make_unique<SharedCopy>(comm_, directory_, std::vector{*newest_}, options_);
    wanted_ = false;
  }

  void want_copy() noexcept { wanted_ = true; }
  void clear() { forget_local_level(comm_, directory_); }

 private:
  mpi::CommView comm_;
  LocalLevel level_;
  std::string directory_;
  Compression compression_;
  output::Options options_;
  mpi::Node node_;
  mpi::Comm messages_;  ///< between partners
  LocalMark mark_;
  LocalSaving::Place place_;
  std::unique_ptr<LocalSaving> local_;
  std::unique_ptr<SharedCopy> copy_;
  std::optional<StoredPart> newest_;  ///< refers to those that count
  bool wanted_ = false;               ///< the shared file system is to have it
  std::int64_t count_ = 0;
};

std::size_t memory_of_levels(mpi::CommView comm, const LocalLevel& level, const Compression& compression) {
  const std::size_t batches = level.partner ? 4 : 2;
  std::size_t bytes = 2 * thread_bytes + batches * batch_bytes + (comm.is_root() ? file_bytes : 0);
  if (compression.wanted())
    bytes += max_cell_bytes + CellCompressor::memory_bytes(compression, max_cell_bytes);
  return bytes;
}

TwoLevels::TwoLevels(mpi::CommView comm, const LocalLevel& level, const std::string& directory,
                     const Compression& compression, const output::Options& options)
    : impl_(std::make_unique<Impl>(comm, level, directory, compression, options)) {}
TwoLevels::~TwoLevels() = default;

void TwoLevels::take(const Origin& origin, const StateFunction& state) {
  impl_->take(origin, state);
}
bool TwoLevels::is_local_pending() const noexcept {
  return impl_->is_local_pending();
}
bool TwoLevels::is_copy_pending() const noexcept {
  return impl_->is_copy_pending();
}
bool TwoLevels::ready() {
  return impl_->ready();
}
std::int64_t TwoLevels::commit_local() {
  return impl_->commit_local();
}
void TwoLevels::commit_copy() {
  impl_->commit_copy();
}
void TwoLevels::want_copy() noexcept {
  impl_->want_copy();
}
void TwoLevels::start_wanted_copy() {
  impl_->start_wanted_copy();
}
void TwoLevels::clear() {
  impl_->clear();
}

}  // namespace tailrace::checkpoint
