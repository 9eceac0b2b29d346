#include "input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "input_header.hpp"
#include "tailrace/layout/decomposition.hpp"
#include "tailrace/mpi/verdict.hpp"

namespace tailrace::ultrasound {

namespace {

/// Values that a dataset may not hold: how many, and where the first one is (linear index over the grid).
struct BadValues {
  std::int64_t count = 0, first = std::numeric_limits<std::int64_t>::max();
  double example = 0;

  void note(std::int64_t index, double value) {
    if (index < first) {
      first = index;
      example = value;
    }
    ++count;
  }
};

bool is_good(double value, Accepted accepted) {
  return std::isfinite(value) &&
         (accepted == Accepted::any || value > 0 || (accepted == Accepted::not_negative && value == 0));
}

const char* fix_for(Accepted accepted) {
  return accepted == Accepted::any            ? "finite values"
         : accepted == Accepted::not_negative ? "finite values of at least 0"
                                              : "finite values above 0";
}

/// Reads this rank's planes of a grid-sized dataset and looks at every value. With `keep` false only one
/// plane is held at a time, and the result has one value.
template <class Real>
Field<Real> read_planes(const h5::File& file, const GridDataset& dataset, Index3 grid, Range planes,
                        bool keep, BadValues& bad) {
  Field<Real> field(grid, keep ? planes : Range{0, 1});
  const auto ny = static_cast<std::uint64_t>(grid.y), nx = static_cast<std::uint64_t>(grid.x);
  const std::int64_t points = grid.x * grid.y;
  for (std::int64_t z = planes.begin; z < planes.end; ++z) {
    Real* values = field.plane(keep ? z : 0);
    file.read_slab<Real>(dataset.name, {static_cast<std::uint64_t>(z), 0, 0}, {1, ny, nx},
                         std::span(values, static_cast<std::size_t>(points)));
    for (std::int64_t i = 0; i < points; ++i)
      if (!is_good(values[i], dataset.accepted)) bad.note(z * points + i, values[i]);
    std::fill(values + points, values + field.stride_z(), Real(0));
  }
  return field;
}

/// As `read_planes`, or the one value of a homogeneous medium, which is judged on the root only.
template <class Real>
Coefficient<Real> read_coefficient(mpi::CommView comm, const h5::File& file, const GridDataset& dataset,
                                   Index3 grid, Range planes, bool keep, BadValues& bad) {
  if (h5::element_count(file.shape(dataset.name)) != 1)
    return Coefficient<Real>(read_planes<Real>(file, dataset, grid, planes, keep, bad));
  Real value = 0;
  file.read<Real>(dataset.name, std::span(&value, 1));
  if (comm.is_root() && !is_good(value, dataset.accepted)) bad.note(0, value);
  return {value, grid};
}

/// What all ranks found together. @collective{comm}
BadValues combined(mpi::CommView comm, const BadValues& mine) {
  BadValues all;
  all.count = mpi::sum(comm, mine.count);
  if (all.count == 0) return all;
  all.first = mpi::min(comm, mine.first);
  const std::int64_t nobody = comm.size();
  const auto owner =
      static_cast<int>(mpi::min(comm, mine.first == all.first ? std::int64_t{comm.rank()} : nobody));
  all.example = mine.example;
  mpi::broadcast_bytes(comm, std::as_writable_bytes(std::span(&all.example, 1)), owner);
  return all;
}

std::string not_usable(const BadValues& bad) {
  return fmt::format("{} value{} not usable, first {}", bad.count, bad.count == 1 ? " is" : "s are",
                     bad.example);
}

/// Adds up what all ranks found in one dataset and describes it on the root.
void report(mpi::CommView comm, const GridDataset& dataset, Index3 grid, const BadValues& mine,
            bool is_constant, Problems& problems) {
  const BadValues bad = combined(comm, mine);
  if (bad.count == 0 || !comm.is_root()) return;
  const std::string what =
      is_constant ? fmt::format("{} ({}) = {}", dataset.name, dataset.meaning, bad.example)
                  : fmt::format("{} ({}): {} at (x={}, y={}, z={}), counted from 0", dataset.name,
                                dataset.meaning, not_usable(bad), bad.first % grid.x,
                                bad.first / grid.x % grid.y, bad.first / (grid.x * grid.y));
  problems.add(what, fix_for(dataset.accepted));
}

/// The signals of the points `first` to `last` of the list, time by time.
template <class Real>
std::vector<Real> read_signals(const h5::File& file, const InputHeader& header, std::uint64_t points,
                               Range wanted) {
  const auto shape = file.shape("p_source_input");
  const auto steps = static_cast<std::uint64_t>(header.pressure.steps);
  const auto begin = static_cast<std::uint64_t>(wanted.begin),
             count = static_cast<std::uint64_t>(wanted.size());
  std::vector<Real> signals(steps * count);
  if (shape == h5::Shape{1, steps, points}) {
    file.read_slab<Real>("p_source_input", {0, 0, begin}, {1, steps, count}, signals);
    return signals;
  }
  // Writers disagree on the shape of this dataset; only the order of its values is certain.
  std::vector<Real> all(steps * points);
  file.read<Real>("p_source_input", all);
  for (std::uint64_t t = 0; t < steps; ++t)
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(t * points + begin), count,
                signals.begin() + static_cast<std::ptrdiff_t>(t * count));
  return signals;
}

/// This rank's points of the source, sorted by plane, and their signals.
template <class Real>
PointSource<Real> read_source(const h5::File& file, const InputHeader& header,
                              const std::vector<std::int64_t>& indices, Range planes) {
  const Index3 n = header.grid.points;
  const auto plane_of = [&](std::size_t j) { return indices[j] / (n.x * n.y); };
  const auto by_plane = [&](std::size_t a, std::size_t b) { return plane_of(a) < plane_of(b); };
  std::vector<std::size_t> mine;
  for (std::size_t j = 0; j < indices.size(); ++j)
    if (planes.contains(plane_of(j))) mine.push_back(j);

  PointSource<Real> source;
  source.mode = header.pressure.mode;
  source.steps = std::min(header.pressure.steps, header.steps);
  source.one_signal = header.pressure.one_signal;
  const auto steps = static_cast<std::size_t>(source.steps);
  if (source.one_signal) {
    source.signals = read_signals<Real>(file, header, 1, {0, 1});
    source.signals.resize(steps);
  } else if (!mine.empty()) {
    const std::size_t first = mine.front(), columns = mine.back() - first + 1;
    const auto signals =
        read_signals<Real>(file, header, indices.size(),
                           {static_cast<std::int64_t>(first), static_cast<std::int64_t>(first + columns)});
    std::stable_sort(mine.begin(), mine.end(), by_plane);
    source.signals.reserve(steps * mine.size());
    for (std::size_t t = 0; t < steps; ++t)
      for (const auto j : mine) source.signals.push_back(signals[t * columns + j - first]);
  }
  std::stable_sort(mine.begin(), mine.end(), by_plane);
  for (const auto j : mine) source.points.push_back({indices[j] % n.x, indices[j] / n.x % n.y, plane_of(j)});
  return source;
}

/// Reads the source and looks at all its signals. @collective{comm}
template <class Real>
PointSource<Real> read_good_source(mpi::CommView comm, const std::string& path, const InputHeader& header,
                                   const std::vector<std::int64_t>& indices, Range planes,
                                   Problems& problems) {
  PointSource<Real> source;
  mpi::agree_on(comm, [&] { source = read_source<Real>(h5::File::open(path), header, indices, planes); });
  const std::size_t signals = source.one_signal ? 1 : source.points.size();
  BadValues mine;
  if (!source.one_signal || comm.is_root())
    for (std::size_t i = 0; i < source.signals.size(); ++i)
      if (!std::isfinite(source.signals[i]))
        mine.note(static_cast<std::int64_t>(i / signals), source.signals[i]);
  const BadValues bad = combined(comm, mine);
  mpi::agree_on_root(comm, [&] {
    if (bad.count > 0)
      problems.add(fmt::format("p_source_input: {} at time point {}", not_usable(bad), bad.first + 1),
                   "finite values");
    problems.throw_if_any();
  });
  return source;
}

/// Where each dataset of `grid_datasets` goes; the last one, the initial pressure, is no coefficient.
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

/// Opens the file and reads the small parts on the root, then shares them.
HeaderAndLists read_shared_header(mpi::CommView comm, const std::string& path, const InputNeeds& needs,
                                  Problems& problems) {
  HeaderAndLists lists;
  mpi::agree_on_root(comm, [&] { lists = read_header(h5::File::open(path), needs, problems); });
  mpi::broadcast_bytes(comm, std::as_writable_bytes(std::span(&lists.header, 1)), 0);
  mpi::broadcast(comm, lists.mask.indices, 0);
  mpi::broadcast(comm, lists.mask.cuboids, 0);
  mpi::broadcast(comm, lists.source_indices, 0);
  lists.description = mpi::broadcast(comm, lists.description, 0);
  return lists;
}

}  // namespace

template <class Real>
Input<Real> read_input(mpi::CommView comm, const std::string& path, const InputNeeds& needs) {
  Problems problems(path);
  auto lists = read_shared_header(comm, path, needs, problems);
  const Index3 grid = lists.header.grid.points;
  const Range planes = lists.header.grid.planes_of(comm.rank(), comm.size());

  Input<Real> input;
  input.header = lists.header;
  input.description = lists.description;
  input.mask = std::move(lists.mask);
  const auto coefficients = destinations(input.medium);
  std::array<BadValues, grid_datasets.size()> bad;
  mpi::agree_on(comm, [&] {
    const auto file = h5::File::open(path);
    for (std::size_t i = 0; i < grid_datasets.size(); ++i) {
      if (!input.header.readable[i]) continue;
      if (i < coefficients.size())
        *coefficients[i] =
            read_coefficient<Real>(comm, file, grid_datasets[i], grid, planes, !needs.check_only, bad[i]);
      else
        input.sources.initial_pressure =
            read_planes<Real>(file, grid_datasets[i], grid, planes, !needs.check_only, bad[i]);
    }
  });
  for (std::size_t i = 0; i < grid_datasets.size(); ++i)
    report(comm, grid_datasets[i], grid, bad[i],
           i < coefficients.size() && input.header.readable[i] && coefficients[i]->is_constant(), problems);

  // Signals are read only if nothing else is wrong: their size follows from the header.
  mpi::agree_on_root(comm, [&] { problems.throw_if_any(); });
  if (input.header.pressure.steps > 0)
    input.sources.pressure =
        read_good_source<Real>(comm, path, input.header, lists.source_indices, planes, problems);
  return input;
}

template Input<float> read_input(mpi::CommView, const std::string&, const InputNeeds&);
template Input<double> read_input(mpi::CommView, const std::string&, const InputNeeds&);

}  // namespace tailrace::ultrasound
