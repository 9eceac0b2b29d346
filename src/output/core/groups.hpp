// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "output/core/plan.hpp"
#include "tailrace/file_content.hpp"
#include "tailrace/stream.hpp"

/// Streams as groups of a file: /NAME with `values`, `step`, `time_s`, and attributes that describe them.
namespace tailrace::output {

/// What the keys of cases and the names in files call the axes.
inline constexpr std::array axis_names{"x", "y", "z"};

/// A small dataset of the head, with its values. @local
template <class T>
StaticDataset static_dataset(const std::string& path, h5::Shape shape, const std::vector<T>& values) {
  StaticDataset dataset{{path, std::move(shape), h5::element_type_of<T>(), {}}, {}};
  const auto bytes = std::as_bytes(std::span(values));
  dataset.values.assign(bytes.begin(), bytes.end());
  return dataset;
}
template <class T>
StaticDataset static_dataset(const std::string& path, const std::vector<T>& values) {
  return static_dataset(path, {values.size()}, values);
}

/// The dataset of a stream's values in its group. The selection is one part. @local
h5::DatasetSpec values_dataset(const Stream& stream, Index3 domain, h5::ElementType type);

/// The words of a stream whose quantity is a field of the domain. @local
GroupWords words_of(const Stream& stream);

/// Adds the numbers of steps, before all else; 0 planned ones: nobody knows how many. @local
void add_step_counts(StepIndex planned, FileHead& head);
/// Puts one of these numbers, as it is known at the end. @local
void put_step_count(const char* path, StepIndex steps, FileTail& tail);

/// Adds what a group holds beside the values: steps, times, points, attributes. @local
void add_group(const Stream& stream, const GroupWords& words, const Frame& frame, FileHead& head);
/// Adds the step that a reduction ended with, which is known at the end. @local
void add_last_step(const Stream& stream, const Frame& frame, StepIndex steps_done, FileTail& tail);

}  // namespace tailrace::output
