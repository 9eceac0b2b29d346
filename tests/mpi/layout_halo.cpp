// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/halo.hpp"

#include <cstring>
#include <vector>

#include "device/emulation.hpp"
#include "layout/device_halo.hpp"
#include "mpi_case.hpp"

using namespace tailrace;
using namespace tailrace::layout;

namespace {

constexpr Index3 extents{7, 6, 9};

/// A field on one rank with a halo, whose elements say where in the grid they belong.
class Field {
 public:
  Field(const Box& box, std::int64_t width, std::size_t element_bytes, int number)
      : box_(box), width_(width), element_bytes_(element_bytes), number_(number) {
    const Index3 n = box.extents();
    layout_ = {n.x + 2 * width + number % 2, (n.y + 2 * width + 1) * (n.x + 2 * width + number % 2)};
    bytes_.assign(static_cast<std::size_t>(layout_.stride_z * (n.z + 2 * width)) * element_bytes,
                  std::byte{});
    visit(box, [&](Index3 point, std::byte* element) { write(point, element); });
  }
  [[nodiscard]] LocalLayout layout() const { return layout_; }
  std::byte* first() { return at(box_.lo); }

  /// Number of points of the box and around it that are not as their owners have them, or that should have
  /// been left alone and were not. `reached(axes)`: whether points off the box along so many axes are got.
  template <class Reached>
  std::int64_t wrong(const Reached& reached) {
    const Box around{{box_.lo.x - width_, box_.lo.y - width_, box_.lo.z - width_},
                     {box_.hi.x + width_, box_.hi.y + width_, box_.hi.z + width_}};
    std::int64_t count = 0;
    visit(around, [&](Index3 p, const std::byte* element) {
      const int off = !box_.x().contains(p.x) + !box_.y().contains(p.y) + !box_.z().contains(p.z);
      std::vector<std::byte> expected(element_bytes_);
      if (Box::whole(extents).contains(p) && (off == 0 || reached(off))) write(p, expected.data());
      if (std::memcmp(element, expected.data(), element_bytes_) != 0) ++count;
    });
    return count;
  }

 private:
  std::byte* at(Index3 p) {
    const auto offset = (p.z - box_.lo.z + width_) * layout_.stride_z +
                        (p.y - box_.lo.y + width_) * layout_.stride_y + p.x - box_.lo.x + width_;
    return bytes_.data() + static_cast<std::size_t>(offset) * element_bytes_;
  }
  void write(Index3 p, std::byte* element) const {
    const auto index =
        static_cast<std::uint32_t>(((p.z * extents.y + p.y) * extents.x + p.x) * 8 + number_ + 1);
    std::memcpy(element, &index, std::min(sizeof index, element_bytes_));
  }
  template <class Visit>
  void visit(const Box& box, const Visit& action) {
    for (std::int64_t z = box.lo.z; z < box.hi.z; ++z)
      for (std::int64_t y = box.lo.y; y < box.hi.y; ++y)
        for (std::int64_t x = box.lo.x; x < box.hi.x; ++x) action({x, y, z}, at({x, y, z}));
  }

  Box box_;
  std::int64_t width_;
  std::size_t element_bytes_;
  int number_;
  LocalLayout layout_;
  std::vector<std::byte> bytes_;
};

std::vector<Decomposition> some_decompositions(int ranks) {
  return {Decomposition::slab(extents, Axis::x, ranks), Decomposition::slab(extents, Axis::z, ranks),
          Decomposition::pencil(extents, Axis::x, near_square_grid(ranks)),
          Decomposition::bricks(extents, min_cut_bricks(extents, ranks)),
          Decomposition::all_on(extents, ranks, ranks - 1)};
}

/// Exchanges two fields at once; returns the number of wrong points on this rank.
std::int64_t wrong_after(mpi::CommView comm, const Decomposition& decomposition, std::int64_t width,
                         std::size_t element_bytes, HaloPoints points) {
  const Box own = decomposition.box(comm.rank());
  Field one(own, width, element_bytes, 0), other(own, width, element_bytes, 2);
  Halo halo(comm, {decomposition, one.layout(), element_bytes, width, points});
  halo.start(one.first(), 0);
  halo.start(other.first(), 1);
  halo.progress();
  halo.finish();
  if (own.empty()) return 0;
  const auto reached = [&](int axes) { return axes <= static_cast<int>(points); };
  return one.wrong(reached) + other.wrong(reached);
}

/// The same in the memory of an emulated device, three times.
std::int64_t wrong_on_device(mpi::CommView comm, const Decomposition& decomposition,
                             std::size_t element_bytes, HaloPoints points) {
  constexpr std::int64_t width = 2;
  const Box own = decomposition.box(comm.rank());
  const auto device = device::emulate({.copy_delay_s = 1e-4});
  const auto queue = device->make_queue();
  Field one(own, width, element_bytes, 0), other(own, width, element_bytes, 2);
  DeviceHalo halo(comm, *device, *queue, {decomposition, one.layout(), element_bytes, width, points}, 2);
  for (int round = 0; round < 3; ++round) {
    halo.start(one.first(), round);
    halo.start(other.first(), round);
    halo.finish();
  }
  queue->synchronize();
  CHECK(device->counts().unpinned_copies == 0);
  CHECK(
      static_cast<double>(halo.device_bytes()) ==
      DeviceHalo::needed_bytes({decomposition, one.layout(), element_bytes, width, points}, comm.rank(), 2));
  if (own.empty()) return 0;
  const auto reached = [&](int axes) { return axes <= static_cast<int>(points); };
  return one.wrong(reached) + other.wrong(reached);
}

}  // namespace

MPI_CASE("halos in the memory of devices", ranks{1, 2, 3, 4, 7}) {
  for (const auto& decomposition : some_decompositions(comm.size()))
    for (const std::size_t element_bytes : {std::size_t{4}, std::size_t{8}})
      for (const auto points : {HaloPoints::faces, HaloPoints::edges, HaloPoints::corners})
        CHECK(wrong_on_device(comm, decomposition, element_bytes, points) == 0);
}

MPI_CASE("halos of any width, element and decomposition, thin boxes included", ranks{1, 2, 3, 4, 7}) {
  for (const auto& decomposition : some_decompositions(comm.size()))
    for (const std::int64_t width : {1, 2, 4})
      for (const std::size_t element_bytes : {std::size_t{4}, std::size_t{24}})
        for (const auto points : {HaloPoints::faces, HaloPoints::edges, HaloPoints::corners}) {
          CAPTURE(width);
          CHECK(wrong_after(comm, decomposition, width, element_bytes, points) == 0);
        }
}

MPI_CASE("interior and shells of a halo make up the box", ranks{1, 2, 4, 7}) {
  for (const auto& decomposition : some_decompositions(comm.size())) {
    const Box own = decomposition.box(comm.rank());
    const Halo halo(comm, {decomposition, LocalLayout::dense(own), sizeof(float), 2});
    std::int64_t points = halo.interior().volume();
    for (const Box& shell : halo.shells()) points += shell.volume();
    CHECK(points == own.volume());
    CHECK((comm.size() > 1 || halo.shells().empty()));
  }
}

MPI_CASE("a halo can be exchanged again, one field at a time", ranks{1, 3}) {
  const auto decomposition = Decomposition::slab(extents, Axis::z, comm.size());
  Field field(decomposition.box(comm.rank()), 1, sizeof(double), 1);
  Halo halo(comm, {decomposition, field.layout(), sizeof(double)});
  for (int round = 0; round < 3; ++round) halo.exchange(field.first());
  CHECK(field.wrong([](int axes) { return axes == 1; }) == 0);
}
