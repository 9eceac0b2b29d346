// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoint/pipeline.hpp"

#include <utility>

#include "checkpoint/local.hpp"

namespace tailrace::checkpoint {

namespace {

/// Straight into the directory: what is written is sealed, then gets its name asynchronously.
class OneLevel final : public Pipeline {
 public:
  OneLevel(mpi::CommView comm, PipelineContext context, trace::Log& log)
      : comm_(comm), context_(std::move(context)), log_(log) {
    forget_local_level(comm_, context_.directory);
  }

  void take(const Origin& origin, const StateFunction& state) override {
    saving_ = std::make_unique<Saving>(comm_, context_.directory, origin, state, context_.write,
                                       context_.packing, log_, context_.services);
  }
  [[nodiscard]] bool is_pending() const noexcept override { return saving_ != nullptr; }
  [[nodiscard]] bool is_busy() const noexcept override { return is_pending(); }
  [[nodiscard]] bool needs_samples() const noexcept override { return saving_ && !saving_->is_sealed(); }
  [[nodiscard]] bool ready() override { return !saving_ || saving_->ready(); }

  Progress advance(const std::function<void()>& secure_samples) override {
    auto saving = std::exchange(saving_, nullptr);
    if (saving->is_sealed()) {
      saving->finish();
      return {.safe_bytes = saving->bytes(), .named = true};
    }
    secure_samples();
    saving->seal(context_.after_naming);
    saving_ = std::move(saving);
    return {};
  }

  void want_name() noexcept override {}
  void clear() override {}

 private:
  mpi::CommView comm_;
  PipelineContext context_;
  trace::Log& log_;
  std::unique_ptr<Saving> saving_;
};

}  // namespace

std::unique_ptr<Pipeline> create_pipeline(mpi::CommView comm, PipelineContext context, trace::Log& log) {
  if (context.local.wanted()) return create_two_levels(comm, std::move(context));
  return std::make_unique<OneLevel>(comm, std::move(context), log);
}

SavingMemory memory_of_pipeline(mpi::CommView comm, const StateFunction& state, const Packing& packing,
                                const LocalLevel& local) {
  if (!local.wanted()) return memory_for(comm, state, packing);
  return {.beside = memory_of_levels(comm, local, packing.compression)};
}

}  // namespace tailrace::checkpoint
