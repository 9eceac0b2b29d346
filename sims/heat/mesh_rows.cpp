// SPDX-License-Identifier: BSD-3-Clause
#include "mesh_rows.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "basis.hpp"
#include "tailrace/error.hpp"

namespace tailrace::heat {

namespace {

std::vector<std::size_t> points_of(const std::string& quantity, int order) {
  if (quantity == MeshRows::corners) {
    const auto last = static_cast<std::size_t>(order), along_y = (last + 1) * last,
               along_z = (last + 1) * along_y;
    return {0,       last,           along_y,           along_y + last,
            along_z, along_z + last, along_z + along_y, along_z + along_y + last};
  }
  std::vector<std::size_t> all(element_points_of(order));
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

}  // namespace

std::int64_t MeshRows::components_of(const std::string& quantity, int order) noexcept {
  constexpr std::int64_t corner_points = 8;
  return components_before +
         (quantity == corners ? corner_points : static_cast<std::int64_t>(element_points_of(order)));
}

MeshRows::MeshRows(const std::vector<output::Stream>& streams, int order) {
  for (const auto& stream : streams) {
    if (!offers(stream.quantity)) continue;
    const auto type = types_[stream.quantity] = stream.datasets.front().type;
    const auto bytes =
        components_of(stream.quantity, order) * static_cast<std::int64_t>(h5::size_bytes(type));
    made_bytes_ = std::max(made_bytes_, bytes);
    copied_bytes_ += bytes;
  }
}

output::RowsView MeshRows::rows(const std::string& quantity, const Solver& solver) {
  const auto found = types_.find(quantity);
  if (found == types_.end()) throw Error(ErrorKind::internal, "no output takes " + quantity);
  const auto points = points_of(quantity, solver.order());
  return found->second == h5::ElementType::float64 ? fill<double>(solver, points)
                                                   : fill<float>(solver, points);
}

template <class Real>
output::RowsView MeshRows::fill(const Solver& solver, const std::vector<std::size_t>& points) {
  const auto& leaves = solver.forest().leaves;
  const std::size_t numbers = static_cast<std::size_t>(components_before) + points.size();
  std::vector<Real> row(numbers);
  bytes_.resize(leaves.size() * numbers * sizeof(Real));
  for (std::size_t e = 0; e < leaves.size(); ++e) {
    for (std::size_t d = 0; d < 3; ++d) row[d] = static_cast<Real>(to_length(leaves[e].low[d]));
    row[3] = static_cast<Real>(leaves[e].level);
    const auto values = solver.values(e);
    for (std::size_t i = 0; i < points.size(); ++i)
      row[static_cast<std::size_t>(components_before) + i] = static_cast<Real>(values[points[i]]);
    std::memcpy(bytes_.data() + e * numbers * sizeof(Real), row.data(), numbers * sizeof(Real));
  }
  return {.data = bytes_.data(), .count = static_cast<std::int64_t>(leaves.size())};
}

}  // namespace tailrace::heat
