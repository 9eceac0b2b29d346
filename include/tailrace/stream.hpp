// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tailrace/box.hpp"
#include "tailrace/dataset.hpp"

namespace tailrace::output {

/// Single points, kept in the given order; duplicates are sampled as often as they are named. One dataset.
struct Points {
  std::vector<Index3> points;
};

/// Boxes that may overlap. One dataset each.
struct Boxes {
  std::vector<Box> boxes;
};

/// The whole domain. One dataset.
struct Whole {};

/// Rows that have no places: particles, events, elements of a mesh. A sample takes from every rank any
/// number of them, also none; in the file they are one behind the other, sample after sample, within a
/// sample rank after rank. One dataset of shape (0, components), of any element type.
struct Rows {
  std::int64_t components = 1;
};

/// Describes where a quantity is sampled, in global indices.
using Selection = std::variant<Points, Boxes, Whole, Rows>;

/// Describes what happens to the samples over time. `none` keeps them all; the others leave one value per
/// point at the end; `final` is the value of the last step.
enum class Reduction { none, min, max, rms, mean, final };
const char* to_string(Reduction reduction) noexcept;

/// Describes what becomes of the samples of a stream that cannot be written.
enum class OnFailure {
  stop,   ///< the output fails, and with it the run
  retry,  ///< they are written again and again, until it works or a limit is reached
  drop,   ///< they are left out, and the run continues; the file says so (docs/formats/commit_mark.md)
  /// They and all that follow go to the next directory; the file says so (docs/formats/commit_mark.md).
  switch_directory,
};
const char* to_string(OnFailure policy) noexcept;

/// Seconds for which `OnFailure::retry` tries.
inline constexpr double retry_limit_s = 60;

/// The steps at which a stream takes samples: every `every` steps from `first` on, up to and with `last`; or,
/// if it is not empty, those of the ascending list `at`, of which `first` and `last` are the ends.
struct Cadence {
  /// The last step of samples whose number is not known beforehand: they continue as long as the run.
  static constexpr StepIndex open_end = std::numeric_limits<StepIndex>::max();

  StepIndex first = 1, every = 1, last = 0;
  std::vector<StepIndex> at = {};

  /// Errors (usage): the list is empty.
  static Cadence of_list(std::vector<StepIndex> steps);
  [[nodiscard]] bool is_open() const noexcept { return at.empty() && last == open_end; }
  [[nodiscard]] bool is_due(StepIndex step) const noexcept {
    if (!at.empty()) return std::binary_search(at.begin(), at.end(), step);
    return step >= first && step <= last && (step - first) % every == 0;
  }
  /// Number of samples at or before `step`.
  [[nodiscard]] StepIndex samples_until(StepIndex step) const noexcept {
    if (!at.empty()) return std::upper_bound(at.begin(), at.end(), step) - at.begin();
    const StepIndex end = step < last ? step : last;
    return end < first ? 0 : (end - first) / every + 1;
  }
  /// Of one that is not open, as with `steps`.
  [[nodiscard]] StepIndex samples() const noexcept { return samples_until(last); }
  /// The step of a sample counted from 0.
  [[nodiscard]] StepIndex step_of(StepIndex sample) const noexcept {
    if (at.empty()) return first + sample * every;
    return sample < samples() ? at[static_cast<std::size_t>(sample)] : last + 1;
  }
  /// The steps of all samples.
  [[nodiscard]] std::vector<StepIndex> steps() const {
    if (!at.empty()) return at;
    std::vector<StepIndex> list;
    for (StepIndex step = first; step <= last; step += every) list.push_back(step);
    return list;
  }

  friend bool operator==(const Cadence&, const Cadence&) = default;
};

/// Describes how a file counts the samples of a stream that grows: one whose number of samples is open, or
/// which takes `Rows`. The group has, beside the stream's datasets, `step` and `time_s`, an element per
/// sample, and for rows `offsets`, an element more: sample k consists of the rows from offsets[k] up to
/// offsets[k + 1]. See docs/formats/growing.md.
struct Growth {
  std::string group;
  double time_of_step_0_s = 0, dt_s = 0;

  [[nodiscard]] std::string step() const { return group + "/step"; }
  [[nodiscard]] std::string time_s() const { return group + "/time_s"; }
  [[nodiscard]] std::string offsets() const { return group + "/offsets"; }
};

/// A quantity on its way to the file: what, where, when, and the datasets that take it.
struct Stream {
  std::string name;      ///< as the user knows it, for messages and reports
  std::string quantity;  ///< the field that is sampled
  std::string unit;
  Selection selection = Whole{};
  Reduction reduction = Reduction::none;
  Cadence cadence;
  /// One per part of the selection (each box; the points; the whole). The elements are, sample after sample,
  /// the part's values in (z, y, x) order, or the points in the order given; the shape says how a reader sees
  /// them and holds exactly that many elements (one sample for a reduction). Element type float32 or float64;
  /// fields are converted. Where the number of samples is open, the first index counts them, and is 0.
  std::vector<h5::DatasetSpec> datasets;
  OnFailure on_failure = OnFailure::stop;
  std::optional<Growth> growth = {};  ///< refers to a stream that grows, and only of those
  /// Its points lie so many cells further along x, y, z than those of the domain: halves where it is
  /// staggered.
  std::array<double, 3> offset_cells{};
  std::string asked_in = {};  ///< where the user asks for it, such as "case.toml: output[0]"
};

/// The rows that a rank has of a quantity at the time of a sample. The memory belongs to the simulation.
struct RowsView {
  const void* data = nullptr;  ///< components of one row side by side, of the dataset's element type
  std::int64_t count = 0;      ///< rows
};

/// Says whose memory values are in.
enum class Memory {
  host,
  device,  ///< of the device that the output was given; see `DeviceFields`
};

/// A field as a rank holds it: the values of its own box, x contiguous. The memory belongs to the simulation.
struct FieldView {
  const void* data = nullptr;
  h5::ElementType type = h5::ElementType::float32;  ///< float32 or float64
  Box box;                                          ///< the points held here, in global indices; may be empty
  std::int64_t stride_y = 0, stride_z = 0;          ///< in elements
  Memory memory = Memory::host;
};

/// Finds the field of a quantity on this rank at the time of a sample.
using FieldLookup = std::function<FieldView(const std::string& quantity)>;

/// Finds the rows of a quantity on this rank at the time of a sample.
using RowsLookup = std::function<RowsView(const std::string& quantity)>;

/// Describes where the points of a computation are, and when its steps.
struct Frame {
  Index3 domain;                             ///< points of the whole domain
  std::array<double, 3> spacing_m{1, 1, 1};  ///< along x, y, z
  double time_of_step_0_s = 0, dt_s = 0;
  std::array<double, 3> origin_m{};  ///< where point 0 lies, along x, y, z

  [[nodiscard]] double time_s(StepIndex step) const noexcept {
    return time_of_step_0_s + dt_s * static_cast<double>(step);
  }
  /// Where a point lies of a stream whose points have this offset.
  [[nodiscard]] std::array<double, 3> place_m(Index3 point,
                                              const std::array<double, 3>& offset_cells) const noexcept {
    return {origin_m[0] + (static_cast<double>(point.x) + offset_cells[0]) * spacing_m[0],
            origin_m[1] + (static_cast<double>(point.y) + offset_cells[1]) * spacing_m[1],
            origin_m[2] + (static_cast<double>(point.z) + offset_cells[2]) * spacing_m[2]};
  }
};

}  // namespace tailrace::output
