// SPDX-License-Identifier: BSD-3-Clause
#include "samples.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "basis.hpp"
#include "mpi/packets.hpp"
#include "tailrace/error.hpp"

namespace tailrace::heat {

namespace {

double place(std::int64_t i, std::int64_t n) noexcept {
  return (static_cast<double>(i) + 0.5) / static_cast<double>(n);
}

/// The first of n points that is not below a place: the least i with (2 i + 1) / (2 n) >= units /
/// unit_length.
std::int64_t first_from(std::int32_t units, std::int64_t n) noexcept {
  const std::int64_t unit = unit_length, above = 2 * n * units - unit;
  return above <= 0 ? 0 : (above + 2 * unit - 1) / (2 * unit);
}

Box points_in(const Leaf& leaf, Index3 n) noexcept {
  const auto high = [&](std::size_t d) { return leaf.low[d] + leaf.size(); };
  return {{first_from(leaf.low[0], n.x), first_from(leaf.low[1], n.y), first_from(leaf.low[2], n.z)},
          {first_from(high(0), n.x), first_from(high(1), n.y), first_from(high(2), n.z)}};
}

/// The factors with which an element's values along an axis make those at some points: as many for each.
std::vector<double> factors(const Leaf& leaf, std::size_t axis, Range range, std::int64_t n,
                            std::span<const double> places) {
  std::vector<double> rows(static_cast<std::size_t>(range.end - range.begin) * places.size());
  const double low = to_length(leaf.low[axis]), size = to_length(leaf.size());
  std::span<double> left(rows);
  for (std::int64_t i = range.begin; i < range.end; ++i, left = left.subspan(places.size()))
    set_lagrange(places, 2 * (place(i, n) - low) / size - 1, left.first(places.size()));
  return rows;
}

/// The field at a point, by its factors along each axis.
double value_at(std::span<const double> values, const double* x, const double* y, const double* z,
                std::size_t n) noexcept {
  double sum = 0;
  for (std::size_t k = 0, p = 0; k < n; ++k)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < n; ++i, ++p) sum += x[i] * y[j] * z[k] * values[p];
  return sum;
}

/// Appends the field at the points of a box, x fastest. `places` are those of the polynomials.
void append_values(const Leaf& leaf, std::span<const double> places, std::span<const double> values,
                   const Box& box, Index3 n, std::vector<double>& out) {
  const auto x = factors(leaf, 0, box.x(), n.x, places), y = factors(leaf, 1, box.y(), n.y, places),
             z = factors(leaf, 2, box.z(), n.z, places);
  const std::size_t along = places.size();
  for (std::size_t rz = 0; rz < z.size(); rz += along)
    for (std::size_t ry = 0; ry < y.size(); ry += along)
      for (std::size_t rx = 0; rx < x.size(); rx += along)
        out.push_back(value_at(values, &x[rx], &y[ry], &z[rz], along));
}

/// What precedes the values of a box in a message.
struct PartHead {
  static constexpr std::size_t numbers = 7;
  Box box;
  double level = 0;

  void append_to(std::vector<double>& message) const {
    for (const std::int64_t at : {box.lo.x, box.lo.y, box.lo.z, box.hi.x, box.hi.y, box.hi.z})
      message.push_back(static_cast<double>(at));
    message.push_back(level);
  }
  static PartHead of(const double* from) noexcept {
    const auto at = [&](int i) { return static_cast<std::int64_t>(from[i]); };
    return {{{at(0), at(1), at(2)}, {at(3), at(4), at(5)}}, from[6]};
  }
};

template <class Visit>
void for_each_point(const Box& box, Visit visit) {
  for (std::int64_t z = box.lo.z; z < box.hi.z; ++z)
    for (std::int64_t y = box.lo.y; y < box.hi.y; ++y)
      for (std::int64_t x = box.lo.x; x < box.hi.x; ++x) visit(Index3{x, y, z});
}

}  // namespace

std::vector<Box> Samples::regions_of(const output::Selection& selection, Index3 grid) {
  if (const auto* boxes = std::get_if<output::Boxes>(&selection)) return boxes->boxes;
  const auto* list = std::get_if<output::Points>(&selection);
  if (list == nullptr) return {Box::whole(grid)};
  std::vector<Box> single;
  for (const Index3& p : list->points) single.push_back({p, {p.x + 1, p.y + 1, p.z + 1}});
  return single;
}

Samples::Samples(mpi::CommView comm, const std::vector<output::Stream>& streams, Index3 grid)
    : comm_(comm),
      grid_(grid),
      bricks_(layout::Decomposition::bricks(grid, layout::min_cut_bricks(grid, comm.size()))) {
  for (const auto& stream : streams) {
    if (std::holds_alternative<output::Rows>(stream.selection)) continue;
    wanted_.push_back({stream.cadence, stream.reduction == output::Reduction::final, stream.quantity,
                       regions_of(stream.selection, grid)});
    values_[stream.quantity].assign(static_cast<std::size_t>(own_box().volume()), 0);
  }
}

void Samples::take(StepIndex step, const Solver& solver, const Ball& ball) {
  std::vector<const Wanted*> due;
  for (const auto& one : wanted_)
    if (one.cadence.is_due(step)) due.push_back(&one);
  if (!due.empty()) gather(due, solver, ball);
}

void Samples::take_last(const Solver& solver, const Ball& ball) {
  std::vector<const Wanted*> due;
  for (const auto& one : wanted_)
    if (one.final) due.push_back(&one);
  if (!due.empty()) gather(due, solver, ball);
}

void Samples::gather(const std::vector<const Wanted*>& due, const Solver& solver, const Ball& ball) {
  bool wants_field = false;
  std::vector<Box> regions;
  for (const auto* one : due) {
    if (one->quantity == "source") {
      evaluate_source(one->regions, ball);
      continue;
    }
    wants_field = wants_field || one->quantity == "temperature";
    regions.insert(regions.end(), one->regions.begin(), one->regions.end());
  }
  if (regions.empty()) return;
  std::map<int, std::vector<double>> messages;
  const auto& leaves = solver.forest().leaves;
  const auto places = gll_places_of(solver.order());
  for (std::size_t e = 0; e < leaves.size(); ++e)
    for (const Box& region : regions) {
      const Box here = intersect(points_in(leaves[e], grid_), region);
      if (here.empty()) continue;
      for (const int rank : bricks_.ranks_meeting(here)) {
        auto& message = messages[rank];
        const Box theirs = intersect(here, bricks_.box(rank));
        PartHead{theirs, static_cast<double>(leaves[e].level)}.append_to(message);
        if (wants_field) append_values(leaves[e], places, solver.values(e), theirs, grid_, message);
      }
    }
  const auto put = [&](const std::string& quantity, Index3 at, double value) {
    if (const auto found = values_.find(quantity); found != values_.end())
      found->second[place_of(at)] = value;
  };
  for (const auto& [rank, message] : mpi::deliver(comm_, mpi::packets_of(std::move(messages))))
    for (std::size_t next = 0; next < message.size();) {
      const PartHead head = PartHead::of(message.data() + next);
      next += PartHead::numbers;
      for_each_point(head.box, [&](Index3 at) {
        put("level", at, head.level);
        if (wants_field) put("temperature", at, message[next++]);
      });
    }
}

void Samples::evaluate_source(const std::vector<Box>& regions, const Ball& ball) {
  for (const Box& region : regions)
    for_each_point(intersect(region, own_box()), [&](Index3 at) {
      values_["source"][place_of(at)] =
          ball.source(place(at.x, grid_.x), place(at.y, grid_.y), place(at.z, grid_.z));
    });
}

std::size_t Samples::place_of(Index3 point) const noexcept {
  const Box own = own_box();
  const Index3 n = own.extents();
  return static_cast<std::size_t>(((point.z - own.lo.z) * n.y + point.y - own.lo.y) * n.x + point.x -
                                  own.lo.x);
}

output::FieldView Samples::field(const std::string& quantity) const {
  const auto found = values_.find(quantity);
  if (found == values_.end()) throw Error(ErrorKind::internal, "no output takes " + quantity);
  const auto layout = layout::LocalLayout::dense(own_box());
  return {.data = found->second.data(),
          .type = h5::ElementType::float64,
          .box = own_box(),
          .stride_y = layout.stride_y,
          .stride_z = layout.stride_z};
}

std::int64_t Samples::memory_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const auto& [quantity, values] : values_) bytes += values.capacity() * sizeof(double);
  return static_cast<std::int64_t>(bytes);
}

}  // namespace tailrace::heat
