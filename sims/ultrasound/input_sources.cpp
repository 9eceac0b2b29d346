// SPDX-License-Identifier: BSD-3-Clause
#include "input_sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bad_values.hpp"
#include "h5/file.hpp"
#include "mpi/verdict.hpp"

namespace tailrace::ultrasound {

namespace {

/// Mode and number of signals of a source; `stem` is "p" or "u".
void read_mode(HeaderReader& reader, const char* stem, SourceHeader& source) {
  source.mode =
      static_cast<SourceMode>(reader
                                  .integer(fmt::format("{}_source_mode", stem), 0, 2,
                                           "0 (dirichlet), 1 (additive-no-correction) or 2 (additive)")
                                  .value_or(2));
  source.one_signal = reader.integer(fmt::format("{}_source_many", stem), 0, 1).value_or(0) == 0;
}

/// Source points as linear indices from 0.
std::vector<std::int64_t> read_points(HeaderReader& reader, const Grid& grid, const std::string& name,
                                      std::vector<std::string>& repeated) {
  const auto volume = static_cast<std::uint64_t>(grid.points.volume());
  const auto points = reader.list(name, "point");
  std::vector<std::int64_t> indices;
  if (!points) return indices;
  if (const auto outside = volume > 0 ? entries_outside(*points, volume) : std::nullopt)
    reader.add(fmt::format("{}: {}", name, *outside), fmt::format("grid points from 1 to {}", volume));
  for (const auto point : *points) indices.push_back(static_cast<std::int64_t>(point - 1));
  auto sorted = indices;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twice = std::adjacent_find(sorted.begin(), sorted.end()); twice != sorted.end())
    repeated.push_back(fmt::format("{}: point {}", name, *twice + 1));
  return indices;
}

/// Notes if the dataset of a source's signals is not what flag and points ask for.
void check_signals(HeaderReader& reader, const std::string& stem, const SourceHeader& source,
                   std::size_t points) {
  const auto name = stem + "_source_input";
  const auto shape = reader.shape(name, h5::ElementType::float32);
  if (!shape || (!source.one_signal && points == 0)) return;
  const auto wanted =
      h5::element_count({static_cast<std::uint64_t>(source.steps), source.one_signal ? 1 : points});
  if (h5::element_count(*shape) == wanted) return;
  reader.add(
      fmt::format("{} has shape {}, {} values", name, h5::to_string(*shape), h5::element_count(*shape)),
      fmt::format("{} values: {}_source_flag = {} time points{}", wanted, stem, source.steps,
                  source.one_signal ? "" : fmt::format(" of {} source points", points)));
}

/// Delays from 0. The signal has to last for every step of the run at the longest of them.
std::vector<std::int64_t> read_delays(HeaderReader& reader, const InputHeader& header, std::size_t points) {
  const auto delays = reader.list("delay_mask", "delay");
  const auto shape = reader.shape("transducer_source_input", h5::ElementType::float32);
  std::vector<std::int64_t> result;
  if (!delays || !shape) return result;
  if (points > 0 && delays->size() != points)
    reader.add(fmt::format("delay_mask has {} values", delays->size()),
               fmt::format("{}: one per point of u_source_index", points));
  const auto length = h5::element_count(*shape);
  const auto steps = static_cast<std::uint64_t>(std::min(header.transducer_steps, header.steps));
  const auto most = length >= steps ? length - steps + 1 : 0;
  if (most == 0)
    reader.add(fmt::format("transducer_source_input has {} values", length),
               fmt::format("at least {}: transducer_source_flag = {}", steps, header.transducer_steps));
  else if (const auto outside = entries_outside(*delays, most))
    reader.add("delay_mask: " + *outside,
               fmt::format("delays from 1 to {}: transducer_source_input has {} values, of which {} are used "
                           "without delay",
                           most, length, steps));
  for (const auto delay : *delays) result.push_back(static_cast<std::int64_t>(delay - 1));
  return result;
}

/// Removes what `read` fills in if it meets a problem, since nothing more is to be read of that source.
template <class Read>
void unless_bad(HeaderReader& reader, std::int64_t& steps, Read read) {
  const auto before = reader.problems();
  if (steps > 0) read();
  if (reader.problems() > before) steps = 0;
}

void read_velocity_header(HeaderReader& reader, InputHeader& header, SourceLists& lists) {
  const auto dimensions = header.grid.dimensions();
  const auto in_use = [](const SourceHeader& source) { return source.steps > 0; };
  for (std::size_t axis = 0; axis < dimensions; ++axis)
    header.velocity[axis].steps =
        reader.integer(fmt::format("u{}_source_flag", axis_names[axis]), 0, HeaderReader::any_integer)
            .value_or(0);
  header.transducer_steps =
      reader.integer("transducer_source_flag", 0, HeaderReader::any_integer).value_or(0);
  const bool any = std::any_of(header.velocity.begin(), header.velocity.end(), in_use);
  if (!any && header.transducer_steps == 0) return;

  const auto before = reader.problems();
  lists.velocity = read_points(reader, header.grid, "u_source_index", lists.repeated);
  SourceHeader common;
  if (any) read_mode(reader, "u", common);
  const bool good = reader.problems() == before;
  for (std::size_t axis = 0; axis < dimensions; ++axis) {
    auto& source = header.velocity[axis];
    source.mode = common.mode;
    source.one_signal = common.one_signal;
    unless_bad(reader, source.steps, [&] {
      check_signals(reader, fmt::format("u{}", axis_names[axis]), source, lists.velocity.size());
    });
    if (!good) source.steps = 0;
  }
  unless_bad(reader, header.transducer_steps,
             [&] { lists.delays = read_delays(reader, header, lists.velocity.size()); });
  if (!good) header.transducer_steps = 0;
}

/// The first `count` values of a dataset in the order of the file. Writers disagree on the shape of signals;
/// only the order of their values is certain.
template <class Real>
std::vector<Real> read_first(const h5::File& file, const std::string& name, std::uint64_t count) {
  auto shape = file.shape(name);
  const auto is_long = [](std::uint64_t extent) { return extent != 1; };
  if (std::count_if(shape.begin(), shape.end(), is_long) == 1) {
    const h5::Shape start(shape.size(), 0);
    *std::find_if(shape.begin(), shape.end(), is_long) = count;
    std::vector<Real> values(count);
    file.read_hyperslab<Real>(name, start, shape, std::span<Real>(values));
    return values;
  }
  std::vector<Real> values(h5::element_count(shape));
  file.read<Real>(name, std::span<Real>(values));
  values.resize(count);
  return values;
}

/// The first `steps` values of the points `wanted` of `points`, time by time.
template <class Real>
std::vector<Real> read_signals(const h5::File& file, const std::string& name, std::uint64_t steps,
                               std::uint64_t points, Range wanted) {
  const auto begin = static_cast<std::uint64_t>(wanted.begin),
             count = static_cast<std::uint64_t>(wanted.size());
  const auto shape = file.shape(name);
  std::vector<Real> signals(steps * count);
  if (shape.size() == 3 && shape[0] == 1 && shape[2] == points) {
    file.read_hyperslab<Real>(name, {0, 0, begin}, {1, steps, count}, std::span<Real>(signals));
    return signals;
  }
  const auto all = read_first<Real>(file, name, steps * points);
  for (std::uint64_t t = 0; t < steps; ++t)
    std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(t * points + begin), count,
                signals.begin() + static_cast<std::ptrdiff_t>(t * count));
  return signals;
}

/// This rank's part of a list of points, sorted by plane.
class OwnPoints {
 public:
  OwnPoints(const Grid& grid, const std::vector<std::int64_t>& indices, Range planes)
      : grid_(grid.folded()), indices_(indices) {
    for (std::size_t j = 0; j < indices.size(); ++j)
      if (planes.contains(plane_of(j))) mine_.push_back(j);
    if (!mine_.empty())
      columns_ = {static_cast<std::int64_t>(mine_.front()), static_cast<std::int64_t>(mine_.back() + 1)};
    std::stable_sort(mine_.begin(), mine_.end(),
                     [&](std::size_t a, std::size_t b) { return plane_of(a) < plane_of(b); });
  }
  /// Positions in the list.
  [[nodiscard]] const std::vector<std::size_t>& positions() const { return mine_; }
  /// The part of the list within which they lie.
  [[nodiscard]] Range columns() const { return columns_; }
  [[nodiscard]] std::vector<Index3> points() const {
    std::vector<Index3> points;
    for (const auto j : mine_)
      points.push_back({indices_[j] % grid_.x, indices_[j] / grid_.x % grid_.y, plane_of(j)});
    return points;
  }

 private:
  [[nodiscard]] std::int64_t plane_of(std::size_t j) const { return indices_[j] / (grid_.x * grid_.y); }

  Index3 grid_;
  const std::vector<std::int64_t>& indices_;
  std::vector<std::size_t> mine_;
  Range columns_;
};

template <class Real>
PointSource<Real> read_point_source(const h5::File& file, const std::string& name, const SourceHeader& header,
                                    std::int64_t run_steps, const std::vector<std::int64_t>& indices,
                                    const OwnPoints& own) {
  PointSource<Real> source{.mode = header.mode,
                           .steps = std::min(header.steps, run_steps),
                           .one_signal = header.one_signal,
                           .points = own.points(),
                           .signals = {},
                           .delays = {}};
  const auto steps = static_cast<std::size_t>(source.steps);
  if (source.one_signal) {
    source.signals = read_first<Real>(file, name, steps);
  } else if (!source.points.empty()) {
    const Range columns = own.columns();
    const auto signals = read_signals<Real>(file, name, steps, indices.size(), columns);
    source.signals.reserve(steps * source.points.size());
    const auto first = static_cast<std::size_t>(columns.begin),
               width = static_cast<std::size_t>(columns.size());
    for (std::size_t t = 0; t < steps; ++t)
      for (const auto j : own.positions()) source.signals.push_back(signals[t * width + j - first]);
  }
  return source;
}

template <class Real>
PointSource<Real> read_transducer(const h5::File& file, const InputHeader& header,
                                  const std::vector<std::int64_t>& delays, const OwnPoints& own) {
  PointSource<Real> source{.mode = SourceMode::additive_no_correction,
                           .steps = std::min(header.transducer_steps, header.steps),
                           .one_signal = true,
                           .points = own.points(),
                           .signals = {},
                           .delays = {}};
  const auto longest = *std::max_element(delays.begin(), delays.end());
  source.signals =
      read_first<Real>(file, "transducer_source_input", static_cast<std::uint64_t>(source.steps + longest));
  for (const auto j : own.positions()) source.delays.push_back(delays[j]);
  return source;
}

/// Reads one source on all ranks and looks at all its signals.
template <class Real, class Read>
PointSource<Real> read_good(mpi::CommView comm, const std::string& path, const std::string& name,
                            Problems& problems, Read read) {
  PointSource<Real> source;
  read_together(comm, [&] { source = read(h5::File::open(path)); });
  const std::size_t signals = source.one_signal ? 1 : source.points.size();
  BadValues mine;
  if (!source.one_signal || comm.is_root())
    for (std::size_t i = 0; i < source.signals.size(); ++i)
      if (!std::isfinite(source.signals[i]))
        mine.mark(static_cast<std::int64_t>(i / signals), source.signals[i]);
  const BadValues bad = combined(comm, mine);
  if (bad.count > 0 && comm.is_root())
    problems.add(fmt::format("{}: {} at time point {}", name, bad.text(), bad.first + 1), "finite values");
  return source;
}

}  // namespace

SourceLists read_source_header(HeaderReader& reader, InputHeader& header) {
  SourceLists lists;
  header.has_initial_pressure = reader.integer("p0_source_flag", 0, 1).value_or(0) == 1;
  header.pressure.steps = reader.integer("p_source_flag", 0, HeaderReader::any_integer).value_or(0);
  unless_bad(reader, header.pressure.steps, [&] {
    read_mode(reader, "p", header.pressure);
    lists.pressure = read_points(reader, header.grid, "p_source_index", lists.repeated);
    check_signals(reader, "p", header.pressure, lists.pressure.size());
  });
  read_velocity_header(reader, header, lists);
  return lists;
}

template <class Real>
Sources<Real> read_sources(mpi::CommView comm, const std::string& path, const InputHeader& header,
                           const SourceLists& lists, Problems& problems) {
  const Range planes = header.grid.planes_of(comm.rank(), comm.size());
  const OwnPoints pressure(header.grid, lists.pressure, planes),
      velocity(header.grid, lists.velocity, planes);
  Sources<Real> sources;
  const auto read = [&](const std::string& name, const SourceHeader& source,
                        const std::vector<std::int64_t>& indices, const OwnPoints& own) {
    return read_good<Real>(comm, path, name, problems, [&](const h5::File& file) {
      return read_point_source<Real>(file, name, source, header.steps, indices, own);
    });
  };
  if (header.pressure.steps > 0)
    sources.pressure = read("p_source_input", header.pressure, lists.pressure, pressure);
  for (std::size_t axis = 0; axis < axis_count; ++axis)
    if (header.velocity[axis].steps > 0)
      sources.velocity[axis] = read(fmt::format("u{}_source_input", axis_names[axis]), header.velocity[axis],
                                    lists.velocity, velocity);
  if (header.transducer_steps > 0)
    sources.transducer = read_good<Real>(
        comm, path, "transducer_source_input", problems,
        [&](const h5::File& file) { return read_transducer<Real>(file, header, lists.delays, velocity); });
  return sources;
}

void read_together(mpi::CommView comm, const std::function<void()>& action) {
  mpi::collectively(comm, [&] {
    try {
      action();
    } catch (const Error& error) {
      auto info = error.info();
      if (info.kind == ErrorKind::io && info.hint.empty()) info.hint = "copy or generate the file again";
      throw Error(info);
    }
  });
}

template Sources<float> read_sources(mpi::CommView, const std::string&, const InputHeader&,
                                     const SourceLists&, Problems&);
template Sources<double> read_sources(mpi::CommView, const std::string&, const InputHeader&,
                                      const SourceLists&, Problems&);

}  // namespace tailrace::ultrasound
