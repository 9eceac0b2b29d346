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

/// On the nodes, then, if it is to be there, in the directory.
class TwoLevels final : public Pipeline {
 public:
  TwoLevels(mpi::CommView comm, PipelineContext context)
      : comm_(comm), context_(std::move(context)), node_(comm) {
    const auto& level = context_.local;
    forget_local_level(comm, context_.directory);
    mark_ = {.run = mpi::broadcast(comm, comm.is_root() ? new_name() : "", 0), .directory = level.directory};
    mpi::collectively_on_root(comm, [&] { write_local_mark(context_.directory, mark_); });
    const auto partners = find_partners(comm, node_);
    if (level.partner) messages_ = mpi::Comm::duplicate(comm);
    place_ = {.run = mark_.run,
              .node_directory = node_directory(mark_, partners.node),
              .partners = partners,
              .partner_comm = messages_,
              .copies = level.partner && partners.nodes > 1};
  }

  void take(const Origin& origin, const StateFunction& state) override {
    local_ = std::make_unique<LocalSaving>(comm_, place_, origin, state, context_.packing.compression);
  }
  [[nodiscard]] bool is_pending() const noexcept override { return local_ || copy_; }
  [[nodiscard]] bool is_busy() const noexcept override { return local_ != nullptr; }
  [[nodiscard]] bool needs_samples() const noexcept override { return is_busy(); }
  [[nodiscard]] bool ready() override { return local_ ? local_->ready() : !copy_ || copy_->ready(); }

  Progress advance(const std::function<void()>& secure_samples) override {
    const auto progress = local_ ? Progress{.safe_bytes = end_local(secure_samples)} : end_copy();
    start_wanted_copy();
    return progress;
  }

  void want_name() noexcept override { wanted_ = true; }
  void clear() override { forget_local_level(comm_, context_.directory); }

 private:
  /// All of it is on the nodes: older ones are removed there.
  std::int64_t end_local(const std::function<void()>& secure_samples) {
    const auto local = std::exchange(local_, nullptr);
    secure_samples();
    local->finish();
    newest_ = local->own();
    wanted_ = wanted_ || ++count_ % context_.local.copy_every == 0;
    // A copy that is under way has the files of an older one open.
    if (node_.comm().is_root()) remove_parts_before(place_.node_directory, local->step());
    return local->bytes();
  }

  Progress end_copy() {
    const auto copy = std::exchange(copy_, nullptr);
    copy->finish();
    if (comm_.is_root() && context_.after_naming) context_.after_naming();
    return {.safe_bytes = {}, .named = true};
  }

  void start_wanted_copy() {
    if (!wanted_ || copy_ || !newest_) return;
    copy_ = std::make_unique<SharedCopy>(comm_, context_.directory, std::vector{*newest_}, context_.write);
    wanted_ = false;
  }

  mpi::CommView comm_;
  PipelineContext context_;
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

}  // namespace

std::unique_ptr<Pipeline> create_two_levels(mpi::CommView comm, PipelineContext context) {
  return std::make_unique<TwoLevels>(comm, std::move(context));
}

std::size_t memory_of_levels(mpi::CommView comm, const LocalLevel& level, const Compression& compression) {
  const std::size_t batches = level.partner ? 4 : 2;
  std::size_t bytes = 2 * thread_bytes + batches * batch_bytes + (comm.is_root() ? file_bytes : 0);
  if (compression.wanted())
    bytes += max_cell_bytes + CellCompressor::memory_bytes(compression, max_cell_bytes);
  return bytes;
}

}  // namespace tailrace::checkpoint
