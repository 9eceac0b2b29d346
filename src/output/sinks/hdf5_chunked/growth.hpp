// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "h5/chunked.hpp"
#include "output/core/plan.hpp"

/// Streams whose samples have no known number or size, as the file's rank keeps them in the file.
namespace tailrace::output {

/// The chunk for rows of a stream.
h5::Shape row_chunk(const PlannedStream& stream);

/// Creates the datasets that count the samples of a stream that grows, as `Growth` says; nothing for others.
void create_counts(h5::File& file, const PlannedStream& stream);

/// Looks whether these datasets of an existing file hold the samples up to a step.
void check_counts(const h5::File& file, const PlannedStream& stream, StepIndex present_until,
                  Problems& problems);

/// A dataset to whose end rows are put. Full chunks are filtered and written at once. The one that is not
/// full is written as it is, so that it keeps its place in the file while it fills: what was committed of it
/// is never moved.
class GrowingDataset {
 public:
  /// Continues behind `rows` rows that stay; what the file has after them is written over. Errors (io).
  GrowingDataset(const h5::File& file, const std::string& path, int level, std::int64_t rows);

  [[nodiscard]] std::int64_t rows() const noexcept {
    return first_row_ + static_cast<std::int64_t>(filled_ / row_bytes_);
  }
  /// Puts whole rows to the end. Errors (io).
  void append(std::span<const std::byte> values);
  /// Writes the chunk that is not full. Errors (io).
  void save();

 private:
  void write(bool filtered);

  h5::ChunkedDataset dataset_;
  h5::ChunkLayout layout_;
  int level_;
  std::size_t element_bytes_ = 0, row_bytes_ = 0;
  std::vector<std::byte> chunk_;  ///< the last one
  std::int64_t first_row_ = 0;    ///< that of it
  std::size_t filled_ = 0;        ///< bytes of it
  bool placed_ = false;           ///< it is in the file, not filtered
  bool changed_ = false;          ///< since it was written
};

/// Describes what a file needs to know of a stream that grows.
struct GrowingStreamSetup {
  const h5::File& file;
  const PlannedStream& stream;  ///< outlives what is made of this
  int ranks = 1;
  int level = 0;                ///< refers to deflate
  StepIndex present_until = 0;  ///< the file holds samples up to this step
};

/// A stream that grows: it counts the samples, and puts the rows of all ranks together.
class GrowingStream {
 public:
  /// Errors (io).
  explicit GrowingStream(const GrowingStreamSetup& setup);

  /// Rows of a rank, behind those that it sent before.
  void take(int source, std::int64_t sample, std::span<const std::byte> new_rows);
  /// The rows up to step `arrived` have come from all ranks: puts them into the file. Returns their bytes.
  /// Errors (io).
  std::int64_t place(StepIndex arrived);
  /// Counts the samples up to step `complete`, and writes all that was put in. Errors (io).
  void save(StepIndex complete);

 private:
  using Sample = std::vector<std::vector<std::byte>>;  ///< rows by rank

  /// Describes what rows have beside other streams.
  struct RowStore {
    GrowingDataset values, offsets;
    std::int64_t samples = 0;                ///< that were put in
    std::map<std::int64_t, Sample> waiting;  ///< by number
  };
  [[nodiscard]] std::int64_t samples_until(StepIndex step) const noexcept;

  const PlannedStream& stream_;
  std::size_t ranks_;
  std::int64_t samples_;  ///< that were counted
  GrowingDataset step_, time_s_;
  std::optional<RowStore> rows_;
};

}  // namespace tailrace::output
