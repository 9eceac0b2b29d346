// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "h5/chunked.hpp"
#include "output/core/plan.hpp"

namespace tailrace::output {

/// One chunk as an extent of its dataset's values.
struct ChunkPlace {
  std::int64_t number = 0;
  std::int64_t begin = 0, bytes = 0;  ///< without what reaches over the dataset's edge

  [[nodiscard]] std::int64_t end() const noexcept { return begin + bytes; }
};

/// Describes how a dataset falls into chunks each of which holds values that are neighbours in the dataset:
/// some neighbouring slices along one axis, whole along the faster ones.
class ChunkGrid {
 public:
  /// Of a dataset without elements, which has no chunks.
  ChunkGrid() = default;
  /// `chunk` must pass `is_regular`.
  ChunkGrid(h5::Shape shape, const h5::Shape& chunk, std::int64_t element_bytes);

  [[nodiscard]] static bool is_regular(const h5::Shape& shape, const h5::Shape& chunk) noexcept;
  /// The chunk that we take for a dataset with elements: a sample, or a part of one of at most 1 MiB, or of
  /// samples of less than 32 KiB several, unless each has to reach the file by itself.
  [[nodiscard]] static h5::Shape choose(const h5::Shape& shape, std::int64_t element_bytes,
                                        std::int64_t sample_bytes, bool each_sample);

  [[nodiscard]] std::int64_t chunk_bytes() const noexcept { return chunk_bytes_; }
  [[nodiscard]] std::int64_t total_bytes() const noexcept { return total_bytes_; }
  /// The chunk that holds the byte at `offset` of the values.
  [[nodiscard]] ChunkPlace at(std::int64_t offset) const noexcept;
  [[nodiscard]] ChunkPlace chunk(std::int64_t number) const noexcept;
  /// Indices of its first element.
  [[nodiscard]] h5::Shape start(const ChunkPlace& place) const;

 private:
  h5::Shape shape_;
  std::int64_t element_bytes_ = 0, total_bytes_ = 0, chunk_bytes_ = 0;
  std::int64_t block_bytes_ = 0;       ///< refers to the slices along the cut axis
  std::int64_t chunks_per_block_ = 0;  ///< the last may reach over the edge
};

/// One dataset of the file as a rank sees it.
struct ChunkedStream {
  std::string path;
  ChunkGrid grid;
  h5::ChunkLayout layout;
  std::int64_t element_bytes = 0, sample_bytes = 0;
  Cadence cadence;
  bool series = false;             ///< unreduced
  bool open = false;               ///< refers to a number of samples that is not known: the dataset grows
  std::int64_t present_bytes = 0;  ///< values in the file when this run opened it or saved its samples
  const Share* share = nullptr;    ///< says what this rank owns of it, if anything

  /// True if all values of the chunk that are still to come belong to this rank and it can be written as a
  /// whole.
  [[nodiscard]] bool owns(const ChunkPlace& place) const noexcept;
  /// The file holds the samples up to this step.
  void mark_present(StepIndex until) noexcept;
  /// True if some of its values are in the file, and some are still to come.
  [[nodiscard]] bool continues(const ChunkPlace& place) const noexcept;
  /// The last step up to which all samples are in the file while this chunk is not.
  [[nodiscard]] StepIndex complete_before(const ChunkPlace& place) const noexcept;
  /// Samples that the dataset has at least when the chunk is there, up to step `last`.
  [[nodiscard]] std::int64_t samples_with(const ChunkPlace& place, StepIndex last) const noexcept;
  /// Bytes per sample of this rank's values in chunks that it shares with others.
  [[nodiscard]] std::int64_t shared_bytes() const noexcept;
};

/// The shape in which a dataset of the stream is cut into chunks: with room for more samples than there will
/// ever be if their number is open.
h5::Shape shape_to_cut(const PlannedStream& stream, const h5::DatasetSpec& spec);

/// Bytes of one sample, over all ranks, of a dataset of such a shape.
std::int64_t sample_bytes(const PlannedStream& stream, const h5::Shape& shape, std::int64_t element_bytes);

/// The datasets of a plan, in its order, cut as `layouts` says; those without elements, and those of records,
/// which `GrowingStream` keeps, have no grid.
/// `present_until` is the step up to which the file holds samples.
std::vector<ChunkedStream> map_datasets(const Plan& plan, const std::vector<h5::ChunkLayout>& layouts,
                                        StepIndex present_until);

}  // namespace tailrace::output
