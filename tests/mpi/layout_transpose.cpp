// SPDX-License-Identifier: BSD-3-Clause
#include "layout/transpose.hpp"

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "mpi_case.hpp"
#include "tailrace/error.hpp"

using namespace tailrace;
using namespace tailrace::layout;

namespace {

constexpr unsigned char untouched = 0xEE;

/// This rank's part of an array whose elements say where they belong: element bytes from (array, global
/// index).
class Pattern {
 public:
  Pattern(Index3 extents, const Box& box, LocalLayout layout, std::size_t element_bytes)
      : extents_(extents), box_(box), layout_(layout), element_bytes_(element_bytes) {
    const std::int64_t planes = box.z().size();
    bytes_.assign(box.empty() ? 1 : static_cast<std::size_t>(planes * layout.stride_z) * element_bytes,
                  untouched);
  }

  /// Writes the elements of planes `range` along `axis`.
  void fill(Axis axis, Range range, int array) {
    for_each(with_range(box_, axis, range), [&](std::size_t offset, std::int64_t index) {
      const auto element = element_of(index, array);
      std::memcpy(bytes_.data() + offset, element.data(), element_bytes_);
    });
  }
  /// Number of elements that are not what `fill` writes, and of bytes in gaps that were touched.
  [[nodiscard]] std::int64_t wrong(int array) const {
    std::int64_t count = 0;
    std::vector<bool> covered(bytes_.size());
    for_each(box_, [&](std::size_t offset, std::int64_t index) {
      const auto element = element_of(index, array);
      if (std::memcmp(bytes_.data() + offset, element.data(), element_bytes_) != 0) ++count;
      for (std::size_t i = 0; i < element_bytes_; ++i) covered[offset + i] = true;
    });
    for (std::size_t i = 0; i < bytes_.size(); ++i)
      if (!covered[i] && bytes_[i] != untouched) ++count;
    return count;
  }
  unsigned char* data() { return bytes_.data(); }

 private:
  template <class Visit>
  void for_each(const Box& part, Visit visit) const {
    for (std::int64_t z = part.lo.z; z < part.hi.z; ++z)
      for (std::int64_t y = part.lo.y; y < part.hi.y; ++y)
        for (std::int64_t x = part.lo.x; x < part.hi.x; ++x) {
          const std::int64_t local =
              (z - box_.lo.z) * layout_.stride_z + (y - box_.lo.y) * layout_.stride_y + x - box_.lo.x;
          visit(static_cast<std::size_t>(local) * element_bytes_, (z * extents_.y + y) * extents_.x + x);
        }
  }
  [[nodiscard]] std::vector<unsigned char> element_of(std::int64_t index, int array) const {
    std::vector<unsigned char> element(element_bytes_, static_cast<unsigned char>(array));
    const auto short_index = static_cast<std::uint32_t>(index * 8 + array);
    std::memcpy(element.data(), &short_index, std::min(sizeof short_index, element_bytes_));
    return element;
  }

  Index3 extents_;
  Box box_;
  LocalLayout layout_;
  std::size_t element_bytes_;
  std::vector<unsigned char> bytes_;
};

/// The dense layout of a box with `gap` elements after each row and each plane.
LocalLayout with_gaps(const Box& box, std::int64_t gap) {
  const std::int64_t row = box.x().size() + gap;
  return {row, row * box.y().size() + gap};
}

struct Fixture {
  Decomposition from, to;
  std::size_t element_bytes = 8;
  Axis axis = Axis::z;
  int batches = 1, flights = 1;
  std::int64_t from_gap = 0, to_gap = 0;
  std::size_t largest_message_bytes = std::size_t{1} << 30;
  std::vector<int> left_out = {};
};

/// Moves `flights` arrays at once, their batches interleaved; returns the number of wrong elements on this
/// rank.
std::int64_t wrong_after(mpi::CommView comm, const Fixture& fixture) {
  const Index3 extents = fixture.from.extents();
  const Box from_box = fixture.from.box(comm.rank()), to_box = fixture.to.box(comm.rank());
  const LocalLayout from_layout = with_gaps(from_box, fixture.from_gap),
                    to_layout = with_gaps(to_box, fixture.to_gap);
  Transpose transpose(comm, {.from = fixture.from,
                             .to = fixture.to,
                             .from_layout = from_layout,
                             .to_layout = to_layout,
                             .element_bytes = fixture.element_bytes,
                             .batch_axis = fixture.axis,
                             .left_out = fixture.left_out,
                             .batches = fixture.batches,
                             .largest_message_bytes = fixture.largest_message_bytes});
  std::vector<Pattern> sources, targets;
  std::vector<Transpose::Flight> flights;
  for (int f = 0; f < fixture.flights; ++f) {
    sources.emplace_back(extents, from_box, from_layout, fixture.element_bytes);
    targets.emplace_back(extents, to_box, to_layout, fixture.element_bytes);
  }
  for (std::size_t f = 0; f < sources.size(); ++f)
    flights.push_back(transpose.begin(sources[f].data(), targets[f].data()));
  for (int k = 0; k < fixture.batches; ++k)
    for (int f = fixture.flights; f-- > 0;) {  // not the order in which they began
      const auto i = static_cast<std::size_t>(f);
      sources[i].fill(fixture.axis, transpose.batch(k), f);
      flights[i].start(k);
      flights[i].progress();
    }
  std::int64_t wrong = 0;
  for (std::size_t f = 0; f < flights.size(); ++f) {
    flights[f].finish();
    wrong += targets[f].wrong(static_cast<int>(f)) + sources[f].wrong(static_cast<int>(f));
  }
  return wrong;
}

std::vector<Decomposition> some_decompositions(Index3 extents, int ranks) {
  std::vector<Decomposition> list{Decomposition::all_on(extents, ranks, ranks - 1)};
  for (const Axis axis : {Axis::x, Axis::y, Axis::z}) {
    list.push_back(Decomposition::slab(extents, axis, ranks));
    list.push_back(Decomposition::pencil(extents, axis, near_square_grid(ranks)));
  }
  return list;
}

}  // namespace

MPI_CASE("every decomposition can become every other, in batches along each axis", ranks{1, 2, 3, 4, 7}) {
  const Index3 extents{5, 7, 6};
  auto next = comm.size();  // each pair meets every axis on one of the numbers of ranks
  for (const auto& from : some_decompositions(extents, comm.size()))
    for (const auto& to : some_decompositions(extents, comm.size())) {
      const auto axis = static_cast<Axis>(next++ % 3);
      CHECK(wrong_after(comm, {.from = from, .to = to, .axis = axis, .batches = 3}) == 0);
    }
}

MPI_CASE("random sizes, layouts and batches", ranks{1, 2, 3, 4, 7}) {
  std::mt19937 random(20260729);  // the same on all ranks
  const auto upto = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  for (int round = 0; round < 60; ++round) {
    const Index3 extents{1 + upto(12), 1 + upto(12), 1 + upto(12)};
    const auto decompositions = some_decompositions(extents, comm.size());
    const std::size_t sizes[] = {4, 8, 16, 1, 3};
    const Fixture fixture{.from = decompositions[static_cast<std::size_t>(upto(6))],
                          .to = decompositions[static_cast<std::size_t>(upto(6))],
                          .element_bytes = sizes[upto(4)],
                          .axis = static_cast<Axis>(upto(2)),
                          .batches = 1 + upto(4),
                          .flights = 1 + upto(3),
                          .from_gap = upto(2),
                          .to_gap = upto(2),
                          .largest_message_bytes = upto(1) == 0 ? std::size_t{1} << 30 : 48};
    CAPTURE(round);
    CHECK(wrong_after(comm, fixture) == 0);
  }
}

MPI_CASE("a rank's own part can be left where it is", ranks{1, 2, 3, 7}) {
  const Index3 extents{6, 11, 9};
  const auto from = Decomposition::slab(extents, Axis::z, comm.size());
  const auto to = Decomposition::slab(extents, Axis::y, comm.size());
  const auto wrong = wrong_after(comm, {.from = from, .to = to, .batches = 2, .left_out = {comm.rank()}});
  CHECK(wrong == intersect(from.box(comm.rank()), to.box(comm.rank())).volume());
}

MPI_CASE("parts of neighbours can be left out too", ranks{2, 3, 7}) {
  const Index3 extents{6, 11, 9};
  const auto from = Decomposition::slab(extents, Axis::z, comm.size());
  const auto to = Decomposition::slab(extents, Axis::y, comm.size());
  std::vector<int> neighbours;  // ranks 0 to 2, 3 to 5, 6
  std::int64_t left = 0;
  for (int rank = comm.rank() / 3 * 3; rank < std::min(comm.rank() / 3 * 3 + 3, comm.size()); ++rank) {
    neighbours.push_back(rank);
    left += intersect(from.box(rank), to.box(comm.rank())).volume();
  }
  CHECK(wrong_after(comm, {.from = from, .to = to, .batches = 2, .left_out = neighbours}) == left);
}

MPI_CASE("more ranks than planes, and boxes one point wide", ranks{1, 2, 3, 4, 7}) {
  for (const Index3 extents : {Index3{9, 2, 1}, Index3{1, 3, 2}, Index3{1, 1, 1}, Index3{4, 0, 3}}) {
    const auto z = Decomposition::slab(extents, Axis::z, comm.size());
    const auto y = Decomposition::slab(extents, Axis::y, comm.size());
    for (int batches = 1; batches <= 5; ++batches) {
      CHECK(wrong_after(comm, {.from = z, .to = y, .axis = Axis::z, .batches = batches}) == 0);
      CHECK(wrong_after(comm, {.from = y, .to = z, .axis = Axis::y, .batches = batches}) == 0);
    }
  }
}

MPI_CASE("there and back again many times, as in a solver", ranks{2, 3, 7}) {
  const Index3 extents{9, 16, 13};
  const auto z = Decomposition::slab(extents, Axis::z, comm.size()),
             y = Decomposition::slab(extents, Axis::y, comm.size());
  const Box z_box = z.box(comm.rank()), y_box = y.box(comm.rank());
  const auto dense_z = LocalLayout::dense(z_box), dense_y = LocalLayout::dense(y_box);
  Transpose forth(
      comm,
      {.from = z, .to = y, .from_layout = dense_z, .to_layout = dense_y, .element_bytes = 8, .batches = 2});
  Transpose back(comm, {.from = y,
                        .to = z,
                        .from_layout = dense_y,
                        .to_layout = dense_z,
                        .element_bytes = 8,
                        .batch_axis = Axis::y});
  Pattern start(extents, z_box, dense_z, 8), middle(extents, y_box, dense_y, 8),
      end(extents, z_box, dense_z, 8);
  for (int round = 0; round < 40; ++round) {
    start.fill(Axis::z, z_box.z(), round);
    auto flight = forth.begin(start.data(), middle.data());
    flight.start(1);
    flight.start(0);
    flight.finish();
    auto return_flight = back.begin(middle.data(), end.data());
    return_flight.start(0);
    return_flight.finish();
    CHECK(middle.wrong(round) == 0);
    CHECK(end.wrong(round) == 0);
  }
}

MPI_CASE("blocks of megabytes arrive whole", ranks{2}) {
  const Index3 extents{512, 512, 32};  // 32 MB in all: each rank sends half of its half
  const auto z = Decomposition::slab(extents, Axis::z, 2), y = Decomposition::slab(extents, Axis::y, 2);
  CHECK(wrong_after(comm, {.from = z, .to = y, .element_bytes = 4, .batches = 1}) == 0);
}

MPI_CASE("a rank waits only for ranks whose points it gets", ranks{3}) {
  const Index3 extents{4, 4, 3};
  const auto z = Decomposition::slab(extents, Axis::z, 3);
  const auto dense = LocalLayout::dense(z.box(comm.rank()));
  Transpose transpose(comm,
                      {.from = z, .to = z, .from_layout = dense, .to_layout = dense, .element_bytes = 8});
  std::vector<double> from(16, comm.rank()), to(16);
  // Rank 0 starts when the others have ended: were they to wait for it, nobody would ever continue.
  if (comm.rank() == 0) mpi::barrier(comm);
  auto flight = transpose.begin(from.data(), to.data());
  flight.start(0);
  flight.finish();
  if (comm.rank() > 0) mpi::barrier(comm);
  CHECK(to == from);
}

MPI_CASE("a flight that an error cuts short leaves its target alone", ranks{2}) {
  const Index3 extents{4, 4, 4};
  const auto z = Decomposition::slab(extents, Axis::z, 2), y = Decomposition::slab(extents, Axis::y, 2);
  const Box z_box = z.box(comm.rank()), y_box = y.box(comm.rank());
  Pattern source(extents, z_box, LocalLayout::dense(z_box), 8),
      target(extents, y_box, LocalLayout::dense(y_box), 8);
  Transpose transpose(comm, {.from = z,
                             .to = y,
                             .from_layout = LocalLayout::dense(z_box),
                             .to_layout = LocalLayout::dense(y_box),
                             .element_bytes = 8});
  { const auto dropped = transpose.begin(source.data(), target.data()); }
  source.fill(Axis::z, z_box.z(), 1);
  auto flight = transpose.begin(source.data(), target.data());
  flight.start(0);
  flight.finish();
  CHECK(target.wrong(1) == 0);
}

MPI_CASE("misuse is named", ranks{1, 2}) {
  const Index3 extents{4, 4, 4};
  const auto z = Decomposition::slab(extents, Axis::z, comm.size());
  const auto dense = LocalLayout::dense(z.box(comm.rank()));
  const auto config = [&](TransposeConfig c) { return c; };
  const auto good =
      config({.from = z, .to = z, .from_layout = dense, .to_layout = dense, .element_bytes = 8});
  auto bad = good;
  bad.batches = 0;
  CHECK_THROWS_AS(Transpose(comm, bad), Error);
  bad = good;
  bad.to = Decomposition::slab({4, 4, 5}, Axis::z, comm.size());
  CHECK_THROWS_AS(Transpose(comm, bad), Error);
  bad = good;
  bad.from = Decomposition::slab(extents, Axis::z, comm.size() + 1);
  CHECK_THROWS_AS(Transpose(comm, bad), Error);
  bad = good;
  bad.from_layout = {3, 16};
  CHECK_THROWS_AS(Transpose(comm, bad), Error);
  Transpose transpose(comm, good);
  std::vector<double> from(64), to(64);
  auto flight = transpose.begin(from.data(), to.data());
  CHECK_THROWS_AS(flight.start(1), Error);
  CHECK_THROWS_AS(flight.finish(), Error);
  flight.start(0);
  flight.finish();
  CHECK_THROWS_AS(flight.finish(), Error);
}
