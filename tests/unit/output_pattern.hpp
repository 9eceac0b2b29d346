// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "tailrace/stream.hpp"

/// A field whose every value says where and when it was taken: x + y a + z a^2 + t a^3, exact in single
/// precision for the small domains of the tests.
namespace tailrace::output::pattern {

constexpr std::int64_t base = 24;

constexpr double value(Index3 p, StepIndex step) noexcept {
  return static_cast<double>(p.x + p.y * base + p.z * base * base + step * base * base * base);
}

/// The pattern on a box, in memory with gaps between rows and planes.
template <class T>
class Field {
 public:
  explicit Field(Box box)
      : box_(box), stride_y_(box.x().size() + 3), stride_z_(stride_y_ * box.y().size() + 5) {
    values_.resize(static_cast<std::size_t>(stride_z_ * box.z().size()), T(-1));
  }

  void set(StepIndex step) {
    for (std::int64_t z = box_.lo.z; z < box_.hi.z; ++z)
      for (std::int64_t y = box_.lo.y; y < box_.hi.y; ++y)
        for (std::int64_t x = box_.lo.x; x < box_.hi.x; ++x)
          values_[static_cast<std::size_t>((z - box_.lo.z) * stride_z_ + (y - box_.lo.y) * stride_y_ +
                                           (x - box_.lo.x))] = static_cast<T>(value({x, y, z}, step));
  }

  [[nodiscard]] FieldView view() const {
    return {.data = values_.data(),
            .type = h5::element_type_of<T>(),
            .box = box_,
            .stride_y = stride_y_,
            .stride_z = stride_z_};
  }

 private:
  Box box_;
  std::int64_t stride_y_, stride_z_;
  std::vector<T> values_;
};

/// The points of one part of a selection in the order of its values.
inline std::vector<Index3> part_points(const Selection& selection, std::size_t part, Index3 domain) {
  if (const auto* points = std::get_if<Points>(&selection)) return points->points;
  const auto* boxes = std::get_if<Boxes>(&selection);
  const Box box = boxes != nullptr ? boxes->boxes[part] : Box::whole(domain);
  std::vector<Index3> all;
  for (std::int64_t z = box.lo.z; z < box.hi.z; ++z)
    for (std::int64_t y = box.lo.y; y < box.hi.y; ++y)
      for (std::int64_t x = box.lo.x; x < box.hi.x; ++x) all.push_back({x, y, z});
  return all;
}

inline std::size_t part_count(const Selection& selection) {
  const auto* boxes = std::get_if<Boxes>(&selection);
  return boxes != nullptr ? boxes->boxes.size() : 1;
}

/// A stream over a selection with datasets /NAME or /NAME/1, /NAME/2, ... as k-Wave names them.
inline Stream make_stream(const std::string& name, const Selection& selection, Reduction reduction,
                          Cadence cadence, h5::ElementType type, Index3 domain) {
  Stream stream;
  stream.name = name;
  stream.quantity = std::string("p");
  stream.unit = std::string("Pa");
  stream.selection = selection;
  stream.reduction = reduction;
  stream.cadence = cadence;
  const auto samples = static_cast<std::uint64_t>(reduction == Reduction::none ? cadence.samples() : 1);
  for (std::size_t part = 0; part < part_count(selection); ++part) {
    h5::DatasetSpec spec;
    spec.path = std::holds_alternative<Boxes>(selection) ? fmt::format("/{}/{}", name, part + 1)
                                                         : fmt::format("/{}", name);
    spec.shape = {samples, part_points(selection, part, domain).size()};
    spec.type = type;
    stream.datasets.push_back(spec);
  }
  return stream;
}

/// The boxes of `parts` ranks that cover the domain: slabs in z, or pencils in y and z. Some are empty if
/// there are more ranks than planes.
inline std::vector<Box> slabs(Index3 domain, int parts) {
  std::vector<Box> boxes;
  for (std::int64_t r = 0; r < parts; ++r)
    boxes.push_back({{0, 0, domain.z * r / parts}, {domain.x, domain.y, domain.z * (r + 1) / parts}});
  return boxes;
}

inline std::vector<Box> pencils(Index3 domain, int parts) {
  std::int64_t rows = 1;
  while ((rows + 1) * (rows + 1) <= parts) ++rows;
  std::vector<Box> boxes(static_cast<std::size_t>(parts));
  const std::int64_t columns = parts / rows;
  for (std::int64_t r = 0; r < rows * columns; ++r) {
    const std::int64_t i = r % rows, j = r / rows;
    boxes[static_cast<std::size_t>(r)] = {
        {0, domain.y * i / rows, domain.z * j / columns},
        {domain.x, domain.y * (i + 1) / rows, domain.z * (j + 1) / columns}};
  }
  return boxes;
}

/// One rank, the last, owns everything.
inline std::vector<Box> one_owner(Index3 domain, int parts) {
  std::vector<Box> boxes(static_cast<std::size_t>(parts));
  boxes.back() = Box::whole(domain);
  return boxes;
}

}  // namespace tailrace::output::pattern
