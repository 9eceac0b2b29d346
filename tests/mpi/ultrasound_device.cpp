// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "device_needs.hpp"
#include "device_solver.hpp"
#include "error_of.hpp"
#include "mpi_case.hpp"
#include "solver.hpp"
#include "tested_device.hpp"

/// The solver on a device, an emulated one as a rule, against the one on the processor.
namespace tailrace::ultrasound {

namespace {

/// Describes what a model has, beside a source.
struct Kind {
  Index3 points;
  Physics physics = {};
  bool varies = true;  ///< in space
  output::Cadence non_staggered = {};
};

constexpr Index3 cube{16, 12, 10}, odd{15, 9, 11}, plane{18, 14, 1};
constexpr Physics power_law{.nonlinear = true, .absorption = Absorption::power_law, .alpha_power = 1.5},
    stokes{.nonlinear = false, .absorption = Absorption::stokes}, nonlinear{.nonlinear = true};

Grid grid_of(Index3 points) {
  return {.points = points,
          .spacing_m = {1e-4, 1.1e-4, 1.2e-4},
          .dt_s = 1.2e-8,
          .c_ref_m_s = 1500,
          .pml = {.size = {2, 2, points.z == 1 ? 0 : 2}, .alpha = {2, 1.5, 2}}};
}

/// mean (1 + change * a pattern), or the mean alone.
template <class Real>
Coefficient<Real> coefficient(const Kind& kind, Range planes, double mean, double change) {
  const Index3 n = grid_of(kind.points).folded();
  if (!kind.varies) return {static_cast<Real>(mean), n};
  Field<Real> field(n, planes);
  for (std::int64_t z = planes.begin; z < planes.end; ++z)
    for (std::int64_t i = 0; i < n.x * n.y; ++i)
      field.plane(z)[i] = static_cast<Real>(
          mean * (1 + change * std::sin(0.7 * static_cast<double>(i) + static_cast<double>(z))));
  return Coefficient<Real>(std::move(field));
}

template <class Real>
Model<Real> model_of(mpi::CommView comm, const Kind& kind) {
  const Grid grid = grid_of(kind.points);
  const Range planes = grid.planes_of(comm.rank(), comm.size());
  const auto some = [&](double mean, double change) { return coefficient<Real>(kind, planes, mean, change); };
  RawMedium<Real> raw;
  raw.c0 = some(1500, 0.05);
  raw.rho0 = some(1000, 0.1);
  for (auto& staggered : raw.rho0_staggered) staggered = some(1010, 0.08);
  if (kind.physics.nonlinear) raw.b_on_a = some(6, 0.2);
  if (kind.physics.absorption != Absorption::none) raw.alpha_coeff = some(0.5, 0.3);
  return {.grid = grid,
          .physics = kind.physics,
          .medium = make_medium<Real>(std::move(raw), kind.physics, grid, planes),
          .sources = {},
          .non_staggered = kind.non_staggered};
}

/// A signal for all points or for each, at points that are not in order, one of which is there twice.
template <class Real>
PointSource<Real> source_of(mpi::CommView comm, const Kind& kind, SourceMode mode, bool one_signal) {
  const Grid grid = grid_of(kind.points);
  const Range planes = grid.planes_of(comm.rank(), comm.size());
  PointSource<Real> source;
  source.mode = mode;
  source.steps = 15;
  source.one_signal = one_signal;
  const std::int64_t y = grid.folded().y / 2;
  for (std::int64_t z = planes.begin; z < std::min<std::int64_t>(planes.end, 7); ++z)
    for (const std::int64_t x : {5, 3, 8, 5}) source.points.push_back({x, y, z});
  const auto per_step = one_signal ? 1 : std::ssize(source.points);
  for (StepIndex t = 0; t < source.steps; ++t)
    for (std::ptrdiff_t j = 0; j < per_step; ++j)
      source.signals.push_back(
          static_cast<Real>(std::sin(0.4 * static_cast<double>(t) + 0.3 * static_cast<double>(j % 4))));
  return source;
}

template <class Real>
Field<Real> initial_pressure(mpi::CommView comm, Index3 points) {
  const Grid grid = grid_of(points);
  const Range planes = grid.planes_of(comm.rank(), comm.size());
  const Index3 n = grid.folded();
  Field<Real> field(n, planes);
  for (std::int64_t z = planes.begin; z < planes.end; ++z)
    for (std::int64_t y = 0; y < n.y; ++y)
      for (std::int64_t x = 0; x < n.x; ++x) {
        const double a = static_cast<double>(x - 6) / 2, b = static_cast<double>(z - 4) / 2,
                     c = n.y == 1 ? 0 : static_cast<double>(y - 5) / 2;
        field.at({x, y, z}) = static_cast<Real>(std::exp(-a * a - b * b - c * c));
      }
  return field;
}

/// A device, and a queue on it.
struct OnDevice {
  std::unique_ptr<device::Device> device;
  std::unique_ptr<device::Queue> queue = device->make_queue();

  [[nodiscard]] device::ComputeQueue compute() const { return {device.get(), queue.get()}; }
};

/// What a rank has of the state, and of the velocities at the grid points.
template <class Real>
std::map<std::string, std::vector<double>> values_of(AnySolver<Real>& solver, bool moved,
                                                     const std::optional<OnDevice>& on) {
  auto arrays = ArrayList::of([&](checkpoint::StateArchive& archive) { solver.state(archive); });
  for (const char* name : {"ux_non_staggered", "uy_non_staggered"}) {
    if (!moved) continue;
    const auto view = solver.field(name);
    StateArray array{.name = name,
                     .data = const_cast<void*>(view.data),
                     .type = view.type,
                     .box = view.box,
                     .stride_y = view.stride_y,
                     .stride_z = view.stride_z};
    if (on) {
      array = StateArray::copy_of(name, view.type, view.box);
      device::BoxTransfer(*on->device, *on->queue)
          .read({const_cast<void*>(view.data), view.stride_y, view.stride_z, sizeof(Real)}, view.box,
                view.box, *array.copy);
    }
    arrays.push_back(array);
  }
  std::map<std::string, std::vector<double>> all;
  for (const auto& array : arrays) {
    const Index3 n = array.box.extents();
    for (std::int64_t z = 0; z < n.z; ++z)
      for (std::int64_t y = 0; y < n.y; ++y)
        for (std::int64_t x = 0; x < n.x; ++x)
          all[array.name].push_back(
              static_cast<const Real*>(array.data)[z * array.stride_z + y * array.stride_y + x]);
  }
  return all;
}

/// The largest difference on any rank, over the largest value.
double difference(mpi::CommView comm, const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double most = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::isfinite(a[i]) ? std::abs(a[i] - b[i]) : 1e30);
    largest = std::max(largest, std::abs(b[i]));
  }
  return mpi::max(comm, most) / mpi::max(comm, largest);
}

/// So many steps leave little: what is then in velocities and split densities is rounding of earlier values.
constexpr StepIndex many = 200;

/// A model on a device against the same on the processor, and twice on the device, bit for bit.
template <class Real>
void check(mpi::CommView comm, const Kind& kind, const std::function<void(Model<Real>&)>& complete,
           StepIndex steps = 20) {
  trace::Log log("test");
  const auto values = [&](const std::optional<OnDevice>& on) {
    auto model = model_of<Real>(comm, kind);
    complete(model);
    const auto solver =
        make_solver(comm, std::move(model), log,
                    on ? std::optional(on->compute()) : std::optional<device::ComputeQueue>());
    solver->rehearse();
    for (StepIndex step = 1; step <= steps; ++step) solver->advance(step);
    return values_of(*solver, kind.non_staggered.is_due(steps), on);
  };
  const auto device = [&](double delay_s) {
    return std::optional<OnDevice>(OnDevice{test::tested_device(comm.rank(), {.copy_delay_s = delay_s})});
  };
  const auto expected = values({}), found = values(device(0)), again = values(device(1e-5));
  const double limit = sizeof(Real) == sizeof(float) ? 2e-6 : 1e-13;
  REQUIRE(found.size() == expected.size());
  for (const auto& [name, all] : found) {
    CAPTURE(name);
    if (steps < many || name == "p")
      CHECK(difference(comm, all, expected.at(name)) < (name == "p" ? 1 : 4) * limit);
    CHECK(mpi::sum(comm, std::int64_t{all != again.at(name)}) == 0);
  }
}

template <class Real>
std::function<void(Model<Real>&)> with_pressure(mpi::CommView comm, const Kind& kind, SourceMode mode,
                                                bool one_signal) {
  return [=](Model<Real>& model) { model.sources.pressure = source_of<Real>(comm, kind, mode, one_signal); };
}

template <class Real>
std::function<void(Model<Real>&)> at_rest(mpi::CommView comm, const Kind& kind) {
  return
      [=](Model<Real>& model) { model.sources.initial_pressure = initial_pressure<Real>(comm, kind.points); };
}

}  // namespace

MPI_CASE("a device computes ultrasound as the processor does, in every kind of medium",
         shared_by{1, 2, 3, 7}) {
  int turn =
      comm.size();  // half of them on odd numbers of ranks, the others on even ones, and on 7 ranks few
  for (const Index3& points : {cube, odd, plane})
    for (const Physics& physics : {Physics{}, nonlinear, stokes, power_law}) {
      if (turn++ % (comm.size() == 7 ? 4 : 2) != 0) continue;
      const Kind kind{.points = points, .physics = physics, .varies = turn % 4 < 2};
      check<float>(comm, kind, at_rest<float>(comm, kind));
    }
}

MPI_CASE("a device computes ultrasound in double precision", ranks{1, 3}) {
  for (const Index3& points : {cube, plane}) {
    const Kind kind{.points = points, .physics = power_law};
    check<double>(comm, kind, with_pressure<double>(comm, kind, SourceMode::additive, false));
  }
}

MPI_CASE("all sources act on a device, whatever their mode and signals", ranks{1, 2, 7}) {
  int turn = comm.size();
  for (const auto mode : {SourceMode::dirichlet, SourceMode::additive_no_correction, SourceMode::additive})
    for (const bool one_signal : {true, false}) {
      if (turn++ % 3 != 0 && comm.size() == 7) continue;
      const Kind kind{.points = turn % 2 == 0 ? cube : plane, .physics = one_signal ? stokes : power_law};
      check<float>(comm, kind, [&](Model<float>& model) {
        model.sources.pressure = source_of<float>(comm, kind, mode, one_signal);
        for (std::size_t axis = 0; axis < model.grid.dimensions(); ++axis)
          model.sources.velocity[axis] = source_of<float>(comm, kind, mode, !one_signal);
      });
    }
}

MPI_CASE("a transducer with delays and an initial pressure act on a device", ranks{1, 3}) {
  const Kind kind{.points = cube};
  check<float>(comm, kind, [&](Model<float>& model) {
    auto source = source_of<float>(comm, kind, SourceMode::additive_no_correction, true);
    for (std::size_t j = 0; j < source.points.size(); ++j)
      source.delays.push_back(static_cast<StepIndex>(j % 3));
    source.steps -= 3;
    model.sources.transducer = std::move(source);
    model.sources.initial_pressure = initial_pressure<float>(comm, cube);
  });
}

MPI_CASE("a device moves velocities to the grid points", ranks{1, 2, 3}) {
  for (const Index3& points : {cube, odd, plane}) {
    const Kind kind{.points = points, .non_staggered = {.first = 4, .every = 4, .last = 20}};
    check<float>(comm, kind, at_rest<float>(comm, kind));
  }
}

MPI_CASE("200 steps of a device are those of the processor", ranks{1, 2}) {
  const Kind kind{.points = {20, 16, 12}, .physics = power_law};
  check<float>(comm, kind, with_pressure<float>(comm, kind, SourceMode::additive, true), many);
}

MPI_CASE("a device takes the memory that was said, at most 22 arrays", ranks{1, 3}) {
  const Kind kind{.points = {32, 24, 30}, .physics = power_law};
  auto model = model_of<float>(comm, kind);
  model.sources.pressure = source_of<float>(comm, kind, SourceMode::additive, true);
  trace::Log log("test");
  auto emulated = device::emulate();
  const auto& counts = *emulated;
  const OnDevice on{std::move(emulated)};
  const DeviceNeeds needs{.tables = 4,
                          .parameters = 8,
                          .patterns = 1,
                          .source_bytes = DeviceSource<float>::list_bytes(*model.sources.pressure)};
  const Grid grid = model.grid;
  const auto needed = needed_device_bytes<float>(grid, comm.size(), comm.rank(), needs, true);
  const DeviceSolver<float> solver(comm, std::move(model), log, on.compute());
  const auto taken = static_cast<double>(counts.counts().max_allocated_bytes);
  CHECK(taken > 0.99 * needed - 4096);
  CHECK(taken <= needed + 16384);  // factors along the axes
  const Grid large = grid_of({256, 256, 256});
  const double array_bytes = 256.0 * 256 * 256 * sizeof(float);
  CHECK(needed_device_bytes<float>(large, 1, 0, {.tables = 3, .parameters = 8}, false) < 22 * array_bytes);
  CHECK(needed_device_bytes<float>(large, 1, 0, {.tables = 3, .parameters = 8}, false) > 19 * array_bytes);
}

MPI_CASE("a device without room for ultrasound is one error on all ranks", ranks{1, 2, 3}) {
  const Kind kind{.points = cube};
  trace::Log log("test");
  const bool last = comm.rank() == comm.size() - 1;
  const OnDevice on{device::emulate({.memory_bytes = last ? std::size_t{100000} : std::size_t{1} << 30})};
  const auto error = test::error_of([&] {
    const auto solver = make_solver(comm, model_of<float>(comm, kind), log, std::optional(on.compute()));
  });
  REQUIRE(error);
  CHECK(error->kind == ErrorKind::resource);
  CHECK(error->rank == comm.size() - 1);
  CHECK(error->message.find("bytes left") != std::string::npos);
}

MPI_CASE("ranks with a device and ranks without one compute no ultrasound together", ranks{2}) {
  const Kind kind{.points = cube};
  trace::Log log("test");
  const OnDevice on{device::emulate()};
  const auto some = comm.is_root() ? std::optional(on.compute()) : std::nullopt;
  const auto error =
      test::error_of([&] { const auto solver = make_solver(comm, model_of<float>(comm, kind), log, some); });
  REQUIRE(error);
  CHECK(error->kind == ErrorKind::usage);
  CHECK(error->message == "1 of 2 ranks have a device, and ultrasound computes on all devices or on none");
}

}  // namespace tailrace::ultrasound
