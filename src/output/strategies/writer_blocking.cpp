// SPDX-License-Identifier: BSD-3-Clause
#include "output/strategies/writers.hpp"

namespace tailrace::output {

namespace {

/// Writes on the simulation's thread, inside the step: the baseline of all strategies.
class BlockingWriter final : public Writer {
 public:
  explicit BlockingWriter(const WriterContext& context)
      : sink_(context.sink),
        shares_(context.shares),
        reached_(context.reached),
        log_(context.log),
        pool_(1, context.staging_bytes, context.comm.rank(), context.services.memory) {}

  std::optional<Lease> try_acquire() override { return pool_.try_acquire(); }
  Lease acquire() override { return pool_.acquire(); }

  void submit(Lease job) override {
    if (failure_) return;
    try {
      run_job(*job, shares_, sink_, account_, log_);
      reached_.mark(*job);
    } catch (...) {
      failure_ = describe_current_exception();
    }
    account_.wait_s = account_.write_s;
  }

  [[nodiscard]] bool idle() const override { return true; }
  void flush_all() override {}

  [[nodiscard]] std::optional<ErrorInfo> failure() const override { return failure_; }
  [[nodiscard]] const Account& account() const noexcept override { return account_; }

 private:
  Sink& sink_;
  std::span<const Share* const> shares_;
  Reached& reached_;
  trace::Log& log_;
  StagingPool pool_;
  Account account_;
  std::optional<ErrorInfo> failure_;
};

}  // namespace

std::unique_ptr<Writer> make_blocking_writer(const WriterContext& context) {
  return std::make_unique<BlockingWriter>(context);
}

}  // namespace tailrace::output
