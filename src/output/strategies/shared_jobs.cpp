// SPDX-License-Identifier: BSD-3-Clause
#include "output/strategies/shared_jobs.hpp"

#include <algorithm>
#include <new>
#include <type_traits>

#include "base/check.hpp"

namespace tailrace::output {

static_assert(std::is_trivially_copyable_v<StagedExtent>);

namespace {

std::size_t whole_lines(std::size_t bytes) noexcept {
  constexpr std::size_t line_bytes = 64;
  return (bytes + line_bytes - 1) / line_bytes * line_bytes;
}

}  // namespace

std::size_t SharedJobs::slots_bytes(const SharedJobsShape& shape) noexcept {
  return whole_lines(static_cast<std::size_t>(shape.buffers) * sizeof(Slot));
}

std::size_t SharedJobs::staged_extents_bytes(const SharedJobsShape& shape) noexcept {
  return whole_lines(static_cast<std::size_t>(shape.buffers) * shape.max_staged_extents *
                     sizeof(StagedExtent));
}

std::size_t SharedJobs::bytes_for(const SharedJobsShape& shape) noexcept {
  return sizeof(Head) + slots_bytes(shape) + staged_extents_bytes(shape) +
         static_cast<std::size_t>(shape.buffers) * StagingPool::distance(shape.staging_bytes);
}

SharedJobs SharedJobs::create(std::span<std::byte> memory, const SharedJobsShape& shape) {
  return {memory, shape, new (memory.data()) Head};
}

SharedJobs SharedJobs::attach(std::span<std::byte> memory, const SharedJobsShape& shape) {
  return {memory, shape, std::launder(reinterpret_cast<Head*>(memory.data()))};
}

SharedJobs::SharedJobs(std::span<std::byte> memory, const SharedJobsShape& shape, Head* head)
    : head_(head),
      max_staged_extents_(shape.max_staged_extents),
      distance_(StagingPool::distance(shape.staging_bytes)) {
  TAILRACE_CHECK(memory.size() >= bytes_for(shape), "the memory holds the ring and the buffers");
  const auto buffers = static_cast<std::size_t>(shape.buffers);
  memory = memory.subspan(sizeof(Head));
  slots_ = {reinterpret_cast<Slot*>(memory.data()), buffers};
  memory = memory.subspan(slots_bytes(shape));
  staged_extents_ = {reinterpret_cast<StagedExtent*>(memory.data()), buffers * max_staged_extents_};
  memory = memory.subspan(staged_extents_bytes(shape));
  buffers_ = memory.first(buffers * distance_);
}

void SharedJobs::submit(const Staging& job) {
  const std::uint64_t number = submitted();
  TAILRACE_CHECK(number - done() < slots_.size() && job.staged_extents.size() <= max_staged_extents_,
                 "a job has a slot of the ring, and room for its staged extents there");
  const auto position = static_cast<std::size_t>(job.bytes.data() - buffers_.data());
  slot(number) = {.buffer = distance_ == 0 ? 0 : position / distance_,
                  .staged_extents = job.staged_extents.size(),
                  .step = job.step,
                  .commit_mark = job.commit_mark.value_or(0),
                  .has_commit_mark = job.commit_mark.has_value(),
                  .flush = job.flush};
  std::copy(job.staged_extents.begin(), job.staged_extents.end(), staged_extents(number).begin());
  head_->submitted = number + 1;
}

JobView SharedJobs::job(std::uint64_t number) const {
  const Slot& job = slot(number);
  return {.staged_extents = staged_extents(number).first(job.staged_extents),
          .bytes = buffers_.subspan(job.buffer * distance_, distance_),
          .shares = {},
          .source = 0,
          .step = job.step,
          .commit_mark = job.has_commit_mark ? std::optional(job.commit_mark) : std::nullopt,
          .flush = job.flush};
}

void SharedJobs::finish(std::uint64_t number, bool written) noexcept {
  if (written) head_->written = number;
  head_->done = number;
  head_->changed.raise();
}

}  // namespace tailrace::output
