// SPDX-License-Identifier: BSD-3-Clause
#include "output/session/output_pipeline.hpp"

#include "base/system.hpp"

namespace tailrace::output {

Lease OutputPipeline::acquire(StepIndex step) {
  auto lease = writer_->try_acquire();
  if (!lease) {
    trace::Scope scope(log_, trace::Kind::output_wait, step);
    lease.emplace(wait_for_buffer());
    account_.wait_s += scope.stop();
    ++account_.waits;
  }
  (*lease)->step = step;
  return std::move(*lease);
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
  trace::Scope scope(log_, trace::Kind::output_wait, step);
  wait_for_writer();
  account_.wait_s += scope.stop();
}

void OutputPipeline::complete(StepIndex step) {
  trace::Scope scope(log_, trace::Kind::output_wait, step);
  wait_for_writer();
  auto failure = writer_->failure();
  try {
    if (exchange_ != nullptr) exchange_->complete();
  } catch (...) {
    if (!failure) failure = describe_current_exception();
  }
  account_.wait_s += scope.stop();
  if (failure) throw Error(*failure);
}

void OutputPipeline::keep_up(StepIndex step) {
  if (exchange_ == nullptr || exchange_->keeps_up(step)) return;
  trace::Scope scope(log_, trace::Kind::output_wait, step);
  for (Backoff backoff; !exchange_->keeps_up(step);) backoff.pause();
  account_.wait_s += scope.stop();
  ++account_.waits;
}

}  // namespace tailrace::output
