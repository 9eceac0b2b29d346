#include "record.hpp"

#include <fmt/format.h>

#include <algorithm>

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

/// One stream for one quantity. `component` is "p", "ux", "uy" or "uz".
output::Stream make_stream(const RecordItem& item, const std::string& component, const Record& record,
                           const InputHeader& header, const SensorMask& mask, StepIndex steps) {
  const bool series = item.reduction == output::Reduction::none;
  const std::string suffix = std::string(item.name).substr(1);  // behind "p" or "u"
  const std::string dataset = series ? component : component + suffix;
  output::Stream stream{.name = dataset,
                        .quantity = component,
                        .unit = item.velocity ? "m/s" : "Pa",
                        .selection = output::Whole{},
                        .reduction = item.reduction,
                        .cadence = {.first = record.start, .every = 1, .last = steps},
                        .datasets = {}};
  if (item.place == Place::whole)
    stream.datasets.push_back(
        {"/" + dataset, shape_of(Box::whole(header.grid.points)), h5::ElementType::float32, real_float});
  else
    select_sensors(header, mask, dataset, stream);
  return stream;
}

}  // namespace

void Record::apply_default() noexcept {
  if (std::none_of(wanted.begin(), wanted.end(), [](bool w) { return w; })) wanted[0] = true;
}

bool Record::needs_mask() const noexcept {
  for (std::size_t i = 0; i < record_items.size(); ++i)
    if (wanted[i] && record_items[i].place == Place::sensor) return true;
  return copy_sensor_mask;
}

std::vector<output::Stream> make_streams(const Record& record, const InputHeader& header,
                                         const SensorMask& mask, StepIndex steps) {
  std::vector<output::Stream> streams;
  for (std::size_t i = 0; i < record_items.size(); ++i) {
    if (!record.wanted[i]) continue;
    const auto& item = record_items[i];
    if (!item.velocity) streams.push_back(make_stream(item, "p", record, header, mask, steps));
    for (const char axis : axis_names)
      if (item.velocity)
        streams.push_back(make_stream(item, fmt::format("u{}", axis), record, header, mask, steps));
  }
  return streams;
}

}  // namespace tailrace::ultrasound
