// SPDX-License-Identifier: BSD-3-Clause
#include "output/session/commits.hpp"

#include <algorithm>

#include "base/system.hpp"

namespace tailrace::output {

StepIndex Commits::reached(WriteState state) const noexcept {
  if (state == WriteState::committed) return committed_;
  return state == WriteState::written ? own_.written() : own_.durable();
}

StepIndex Commits::queued(StepIndex before, StepIndex last) const noexcept {
  return std::max<StepIndex>(0, last - std::max(before, own_.written()));
}

namespace {

/// Each rank's writer puts its samples into the file, alone or in calls of all ranks.
class DirectCommits final : public Commits {
 public:
  explicit DirectCommits(Sink& sink) : sink_(sink) {}

  [[nodiscard]] bool together() const noexcept override { return sink_.collective(); }

 private:
  StepIndex commit_until(mpi::CommView comm, StepIndex step) override {
    sink_.publish(comm, step);
    return step;
  }

  Sink& sink_;
};

/// Samples move to other ranks before they are written: what is there, all know only after they have met.
class ExchangedCommits final : public Commits {
 public:
  explicit ExchangedCommits(Exchange& exchange) : exchange_(exchange) {}

  [[nodiscard]] bool together() const noexcept override { return true; }
  [[nodiscard]] bool exchanges() const noexcept override { return true; }
  [[nodiscard]] StepIndex reached(WriteState /*state*/) const noexcept override {
    return Commits::reached(WriteState::committed);
  }
  [[nodiscard]] StepIndex queued(StepIndex /*before*/, StepIndex /*last*/) const noexcept override {
    return 0;
  }

  Lease acquire(Writer& writer) override {
    for (Backoff backoff;; backoff.pause()) {
      advance(writer);
      if (auto lease = writer.try_acquire()) return std::move(*lease);
    }
  }
  void flush(Writer& writer) override {
    for (Backoff backoff; !writer.idle(); backoff.pause()) advance(writer);
    writer.flush_all();
  }
  void progress() override { exchange_.progress(); }
  bool keeps_up(StepIndex step) override { return exchange_.keeps_up(step); }
  void finalize() override { exchange_.finalize(); }
  void complete() override { exchange_.complete(); }
  void fail() noexcept override { exchange_.fail(); }
  void abandon() noexcept override { exchange_.abandon(); }
  void add_costs(Account& account) const noexcept override {
    account.write_s += exchange_.write_s();
    account.write_cpu_s += exchange_.write_cpu_s();
  }

 private:
  StepIndex commit_until(mpi::CommView /*comm*/, StepIndex step) override {
    return std::min(step, exchange_.commit());
  }
  void advance(Writer& writer) {
    writer.progress();
    exchange_.progress();
  }

  Exchange& exchange_;
};

}  // namespace

std::unique_ptr<Commits> create_commits(Sink& sink) {
  if (auto* const exchange = sink.exchange()) return std::make_unique<ExchangedCommits>(*exchange);
  return std::make_unique<DirectCommits>(sink);
}

}  // namespace tailrace::output
