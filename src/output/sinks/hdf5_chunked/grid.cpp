// SPDX-License-Identifier: BSD-3-Clause
#include "output/sinks/hdf5_chunked/grid.hpp"

#include <algorithm>
#include <limits>

#include "base/check.hpp"

namespace tailrace::output {

namespace {

constexpr std::int64_t max_chunk_bytes = 1 << 20;  // what HDF5 keeps of a dataset by default
/// A plane of this size is a chunk of its own: mostly it lies on one rank, more of them may not.
constexpr std::int64_t enough_of_sample_bytes = 128 << 10;
/// Samples of this size are not put together: zlib looks back no farther, and an open chunk is lost in a
/// crash.
constexpr std::int64_t enough_of_samples_bytes = 32 << 10;

std::int64_t divided_up(std::int64_t a, std::int64_t b) noexcept {
  return (a + b - 1) / b;
}

std::int64_t elements(const h5::Shape& shape) noexcept {
  return static_cast<std::int64_t>(h5::element_count(shape));
}

/// The axis along which chunks are cut: the slowest on which a chunk has more than one element.
std::size_t cut_axis(const h5::Shape& chunk) noexcept {
  const auto found = std::find_if(chunk.begin(), chunk.end(), [](auto extent) { return extent != 1; });
  return found == chunk.end() ? chunk.size() - 1 : static_cast<std::size_t>(found - chunk.begin());
}

}  // namespace

std::int64_t sample_bytes(const PlannedStream& stream, const h5::Shape& shape, std::int64_t element_bytes) {
  const bool series = stream.reduction == Reduction::none;
  const auto samples = !series                    ? 1
                       : stream.cadence.is_open() ? static_cast<std::int64_t>(shape.front())
                                                  : stream.cadence.samples();
  return elements(shape) / samples * element_bytes;
}

ChunkGrid::ChunkGrid(h5::Shape shape, const h5::Shape& chunk, std::int64_t element_bytes)
    : shape_(std::move(shape)),
      element_bytes_(element_bytes),
      total_bytes_(elements(shape_) * element_bytes),
      chunk_bytes_(elements(chunk) * element_bytes) {
  TAILRACE_CHECK(is_regular(shape_, chunk), "chunks of neighbouring values");
  block_bytes_ = element_bytes;
  for (std::size_t axis = cut_axis(chunk); axis < shape_.size(); ++axis)
    block_bytes_ *= static_cast<std::int64_t>(shape_[axis]);
  chunks_per_block_ = divided_up(block_bytes_, chunk_bytes_);
}

bool ChunkGrid::is_regular(const h5::Shape& shape, const h5::Shape& chunk) noexcept {
  if (shape.empty() || shape.size() != chunk.size()) return false;
  for (std::size_t axis = cut_axis(chunk) + 1; axis < chunk.size(); ++axis)
    if (chunk[axis] != shape[axis]) return false;
  return true;
}

h5::Shape ChunkGrid::choose(const h5::Shape& shape, std::int64_t element_bytes, std::int64_t sample_bytes,
                            bool each_sample) {
  h5::Shape chunk(shape.size(), 1);
  std::int64_t block = element_bytes;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const bool in_sample = block < sample_bytes;
    if (block >= (in_sample ? enough_of_sample_bytes : enough_of_samples_bytes)) break;
    if (!in_sample && each_sample) break;
    const auto extent = static_cast<std::int64_t>(shape[axis]);
    const std::int64_t limit = in_sample ? max_chunk_bytes : enough_of_samples_bytes;
    const std::int64_t most = std::clamp(limit / block, std::int64_t{1}, extent);
    const std::int64_t cut = divided_up(extent, divided_up(extent, most));  // chunks of nearly equal size
    chunk[axis] = static_cast<std::uint64_t>(cut);
    if (cut < extent) break;
    block *= extent;
  }
  return chunk;
}

ChunkPlace ChunkGrid::at(std::int64_t offset) const noexcept {
  return chunk(offset / block_bytes_ * chunks_per_block_ + offset % block_bytes_ / chunk_bytes_);
}

ChunkPlace ChunkGrid::chunk(std::int64_t number) const noexcept {
  const std::int64_t in_block = number % chunks_per_block_ * chunk_bytes_;
  return {.number = number,
          .begin = number / chunks_per_block_ * block_bytes_ + in_block,
          .bytes = std::min(chunk_bytes_, block_bytes_ - in_block)};
}

h5::Shape ChunkGrid::start(const ChunkPlace& place) const {
  h5::Shape start(shape_.size());
  auto element = static_cast<std::uint64_t>(place.begin / element_bytes_);
  for (std::size_t axis = shape_.size(); axis-- > 0;) {
    start[axis] = element % shape_[axis];
    element /= shape_[axis];
  }
  return start;
}

void ChunkedStream::mark_present(StepIndex until) noexcept {
  // The state before the first step is not in a file that holds no step yet.
  if (series && until > 0) present_bytes = sample_bytes * cadence.samples_until(until);
}

bool ChunkedStream::continues(const ChunkPlace& place) const noexcept {
  return place.begin < present_bytes && present_bytes < place.end();
}

bool ChunkedStream::owns(const ChunkPlace& place) const noexcept {
  if (share == nullptr || continues(place)) return false;
  if (share->values == share->part_values) return true;
  const std::int64_t first = place.begin % sample_bytes / element_bytes;
  const std::int64_t count = place.bytes / element_bytes;
  auto run =
      std::upper_bound(share->runs.begin(), share->runs.end(), first,
                       [](std::int64_t value, const Run& candidate) { return value < candidate.offset; });
  if (run == share->runs.begin()) return false;
  --run;
  return first + count <= run->offset + run->length;
}

StepIndex ChunkedStream::complete_before(const ChunkPlace& place) const noexcept {
  if (!series) return std::numeric_limits<StepIndex>::max();
  const StepIndex sample = std::max(place.begin, present_bytes) / sample_bytes;
  return std::max<StepIndex>(cadence.step_of(sample) - 1, 0);
}

std::int64_t ChunkedStream::shared_bytes() const noexcept {
  if (share == nullptr || grid.total_bytes() == 0) return 0;
  std::int64_t bytes = 0;
  for (const auto& run : share->runs) {
    const std::int64_t end = (run.offset + run.length) * element_bytes;
    for (std::int64_t offset = run.offset * element_bytes; offset < end;) {
      const ChunkPlace place = grid.at(offset);
      const std::int64_t next = std::min(end, place.end());
      if (!owns(place)) bytes += next - offset;
      offset = next;
    }
  }
  return bytes;
}

std::int64_t ChunkedStream::samples_with(const ChunkPlace& place, StepIndex last) const noexcept {
  return std::min(divided_up(place.end(), sample_bytes), cadence.samples_until(last));
}

h5::Shape shape_to_cut(const PlannedStream& stream, const h5::DatasetSpec& spec) {
  constexpr std::uint64_t max_bytes = std::uint64_t{1} << 60;
  h5::Shape shape = spec.shape;
  if (!stream.cadence.is_open() || shape.empty()) return shape;
  shape.front() = 1;
  shape.front() = max_bytes / (h5::element_count(shape) * h5::size_bytes(spec.type));
  return shape;
}

std::vector<ChunkedStream> map_datasets(const Plan& plan, const std::vector<h5::ChunkLayout>& layouts,
                                        StepIndex present_until) {
  std::vector<ChunkedStream> all;
  for (const auto& stream : plan.streams) {
    const std::size_t first = all.size();
    const bool series = stream.reduction == Reduction::none;
    for (const auto& spec : stream.datasets) {
      const auto& layout = layouts[all.size()];
      const auto size = static_cast<std::int64_t>(h5::size_bytes(spec.type));
      ChunkedStream mapped{.path = spec.path,
                           .grid = {},
                           .layout = layout,
                           .element_bytes = size,
                           .cadence = stream.cadence,
                           .series = series,
                           .open = stream.cadence.is_open() && !stream.takes_rows()};
      if (!layout.chunk.empty() && !stream.takes_rows()) {
        const auto shape = shape_to_cut(stream, spec);
        mapped.grid = ChunkGrid(shape, layout.chunk, size);
        mapped.sample_bytes = sample_bytes(stream, shape, size);
        mapped.mark_present(present_until);
      }
      all.push_back(std::move(mapped));
    }
    for (const auto& share : stream.shares) all[share.dataset].share = &share;
    TAILRACE_CHECK(all.size() == first + stream.datasets.size(), "one map per dataset");
  }
  return all;
}

}  // namespace tailrace::output
