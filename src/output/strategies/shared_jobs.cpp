#include "output/strategies/shared_jobs.hpp"

#include <algorithm>
#include <new>
#include <type_traits>

#include "base/check.hpp"

namespace tailrace::output {

static_assert(std::is_trivially_copyable_v<Slice>);

namespace {

std::size_t whole_lines(std::size_t bytes) noexcept {
  constexpr std::size_t line_bytes = 64;
  return (bytes + line_bytes - 1) / line_bytes * line_bytes;
}

}  // namespace

std::size_t SharedJobs::slots_bytes(const SharedJobsShape& shape) noexcept {
  return whole_lines(static_cast<std::size_t>(shape.buffers) * sizeof(Slot));
}

std::size_t SharedJobs::slices_bytes(const SharedJobsShape& shape) noexcept {
  return whole_lines(static_cast<std::size_t>(shape.buffers) * shape.most_slices * sizeof(Slice));
}

std::size_t SharedJobs::bytes_for(const SharedJobsShape& shape) noexcept {
  return sizeof(Head) + slots_bytes(shape) + slices_bytes(shape) +
         static_cast<std::size_t>(shape.buffers) * StagingPool::distance(shape.staging_bytes);
}

SharedJobs SharedJobs::create(std::span<std::byte> memory, const SharedJobsShape& shape) {
  return {memory, shape, new (memory.data()) Head};
}

SharedJobs SharedJobs::attach(std::span<std::byte> memory, const SharedJobsShape& shape) {
  return {memory, shape, std::launder(reinterpret_cast<Head*>(memory.data()))};
}

SharedJobs::SharedJobs(std::span<std::byte> memory, const SharedJobsShape& shape, Head* head)
    : head_(head), most_slices_(shape.most_slices), distance_(StagingPool::distance(shape.staging_bytes)) {
  TAILRACE_CHECK(memory.size() >= bytes_for(shape), "the memory holds the ring and the buffers");
  const auto buffers = static_cast<std::size_t>(shape.buffers);
  memory = memory.subspan(sizeof(Head));
  slots_ = {reinterpret_cast<Slot*>(memory.data()), buffers};
  memory = memory.subspan(slots_bytes(shape));
  slices_ = {reinterpret_cast<Slice*>(memory.data()), buffers * most_slices_};
  memory = memory.subspan(slices_bytes(shape));
  buffers_ = memory.first(buffers * distance_);
}

void SharedJobs::submit(const Staging& job) {
  const std::uint64_t number = submitted();
  TAILRACE_CHECK(number - done() < slots_.size() && job.slices.size() <= most_slices_,
                 "a job has a slot of the ring, and room for its slices there");
  const auto position = static_cast<std::size_t>(job.bytes.data() - buffers_.data());
  slot(number) = {.buffer = distance_ == 0 ? 0 : position / distance_,
                  .slices = job.slices.size(),
                  .step = job.step,
                  .record = job.record.value_or(0),
                  .has_record = job.record.has_value(),
                  .flush = job.flush};
  std::copy(job.slices.begin(), job.slices.end(), slices(number).begin());
  head_->submitted = number + 1;
}

JobView SharedJobs::job(std::uint64_t number) const {
  const Slot& job = slot(number);
  return {.slices = slices(number).first(job.slices),
          .bytes = buffers_.subspan(job.buffer * distance_, distance_),
          .pieces = {},
          .source = 0,
          .step = job.step,
          .record = job.has_record ? std::optional(job.record) : std::nullopt,
          .flush = job.flush};
}

void SharedJobs::finish(std::uint64_t number, bool written) noexcept {
  if (written) head_->written = number;
  head_->done = number;
  head_->changed.raise();
}

}  // namespace tailrace::output
