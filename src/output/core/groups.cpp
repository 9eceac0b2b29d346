// SPDX-License-Identifier: BSD-3-Clause
#include "output/core/groups.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>

namespace tailrace::output {

namespace {

/// HDF5 keeps attributes of up to 64 KiB.
constexpr std::size_t longest_selection_text = 60'000;

bool is_series(const Stream& stream) {
  return stream.reduction == Reduction::none;
}

std::string json_of(Index3 p) {
  return fmt::format("[{},{},{}]", p.x, p.y, p.z);
}

/// The selection as a reader of the file finds it, in JSON: with what was left out left out, corners
/// inclusive.
std::string selection_text(const Selection& selection) {
  if (std::holds_alternative<Whole>(selection)) return "whole";
  if (std::holds_alternative<Rows>(selection)) return "records";
  if (const auto* boxes = std::get_if<Boxes>(&selection)) {
    const Box& box = boxes->boxes.front();
    const Index3 last{box.hi.x - 1, box.hi.y - 1, box.hi.z - 1};
    return fmt::format(R"({{"box":[{},{}]}})", json_of(box.lo), json_of(last));
  }
  std::vector<std::string> points;
  for (const auto& point : std::get<Points>(selection).points) points.push_back(json_of(point));
  auto text = fmt::format(R"({{"points":[{}]}})", fmt::join(points, ","));
  return text.size() <= longest_selection_text ? text : "points";
}

/// Attributes of a group.
using GroupTexts = std::vector<std::pair<const char*, std::string>>;

/// The time of the samples, evenly spaced or not.
Axis time_axis(const Cadence& cadence, const Frame& frame) {
  Axis axis{.label = "time", .unit = "s"};
  axis.origin = frame.time_s(cadence.step_of(0));
  axis.spacing = frame.dt_s * static_cast<double>(cadence.every);
  const StepIndex intervals = cadence.samples() - 1;
  if (cadence.at.empty() || intervals < 1) return axis;
  const StepIndex span = cadence.last - cadence.first;
  axis.spacing = frame.dt_s * static_cast<double>(span) / static_cast<double>(intervals);
  for (StepIndex i = 0; i <= intervals; ++i)
    axis.even = axis.even && (cadence.step_of(i) - cadence.first) * intervals == span * i;
  return axis;
}

/// The dimensions of a stream's values, slowest first.
std::vector<Axis> axes_of(const Stream& stream, const Frame& frame) {
  std::vector<Axis> axes{is_series(stream) ? time_axis(stream.cadence, frame) : Axis{}};
  if (std::holds_alternative<Points>(stream.selection)) {
    axes.push_back({.label = "point", .unit = ""});
    return axes;
  }
  const auto* boxes = std::get_if<Boxes>(&stream.selection);
  const Index3 low = boxes == nullptr ? Index3{} : boxes->boxes.front().lo;
  const auto first_m = frame.place_m(low, stream.offset_cells);
  for (const std::size_t i : {2U, 1U, 0U})
    axes.push_back(
        {.label = axis_names[i], .unit = "m", .origin = first_m[i], .spacing = frame.spacing_m[i]});
  return axes;
}

/// Where the points of the whole domain lie, in JSON; only where point 0 is not at 0.
GroupTexts places_of(const Frame& frame) {
  if (frame.origin_m == std::array<double, 3>{}) return {};
  const auto json = [](const std::array<double, 3>& along) {
    return fmt::format("[{}]", fmt::join(along, ","));
  };
  return {{"origin_m", json(frame.origin_m)}, {"spacing_m", json(frame.spacing_m)}};
}

StaticDataset step_count(const char* path, StepIndex steps) {
  return static_dataset(path, std::vector{static_cast<std::uint64_t>(steps)});
}

void add_steps(const Stream& stream, const Frame& frame, FileHead& head) {
  // A reduction has no step before it is written.
  const auto steps = is_series(stream) ? stream.cadence.steps() : std::vector<StepIndex>{0};
  std::vector<double> times_s;
  for (const auto step : steps) times_s.push_back(frame.time_s(step));
  head.datasets.push_back(static_dataset("/" + stream.name + "/step", {steps.size()}, steps));
  head.datasets.push_back(static_dataset("/" + stream.name + "/time_s", {steps.size()}, times_s));
}

}  // namespace

h5::DatasetSpec values_dataset(const Stream& stream, Index3 domain, h5::ElementType type) {
  const auto samples = stream.growth ? 0 : is_series(stream) ? stream.cadence.samples() : 1;
  h5::Shape shape{static_cast<std::uint64_t>(samples)};
  const auto append = [&](auto extent) { shape.push_back(static_cast<std::uint64_t>(extent)); };
  if (const auto* rows = std::get_if<Rows>(&stream.selection)) {
    append(rows->components);
  } else if (const auto* points = std::get_if<Points>(&stream.selection)) {
    append(points->points.size());
  } else {
    const auto* boxes = std::get_if<Boxes>(&stream.selection);
    const Index3 n = boxes == nullptr ? domain : boxes->boxes.front().extents();
    for (const auto extent : {n.z, n.y, n.x}) append(extent);
  }
  return {"/" + stream.name + "/values", std::move(shape), type, {}};
}

void add_step_counts(StepIndex planned, FileHead& head) {
  std::vector counts{step_count(steps_path, planned), step_count(steps_done_path, 0)};
  head.datasets.insert(head.datasets.begin(), counts.begin() + (planned > 0 ? 0 : 1), counts.end());
}

void put_step_count(const char* path, StepIndex steps, FileTail& tail) {
  tail.datasets.emplace_back(path, step_count(path, steps).values);
}

GroupWords words_of(const Stream& stream) {
  return {.quantity = stream.quantity, .selection = selection_text(stream.selection)};
}

void add_group(const Stream& stream, const GroupWords& words, const Frame& frame, FileHead& head) {
  const std::string group = "/" + stream.name;
  if (!stream.growth) add_steps(stream, frame, head);
  if (const auto* points = std::get_if<Points>(&stream.selection)) {
    std::vector<std::int64_t> indices;
    for (const auto& p : points->points) indices.insert(indices.end(), {p.x, p.y, p.z});
    head.datasets.push_back(static_dataset(group + "/points", {points->points.size(), 3}, indices));
  }
  const auto add = [&](const char* name, const std::string& text) {
    head.group_attributes.push_back({group, {.name = name, .value = text, .reserved_bytes = 0}});
  };
  add("quantity", words.quantity);
  add("unit", stream.unit);
  add("selection", words.selection);
  add("reduction", to_string(stream.reduction));
  if (!words.on_grid) return;
  head.axes.emplace(stream.datasets.front().path, axes_of(stream, frame));
  if (std::holds_alternative<Rows>(stream.selection)) return;
  for (const auto& [name, text] : places_of(frame)) add(name, text);
}

void add_last_step(const Stream& stream, const Frame& frame, StepIndex steps_done, FileTail& tail) {
  if (is_series(stream)) return;
  const auto put = [&](const std::string& path, const auto& value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    tail.datasets.emplace_back(path, std::vector<std::byte>(bytes.begin(), bytes.end()));
  };
  const bool last_state = stream.reduction == Reduction::final;
  const auto taken = stream.cadence.samples_until(steps_done);
  const StepIndex step = last_state  ? std::min(steps_done, stream.cadence.last)
                         : taken > 0 ? stream.cadence.steps()[static_cast<std::size_t>(taken - 1)]
                                     : 0;
  put("/" + stream.name + "/step", step);
  put("/" + stream.name + "/time_s", frame.time_s(step));
}

}  // namespace tailrace::output
