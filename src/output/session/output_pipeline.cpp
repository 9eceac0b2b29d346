// SPDX-License-Identifier: BSD-3-Clause
#include "output/session/output_pipeline.hpp"

#include <algorithm>
#include <optional>

#include "base/system.hpp"

namespace tailrace::output {

Lease OutputPipeline::acquire(StepIndex step) {
  auto lease = writer_->try_acquire();
  if (!lease) {
    wait(step, [&] {
      wait_for_arrivals();  // else buffers that nobody has handed over would be waited for
      lease.emplace(commits_.acquire(*writer_));
    });
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

void OutputPipeline::pin(const Staging& buffer, device::Device& device) {
  if (!pins_.contains(buffer.bytes.data()))
    pins_.emplace(buffer.bytes.data(), device::Pin(device, buffer.bytes));
}

void OutputPipeline::submit(Lease job, const device::Event* arrival) {
  if (failure_) return;  // its samples are not complete
  arriving_.push_back({std::move(job), arrival});
  hand_over();
}

void OutputPipeline::hand_over() {
  guard([this] {
    while (!arriving_.empty() && arriving_.front().here()) {
      writer_->submit(std::move(arriving_.front().job));
      arriving_.pop_front();
    }
  });
}

void OutputPipeline::guard(const std::function<void()>& action) {
  if (failure_) return;
  try {
    action();
  } catch (const Error& error) {
    const auto kind = error.info().kind;
    if (kind != ErrorKind::resource && kind != ErrorKind::usage) throw;
    failure_ = error.info();
    arriving_.clear();  // what a failed device was to bring does not come
    commits_.fail();
  }
}

void OutputPipeline::wait_for_arrivals() {
  for (; !arriving_.empty(); hand_over())
    guard([this] {
      if (!arriving_.front().here()) arriving_.front().arrival->wait();
    });
}

void OutputPipeline::progress() {
  hand_over();
  writer_->progress();
  commits_.progress();
}

void OutputPipeline::flush_all(StepIndex step) {
  wait(step, [this] {
    wait_for_arrivals();
    commits_.flush(*writer_);
  });
}

void OutputPipeline::complete(StepIndex step) {
  std::optional<ErrorInfo> failure;
  wait(step, [&] {
    wait_for_arrivals();
    commits_.flush(*writer_);
    failure = this->failure();
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
    for (Backoff backoff; !commits_.keeps_up(step); backoff.pause())
      hand_over();  // other ranks wait for what arrives here
  });
  ++account_.waits;
}

}  // namespace tailrace::output
