// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tailrace/error.hpp"
#include "tailrace/stream.hpp"

namespace tailrace::output {

/// Values that are neighbours in the file: `length` elements from element `offset` of the part's sample on.
struct Run {
  std::int64_t offset = 0, length = 0;

  friend bool operator==(const Run&, const Run&) = default;
};

/// A sampled point, counted from the low corner of this rank's box.
struct LocalPoint {
  std::int32_t x = 0, y = 0, z = 0;
};

/// Returns what so many bytes of a share take in a staging buffer, where every share starts aligned for any
/// element type.
[[nodiscard]] constexpr std::int64_t staged_bytes(std::int64_t bytes) noexcept {
  return (bytes + 7) / 8 * 8;
}

/// Describes what this rank owns of one part of a selection (a box, the list of points, the whole). Its
/// values are in staging buffers and accumulators in the order of their places in the file, so that run after
/// run is contiguous there too.
struct Share {
  std::size_t dataset = 0;  ///< number of the dataset in the file, counted over all streams
  h5::ElementType type = h5::ElementType::float32;
  std::int64_t part_values = 0;  ///< elements of one sample of the part on all ranks
  std::int64_t values = 0;       ///< elements of one sample owned here, never 0
  OnFailure on_failure = OnFailure::stop;
  std::size_t number = 0;          ///< among all shares of the rank; see `number_shares`
  Box block;                       ///< boxes and whole: the points owned here, in global indices
  std::vector<LocalPoint> points;  ///< points: those owned here, in the order of the list
  std::vector<Run> runs;           ///< ascending, never touching each other

  [[nodiscard]] std::int64_t bytes() const noexcept {
    return values * static_cast<std::int64_t>(h5::size_bytes(type));
  }
  /// Bytes that one sample of it takes in a staging buffer.
  [[nodiscard]] std::int64_t staged_bytes() const noexcept { return output::staged_bytes(bytes()); }
};

/// A stream with its selection resolved for one rank.
struct PlannedStream {
  std::string name, quantity, unit;
  Reduction reduction = Reduction::none;
  Cadence cadence;
  std::vector<h5::DatasetSpec> datasets;  ///< refers to all parts, those owned by other ranks included
  std::vector<Share> shares;              ///< only what this rank owns
  OnFailure on_failure = OnFailure::stop;
  std::optional<Growth> growth = {};
  std::int64_t components = 0;  ///< refers to `Rows`, which have no shares; 0: samples have places
  std::string asked_in = {};    ///< where the user asks for it; empty: in no table of a case

  /// As messages call it: with where the user asks for it. @local
  [[nodiscard]] std::string title() const { return asked_in.empty() ? name : asked_in + ", " + name; }
  /// True if a sample may have any size.
  [[nodiscard]] bool takes_rows() const noexcept { return components > 0; }
  /// Bytes of one of the rows.
  [[nodiscard]] std::int64_t row_bytes() const noexcept;
  /// Bytes of one sample on this rank.
  [[nodiscard]] std::int64_t sample_bytes() const noexcept;
};

/// Everything that is known before the first step about what this rank writes, and where. A plain value:
/// making it needs no communication because every place follows from global indices, and it holds only what
/// this rank owns.
struct Plan {
  Index3 domain;
  Box own_box;
  std::vector<PlannedStream> streams;

  /// Bytes that all unreduced streams of one step take in a staging buffer.
  [[nodiscard]] std::int64_t step_bytes() const noexcept;
  /// Steps that a staging buffer can hold: more than one where single samples would make inefficiently small
  /// writes.
  [[nodiscard]] std::int64_t steps_per_buffer() const noexcept;
  /// Bytes of one staging buffer: the samples of its steps, or a convenient size to write reductions through.
  [[nodiscard]] std::int64_t staging_bytes() const noexcept;
  /// The most staged extents that a job may consist of.
  [[nodiscard]] std::size_t staged_extents_per_buffer() const noexcept;
  /// Bytes of the accumulators of the reductions.
  [[nodiscard]] std::int64_t accumulator_bytes() const noexcept;
  /// Bytes of buffers, accumulators and lists of places on this rank.
  [[nodiscard]] std::int64_t memory_bytes(int buffers) const noexcept;
  /// Bytes that this rank writes if the run takes all its steps, without those of streams that grow.
  [[nodiscard]] std::int64_t total_bytes() const noexcept;
  /// Bytes of all stream datasets of the file, over all ranks, without those of streams that grow.
  [[nodiscard]] std::int64_t file_bytes() const noexcept;
  /// True if some stream may leave samples out (`OnFailure::drop`).
  [[nodiscard]] bool may_drop() const noexcept;
  /// True if some stream may go to another directory (`OnFailure::switch_directory`).
  [[nodiscard]] bool may_switch() const noexcept;
  /// True if unreduced samples are due at `step`, on whichever rank.
  [[nodiscard]] bool rows(StepIndex step) const noexcept;
};

/// Adds what is wrong with a cadence. @local
void check_cadence(const Cadence& cadence, Problems& problems);

/// All that is wrong with the streams: selections outside the domain, datasets that do not fit their parts.
/// @local
Problems check_streams(const std::vector<Stream>& streams, Index3 domain);

/// Resolves the streams for the rank that owns `own_box` of the domain; the boxes of all ranks cover the
/// domain without overlap, and `own_box` may be empty. @local. Errors (input): all that `check_streams`
/// finds. Cost: linear in the numbers of points and boxes named and of rows owned.
Plan make_plan(std::vector<Stream> streams, Box own_box, Index3 domain);

/// Numbers the shares of all streams from 0 on, as jobs name them; `make_plan` does it, and so does whoever
/// puts plans together.
void number_shares(Plan& plan) noexcept;
/// Gives streams of rows the shares by which a sink whose samples have places takes them: the rows
/// themselves, and on the root what counts them, in this order. Their datasets are those of the streams, and
/// behind all of these two for each such stream: `Growth::offsets`, and the head of the file of the rows.
void place_rows(Plan& plan, bool is_root);
/// Elements of 8 bytes of such a head, as far as it may reach.
inline constexpr std::int64_t head_elements = 512;
/// The streams of rows, in the order of the plan, which is that of their counts.
std::vector<const PlannedStream*> streams_of_rows(const Plan& plan);
/// The shares by their numbers; they belong to the plan.
std::vector<const Share*> shares_of(const Plan& plan);

/// Makes the values [first, first + count) of a share.
using ShareFill =
    std::function<void(const Share& share, std::int64_t first, std::int64_t count, std::span<std::byte> out)>;

/// The plan for people, a few lines per stream.
std::string to_string(const Plan& plan);

}  // namespace tailrace::output
