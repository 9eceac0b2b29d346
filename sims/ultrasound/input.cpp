// SPDX-License-Identifier: BSD-3-Clause
#include "input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "bad_values.hpp"
#include "base/placed_digest.hpp"
#include "base/rehearsal.hpp"
#include "checkpoint/digest.hpp"
#include "h5/dataset_reader.hpp"
#include "input_digests.hpp"
#include "input_header.hpp"
#include "input_sources.hpp"
#include "mpi/verdict.hpp"

namespace tailrace::ultrasound {

namespace {

/// Extends the range by the values if all of them are good.
template <class Real>
bool all_good(std::span<const Real> values, Accepted accepted, SpeedRange& range) {
  Real min = std::numeric_limits<Real>::max(), max = std::numeric_limits<Real>::lowest();
  int bad = 0;
#pragma omp simd reduction(min : min) reduction(max : max) reduction(| : bad)
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Real value = values[i];
    bad |= is_good(value, accepted) ? 0 : 1;
    min = value < min ? value : min;
    max = value > max ? value : max;
  }
  if (bad != 0) return false;
  range.add({.min_m_s = min, .max_m_s = max});
  return true;
}

/// What the values of a dataset are, or of a part of it.
struct Findings {
  BadValues bad;
  SpeedRange range;
  PlacedDigest digest;

  void add(const Findings& other) noexcept {
    bad.add(other.bad);
    range.add(other.range);
    digest.add(other.digest);
  }
};

/// Looks at the values of one plane, the first of which has this position in the dataset.
template <class Real>
void check_plane(std::span<const Real> values, std::int64_t position, Accepted accepted, Findings& found) {
  found.digest.add(checkpoint::digest_of_values(values), position);  // several times as fast as each alone
  if (all_good(values, accepted, found.range)) return;
  for (const Real value : values) {
    if (is_good(value, accepted))
      found.range.add(value);
    else
      found.bad.mark(position, value);
    ++position;
  }
}

/// Looks at the planes from `first` on, and copies them into the field, if there is one. The threads share
/// them, so that the pages of the field are first touched by those that will use them.
template <class Real>
void take_planes(const std::vector<Real>& values, std::int64_t first, std::int64_t points, Accepted accepted,
                 Field<Real>* field, Findings& found) {
  const auto count = static_cast<std::int64_t>(values.size()) / points;
#pragma omp parallel
  {
    Findings own;
#pragma omp for schedule(static)
    for (std::int64_t plane = 0; plane < count; ++plane) {
      const std::span plane_values(values.data() + plane * points, static_cast<std::size_t>(points));
      check_plane<Real>(plane_values, (first + plane) * points, accepted, own);
      if (field == nullptr) continue;
      Real* const copy = field->plane(first + plane);
      std::copy(plane_values.begin(), plane_values.end(), copy);
      std::fill(copy + points, copy + field->stride_z(), Real(0));
    }
#pragma omp critical
    found.add(own);
  }
}

/// Reads this rank's planes of a grid-sized dataset, in the folded frame, and looks at every value. With
/// `keep` false only a few planes are held at a time, and the result has one.
template <class Real>
Field<Real> read_planes(const h5::File& file, const GridDataset& dataset, const Grid& grid, Range planes,
                        bool keep, Findings& found) {
  constexpr std::int64_t batch_bytes = 4 << 20;  // a plane may be one row only
  const Index3 n = grid.folded();
  const std::int64_t points = n.x * n.y;
  const std::int64_t batch =
      std::max<std::int64_t>(1, batch_bytes / (points * static_cast<std::int64_t>(sizeof(Real))));
  const h5::DatasetReader reader(file, dataset.name);
  Field<Real> field(n, keep ? planes : Range{0, 1});
  std::vector<Real> values;
  for (std::int64_t first = planes.begin; first < planes.end; first += batch) {
    const std::int64_t count = std::min(batch, planes.end - first);
    const Box box = grid.unfolded({{0, 0, first}, {n.x, n.y, first + count}});
    const Index3 extents = box.extents();
    values.resize(static_cast<std::size_t>(count * points));
    reader.read_hyperslab<Real>(
        {static_cast<std::uint64_t>(box.lo.z), static_cast<std::uint64_t>(box.lo.y), 0},
        {static_cast<std::uint64_t>(extents.z), static_cast<std::uint64_t>(extents.y),
         static_cast<std::uint64_t>(extents.x)},
        std::span<Real>(values));
    take_planes(values, first, points, dataset.accepted, keep ? &field : nullptr, found);
  }
  return field;
}

/// As `read_planes`, or the one value of a homogeneous medium, which is checked on the root only.
template <class Real>
Coefficient<Real> read_coefficient(mpi::CommView comm, const h5::File& file, const GridDataset& dataset,
                                   const Grid& grid, Range planes, bool keep, Findings& found) {
  if (h5::element_count(file.shape(dataset.name)) != 1)
    return Coefficient<Real>(read_planes<Real>(file, dataset, grid, planes, keep, found));
  Real value = 0;
  file.read<Real>(dataset.name, std::span(&value, 1));
  if (comm.is_root()) found.digest.add(value, 0);
  if (is_good(value, dataset.accepted))
    found.range.add(value);
  else if (comm.is_root())
    found.bad.mark(0, value);
  return {value, grid.folded()};
}

/// A point of the grid by its linear index, for a message.
std::string point_text(const Grid& grid, std::int64_t index) {
  const Index3 n = grid.points;
  const std::int64_t x = index % n.x, y = index / n.x % n.y;
  if (grid.dimensions() == 2) return fmt::format("(x={}, y={}), counted from 0", x, y);
  return fmt::format("(x={}, y={}, z={}), counted from 0", x, y, index / (n.x * n.y));
}

/// Adds up what all ranks found in one dataset and describes it on the root.
void report(mpi::CommView comm, const GridDataset& dataset, const Grid& grid, const BadValues& mine,
            bool is_constant, Problems& problems) {
  const BadValues bad = combined(comm, mine);
  if (bad.count == 0 || !comm.is_root()) return;
  problems.add(is_constant ? fmt::format("{} ({}) = {}", dataset.name, dataset.meaning,
                                         static_cast<float>(bad.example))
                           : fmt::format("{} ({}): {} at {}", dataset.name, dataset.meaning, bad.text(),
                                         point_text(grid, bad.first)),
               fix_for(dataset.accepted));
}

/// Describes where each dataset of `grid_datasets` goes; the last one, the initial pressure, is no
/// coefficient.
template <class Real>
std::array<Coefficient<Real>*, 7> destinations(RawMedium<Real>& medium) {
  return {&medium.c0,
          &medium.rho0,
          &medium.rho0_staggered[0],
          &medium.rho0_staggered[1],
          &medium.rho0_staggered[2],
          &medium.b_on_a,
          &medium.alpha_coeff};
}

/// Reads medium and initial pressure. @collective{comm}
template <class Real>
void read_grid_datasets(mpi::CommView comm, const std::string& path, bool keep, Input<Real>& input,
                        Problems& problems) {
  const Grid& grid = input.header.grid;
  const Range planes = grid.planes_of(comm.rank(), comm.size());
  const auto coefficients = destinations(input.medium);
  std::array<Findings, grid_datasets.size()> found;
  read_together(comm, [&] {
    const auto file = h5::File::open(path);
    for (std::size_t i = 0; i < grid_datasets.size(); ++i) {
      if (!input.header.readable[i]) continue;
      if (i < coefficients.size())
        *coefficients[i] = read_coefficient<Real>(comm, file, grid_datasets[i], grid, planes, keep, found[i]);
      else
        input.sources.initial_pressure =
            read_planes<Real>(file, grid_datasets[i], grid, planes, keep, found[i]);
    }
  });
  input.speeds = found.front().range;
  for (std::size_t i = 0; i < grid_datasets.size(); ++i) {
    report(comm, grid_datasets[i], grid, found[i].bad,
           i < coefficients.size() && input.header.readable[i] && coefficients[i]->is_constant(), problems);
    if (input.header.readable[i]) input.digests[grid_datasets[i].name] = found[i].digest.sum();
  }
}

/// HDF5 trusts what a file says of itself: damaged files can make it crash or walk in circles. A copy of this
/// process goes first through all that the file says; only plain values are read elsewhere.
void rehearse_reading(const std::string& path, const InputNeeds& needs) {
  constexpr unsigned limit_s = 50;  // before other ranks give up waiting for this one
  const auto trouble = rehearse(
      [&] {
        Problems ignored(path);
        read_header(h5::File::open(path), needs, ignored);
      },
      limit_s);
  if (!trouble) return;
  throw Error(ErrorInfo{.kind = ErrorKind::input,
                        .message = fmt::format("{}: is damaged: reading it {}", path, *trouble),
                        .path = path,
                        .hint = "copy or generate the file again"});
}

/// Opens the file and reads the small parts on the root, then shares them.
HeaderAndLists read_shared_header(mpi::CommView comm, const std::string& path, const InputNeeds& needs,
                                  Problems& problems) {
  HeaderAndLists lists;
  mpi::collectively_on_root(comm, [&] {
    rehearse_reading(path, needs);
    lists = read_header(h5::File::open(path), needs, problems);
  });
  mpi::broadcast_bytes(comm, std::as_writable_bytes(std::span(&lists.header, 1)), 0);
  mpi::broadcast(comm, lists.mask.indices, 0);
  mpi::broadcast(comm, lists.mask.cuboids, 0);
  mpi::broadcast(comm, lists.sources.pressure, 0);
  mpi::broadcast(comm, lists.sources.velocity, 0);
  mpi::broadcast(comm, lists.sources.delays, 0);
  lists.description = mpi::broadcast(comm, lists.description, 0);
  return lists;
}

}  // namespace

template <class Real>
Input<Real> read_input(mpi::CommView comm, const std::string& path, const InputNeeds& needs) {
  Problems problems(path);
  auto lists = read_shared_header(comm, path, needs, problems);
  Input<Real> input;
  input.header = lists.header;
  input.description = std::move(lists.description);
  input.mask = std::move(lists.mask);
  input.repeated = std::move(lists.sources.repeated);
  if (lists.header.grid.points.volume() > 0) {  // without a grid nothing can belong to a rank
    needs.check_grid(lists.header.grid);
    input.sources = read_sources<Real>(comm, path, lists.header, lists.sources, problems);
    read_grid_datasets(comm, path, !needs.check_only, input, problems);
    add_small_digests(input, comm.is_root());
    sum_digests(comm, input.digests);
  }
  mpi::collectively_on_root(comm, [&] { problems.throw_if_any(); });
  return input;
}

template Input<float> read_input(mpi::CommView, const std::string&, const InputNeeds&);
template Input<double> read_input(mpi::CommView, const std::string&, const InputNeeds&);

}  // namespace tailrace::ultrasound
