// SPDX-License-Identifier: BSD-3-Clause
#include "output/session/output_pipeline.hpp"

#include <algorithm>
#include <optional>

#include "base/system.hpp"

namespace tailrace::output {

Lease OutputPipeline::acquire(StepIndex step) {
  auto lease = writer_->try_acquire();
  if (!lease) {
    wait(step, [&] { lease.emplace(commits_.acquire(*writer_)); });
    ++account_.waits;
  }
  (*lease)->step = step;
  return std::move(*lease);
}

void OutputPipeline::wait(StepIndex step, const std::function<void()>& action) {
  trace::Scope scope(log_, trace::Kind::output_wait, step);
  const double counted_s = writer_->account().wait_s;
  action();
  account_.wait_s += std::max(0.0, scope.stop() - (writer_->account().wait_s - counted_s));
}

void OutputPipeline::progress() {
  writer_->progress();
  commits_.progress();
}

void OutputPipeline::flush_all(StepIndex step) {
  wait(step, [this] { commits_.flush(*writer_); });
}

void OutputPipeline::complete(StepIndex step) {
  std::optional<ErrorInfo> failure;
  wait(step, [&] {
    commits_.flush(*writer_);
    failure = writer_->failure();
    try {
      commits_.complete();
    } catch (...) {
      if (!failure) failure = describe_current_exception();
    }
  });
  if (failure) throw Error(*failure);
}

void OutputPipeline::keep_up(StepIndex step) {
  if (commits_.keeps_up(step)) return;
  wait(step, [&] {
    for (Backoff backoff; !commits_.keeps_up(step);) backoff.pause();
  });
  ++account_.waits;
}

}  // namespace tailrace::output
