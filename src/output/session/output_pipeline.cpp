// SPDX-License-Identifier: BSD-3-Clause
#include "output/session/output_pipeline.hpp"

#include <algorithm>
#include <optional>

#include "base/system.hpp"

namespace tailrace::output {

Lease OutputPipeline::acquire(StepIndex step) {
  auto lease = writer_->try_acquire();
  if (!lease) {
    wait(step, [&] { lease.emplace(wait_for_buffer()); });
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

Lease OutputPipeline::wait_for_buffer() {
  if (exchange_ == nullptr) return writer_->acquire();
  for (Backoff backoff;; backoff.pause()) {
    progress();
    if (auto lease = writer_->try_acquire()) return std::move(*lease);
  }
}

void OutputPipeline::progress() {
  writer_->progress();
  if (exchange_ != nullptr) exchange_->progress();
}

void OutputPipeline::wait_for_writer() {
  if (exchange_ != nullptr)
    for (Backoff backoff; !writer_->idle(); backoff.pause()) progress();
  writer_->flush_all();
}

void OutputPipeline::flush_all(StepIndex step) {
  wait(step, [this] { wait_for_writer(); });
}

void OutputPipeline::complete(StepIndex step) {
  std::optional<ErrorInfo> failure;
  wait(step, [&] {
    wait_for_writer();
    failure = writer_->failure();
    try {
      if (exchange_ != nullptr) exchange_->complete();
    } catch (...) {
      if (!failure) failure = describe_current_exception();
    }
  });
  if (failure) throw Error(*failure);
}

void OutputPipeline::keep_up(StepIndex step) {
  if (exchange_ == nullptr || exchange_->keeps_up(step)) return;
  wait(step, [&] {
    for (Backoff backoff; !exchange_->keeps_up(step);) backoff.pause();
  });
  ++account_.waits;
}

}  // namespace tailrace::output
