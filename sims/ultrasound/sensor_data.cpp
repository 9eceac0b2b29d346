// SPDX-License-Identifier: BSD-3-Clause
#include "sensor_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>

namespace tailrace::ultrasound {

namespace {

const std::vector<h5::Attribute> real_float{{.name = "data_type", .value = "float"},
                                            {.name = "domain_type", .value = "real"}};

std::uint64_t unsigned_of(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

h5::Shape shape_of(const Box& box) {
  const Index3 n = box.extents();
  return {unsigned_of(n.z), unsigned_of(n.y), unsigned_of(n.x)};
}

/// The points or boxes of the sensor mask, and the datasets that take them.
void select_sensors(const InputHeader& header, const SensorMask& mask, const std::string& dataset,
                    output::Stream& stream) {
  const bool series = stream.reduction == output::Reduction::none;
  const auto samples = unsigned_of(series ? stream.cadence.samples() : 1);
  if (!header.cuboid_mask) {
    const Index3 n = header.grid.points;
    output::Points points;
    for (const auto i : mask.indices) points.points.push_back({i % n.x, i / n.x % n.y, i / (n.x * n.y)});
    stream.datasets.push_back(
        {"/" + dataset, {1, samples, mask.indices.size()}, h5::ElementType::float32, real_float});
    stream.selection = std::move(points);
    return;
  }
  for (std::size_t c = 0; c < mask.cuboids.size(); ++c) {
    auto shape = shape_of(mask.cuboids[c]);
    if (series) shape.insert(shape.begin(), samples);
    stream.datasets.push_back(
        {fmt::format("/{}/{}", dataset, c + 1), shape, h5::ElementType::float32, real_float});
  }
  stream.selection = output::Boxes{mask.cuboids};
}

/// A pattern of `SensorQuantity` for one axis.
std::string with_axis(std::string pattern, char axis) {
  std::replace(pattern.begin(), pattern.end(), '?', axis);
  return pattern;
}

/// One stream for one quantity.
output::Stream make_stream(const SensorQuantity& item, char axis, const SensorData& sensor_data,
                           const InputHeader& header, const SensorMask& mask, StepIndex steps) {
  const auto dataset = with_axis(item.dataset, axis);
  // What is computed at the end is not there yet when the last step is sampled.
  const StepIndex last = item.computed_at_end ? steps + 1 : steps;
  output::Stream stream{.name = dataset,
                        .quantity = with_axis(item.quantity, axis),
                        .unit = item.unit,
                        .selection = output::Whole{},
                        .reduction = item.reduction,
                        .cadence = {.first = sensor_data.start, .every = 1, .last = last},
                        .datasets = {}};
  if (item.place == Place::whole)
    stream.datasets.push_back(
        {"/" + dataset, shape_of(Box::whole(header.grid.points)), h5::ElementType::float32, real_float});
  else
    select_sensors(header, mask, dataset, stream);
  return stream;
}

}  // namespace

void SensorData::want(std::string_view name) noexcept {
  for (std::size_t i = 0; i < sensor_quantities.size(); ++i)
    if (name == sensor_quantities[i].name) wanted[i] = true;
}

void SensorData::complete(bool has_outputs) noexcept {
  if (wants_intensity())
    for (const char* name : {"p_raw", "u_non_staggered_raw"}) want(name);
  const bool none = std::none_of(wanted.begin(), wanted.end(), std::identity());
  if (none && !has_outputs) want("p_raw");
}

bool SensorData::wants(const std::string& name) const {
  for (std::size_t i = 0; i < sensor_quantities.size(); ++i)
    if (name == sensor_quantities[i].name) return wanted[i];
  return false;
}

bool SensorData::needs_mask() const noexcept {
  for (std::size_t i = 0; i < sensor_quantities.size(); ++i)
    if (wanted[i] && sensor_quantities[i].place == Place::sensor) return true;
  return copy_sensor_mask;
}

Problems check_record(const SensorData& sensor_data, const InputHeader& header) {
  Problems problems("record");
  if (sensor_data.wants("u_non_staggered_raw") && header.minor_version == 0)
    problems.add("u_non_staggered_raw is not defined for inputs of format 1.0",
                 "leave out u_non_staggered_raw, I_avg and Q_term, or give an input of format 1.1 or 1.2");
  return problems;
}

std::vector<output::Stream> make_streams(const SensorData& sensor_data, const InputHeader& header,
                                         const SensorMask& mask, StepIndex steps) {
  const std::size_t dimensions = header.grid.points.z == 1 ? 2 : 3;
  std::vector<output::Stream> streams;
  for (std::size_t i = 0; i < sensor_quantities.size(); ++i) {
    if (!sensor_data.wanted[i]) continue;
    const auto& item = sensor_quantities[i];
    const bool per_axis = std::string_view(item.dataset).find('?') != std::string_view::npos;
    for (std::size_t axis = 0; axis < (per_axis ? dimensions : 1); ++axis)
      streams.push_back(make_stream(item, axis_names[axis], sensor_data, header, mask, steps));
  }
  return streams;
}

std::vector<run::OfferedQuantity> offered_quantities() {
  std::vector<run::OfferedQuantity> list{{"p", "Pa"}};
  for (std::size_t axis = 0; axis < axis_count; ++axis) {
    auto& staggered = list.emplace_back(run::OfferedQuantity{with_axis("u?", axis_names[axis]), "m/s"});
    staggered.offset_cells[axis] = 0.5;
  }
  for (const char axis : axis_names) list.push_back({with_axis("u?_non_staggered", axis), "m/s"});
  return list;
}

run::OutputDomain make_output_domain(const InputHeader& header, StepIndex steps) {
  const Grid& grid = header.grid;
  const auto& layer = grid.pml.size;
  const Index3 n = grid.points;
  run::OutputDomain domain{
      .points = n,
      .interior = {{layer[0], layer[1], layer[2]}, {n.x - layer[0], n.y - layer[1], n.z - layer[2]}},
      .steps = steps,
      .time_of_step_0_s = -grid.dt_s,
      .dt_s = grid.dt_s,
      .spacing_m = {grid.spacing_m[0], grid.spacing_m[1], grid.dimensions() == 3 ? grid.spacing_m[2] : 1},
      .quantities = {"p"},
      .taken_paths = {}};
  for (std::size_t axis = 0; axis < grid.dimensions(); ++axis) {
    domain.quantities.push_back(with_axis("u?", axis_names[axis]));
    if (header.minor_version > 0)
      domain.quantities.push_back(with_axis("u?_non_staggered", axis_names[axis]));
  }
  for (const auto& item : sensor_quantities)
    for (const char axis : axis_names)
      domain.taken_paths.push_back(fmt::format("/{}", with_axis(item.dataset, axis)));
  return domain;
}

output::Cadence non_staggered_cadence(const std::vector<output::Stream>& streams,
                                      const std::vector<output::Stream>& more) {
  std::vector<output::Cadence> cadences;
  for (const auto* list : {&streams, &more})
    for (const auto& stream : *list)
      if (stream.quantity.ends_with("_non_staggered")) cadences.push_back(stream.cadence);
  if (cadences.empty()) return {};
  const auto same = [&](const output::Cadence& cadence) { return cadence == cadences.front(); };
  if (std::all_of(cadences.begin(), cadences.end(), same)) return cadences.front();
  std::set<StepIndex> steps;
  for (const auto& cadence : cadences)
    for (const auto step : cadence.steps()) steps.insert(step);
  return output::Cadence::of_list({steps.begin(), steps.end()});
}

}  // namespace tailrace::ultrasound
