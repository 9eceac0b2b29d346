// SPDX-License-Identifier: BSD-3-Clause
#include "run/tracing.hpp"

#include <fmt/format.h>

#include "mpi/verdict.hpp"

namespace tailrace::run {

Tracing::Tracing(mpi::CommView comm, const std::string& directory, trace::Mode mode, double start_s,
                 trace::Role role, std::int64_t record_bytes)
    : comm_(comm) {
  if (mode == trace::Mode::off) return;
  mpi::collectively(comm_, [&] {
    clock_ = trace::Clock::of_rank(comm_.rank());
    const auto path = fmt::format("{}/trace/rank-{:05}.trace", directory, comm_.rank());
    recorder_.emplace(path, trace::Identity{comm_.rank(), comm_.size(), role}, clock_, mode, record_bytes);
  });
  comparison_.emplace(comm_, clock_);
  auto point = comparison_->compare();
  zero_s_ = mpi::min(comm_, clock_.shown_at(start_s) + point.offset_s);
  point.zero_s = zero_s_;
  recorder_->add(point);
}

void Tracing::close() {
  if (!recorder_) return;
  auto point = comparison_->compare();
  point.zero_s = zero_s_;
  recorder_->add(point);
  const auto failure = recorder_->close();
  recorder_.reset();
  mpi::agree(comm_, failure);
}

}  // namespace tailrace::run
