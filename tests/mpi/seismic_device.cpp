// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "device/emulation.hpp"
#include "error_of.hpp"
#include "mpi_case.hpp"
#include "seismic_problem.hpp"
#include "solver.hpp"
#include "temp_dir.hpp"
#include "tested_device.hpp"

/// The solver on a device, an emulated one as a rule, against the one on the processor.
namespace tailrace::seismic {

namespace {

/// The levels of the fields of a rank by name, wherever they are.
class Levels final : public checkpoint::StateArchive {
 public:
  /// `part`: of this box; null: of what the rank has.
  Levels(Solver& solver, const Box* part) : part_(part) { solver.state(*this); }
  [[nodiscard]] bool restores() const noexcept override { return false; }
  [[nodiscard]] const std::map<std::string, std::vector<std::byte>>& all() const { return levels_; }
  [[nodiscard]] const Box& box() const { return box_; }
  /// As numbers.
  [[nodiscard]] std::vector<double> numbers(const std::string& name) const {
    const auto& bytes = levels_.at(name);
    std::vector<double> values(bytes.size() / size_);
    for (std::size_t i = 0; i < values.size(); ++i) {
      float single = 0;
      if (size_ == sizeof(float)) std::memcpy(&single, &bytes[i * size_], size_), values[i] = single;
      if (size_ == sizeof(double)) std::memcpy(&values[i], &bytes[i * size_], size_);
    }
    return values;
  }

 private:
  int enter(const std::string&, int version) override { return version; }
  void pass_numbers(const std::string&, h5::ElementType, std::vector<std::byte>&) override {}
  void pass_text(const std::string&, std::string&) override {}
  void pass_rows(const std::string&, checkpoint::RowSet&) override {}
  void pass_items(const std::string&, checkpoint::ItemSet&) override {}
  void pass_field(const std::string& name, const checkpoint::FieldState& field) override {
    box_ = part_ != nullptr ? *part_ : field.box;
    size_ = h5::size_bytes(field.type);
    auto& out = levels_[name];
    out.resize(static_cast<std::size_t>(box_.volume()) * size_);
    if (field.read) return field.read(box_, out);
    const auto row = static_cast<std::size_t>(box_.x().size()) * size_;
    std::size_t at = 0;
    for (std::int64_t z = box_.lo.z; z < box_.hi.z; ++z)
      for (std::int64_t y = box_.lo.y; y < box_.hi.y; ++y, at += row) {
        const auto from = (z - field.box.lo.z) * field.stride_z + (y - field.box.lo.y) * field.stride_y +
                          box_.lo.x - field.box.lo.x;
        std::memcpy(&out[at],
                    static_cast<const std::byte*>(field.data) + static_cast<std::size_t>(from) * size_, row);
      }
  }

  const Box* part_;
  Box box_;
  std::size_t size_ = 0;
  std::map<std::string, std::vector<std::byte>> levels_;
};

/// A device, and a queue on it.
struct OnDevice {
  std::unique_ptr<device::Device> device;
  std::unique_ptr<device::Queue> queue = device->make_queue();

  [[nodiscard]] SolverPlace place(const std::optional<layout::RankBricks>& bricks = {}) const {
    return {.bricks = bricks, .device = device::ComputeQueue{device.get(), queue.get()}};
  }
};

void advance(Solver& solver, StepIndex first, StepIndex last) {
  for (StepIndex step = first; step <= last; ++step) solver.advance(step);
}

/// The largest difference of a level on any rank, over the largest value.
double difference(mpi::CommView comm, const Levels& found, const Levels& expected, const std::string& name) {
  const auto a = found.numbers(name), b = expected.numbers(name);
  REQUIRE(a.size() == b.size());
  double most = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::isfinite(a[i]) ? std::abs(a[i] - b[i]) : 1e30);
    largest = std::max(largest, std::abs(b[i]));
  }
  return mpi::max(comm, most) / mpi::max(comm, largest);
}

double limit_of(const Problem& problem) {
  return problem.precision == h5::ElementType::float32 ? 2e-6 : 1e-14;
}

constexpr StepIndex steps = 12;

/// The device against the processor, and its bricks against one device, bit for bit.
void check_device(mpi::CommView comm, const Problem& problem, const layout::RankBricks& bricks) {
  trace::Log log("test");
  const auto extremes = survey(comm, problem);
  const OnDevice some{test::tested_device(comm.rank(), {.copy_delay_s = 1e-5})},
      one{test::tested_device(comm.rank())};
  const auto alone = mpi::Comm::split(comm, comm.rank());
  Solver host(comm, problem, extremes, log, {.bricks = bricks, .device = {}}),
      parts(comm, problem, extremes, log, some.place(bricks)),
      whole(alone, problem, extremes, log, one.place());
  advance(host, 1, steps), advance(parts, 1, steps), advance(whole, 1, steps);
  const Levels expected(host, nullptr), found(parts, nullptr), same(whole, &found.box());
  CAPTURE(std::string(to_string(problem.properties.equations)));
  for (const auto& [name, values] : found.all()) {
    CAPTURE(name);
    CHECK(difference(comm, found, expected, name) < limit_of(problem));
    CHECK(mpi::sum(comm, std::int64_t{values != same.all().at(name)}) == 0);
  }
}

Problem in_precision(Problem problem, h5::ElementType precision) {
  problem.precision = precision;
  return problem;
}

/// Larger than a tile and than a block's planes.
Problem long_problem() {
  auto problem = small_problem(Equations::tti, Boundary::Kind::zero);
  problem.cells = {37, 19, 68};
  problem.sources[1].cell = {36, 18, 65};
  return problem;
}

}  // namespace

MPI_CASE("a device computes what the processor does, with every equation, boundary and precision",
         ranks{1, 2, 3}) {
  const layout::RankBricks bricks{1, comm.size() == 2 ? 2 : 1, comm.size() == 3 ? 3 : 1};
  for (const auto equations : {Equations::isotropic, Equations::vti, Equations::tti})
    for (const auto kind : {Boundary::Kind::zero, Boundary::Kind::random, Boundary::Kind::sponge})
      for (const auto precision : {h5::ElementType::float32, h5::ElementType::float64})
        if (comm.size() == 1 || precision == h5::ElementType::float32 || kind == Boundary::Kind::sponge)
          check_device(comm, in_precision(small_problem(equations, kind), precision), bricks);
}

MPI_CASE("devices exchange halos across each axis and edge, thin bricks and empty ones included",
         ranks{2, 3, 4, 7}) {
  const int n = comm.size();
  std::vector<layout::RankBricks> all{{n, 1, 1}, {1, n, 1}, {1, 1, n}};
  if (n == 4) all = {{2, 2, 1}, {2, 1, 2}, {1, 2, 2}};
  for (const auto& bricks : all)
    check_device(comm, small_problem(Equations::tti, Boundary::Kind::random), bricks);
}

MPI_CASE("a device computes boxes of several tiles and columns of several blocks", ranks{1, 2}) {
  check_device(comm, long_problem(), {1, 1, comm.size()});
}

MPI_CASE("a device takes the memory that was said, at most 14 arrays for tilted media", ranks{1, 3}) {
  auto problem = small_problem(Equations::tti, Boundary::Kind::sponge);
  trace::Log log("test");
  {
    auto emulated = device::emulate();
    const auto& counts = *emulated;
    const OnDevice on{std::move(emulated)};
    const Solver solver(comm, problem, survey(comm, problem), log, on.place());
    const auto needed = Solver::needed_memory(problem, comm.size(), comm.rank(), true);
    const auto taken = static_cast<double>(counts.counts().max_allocated_bytes);
    CHECK(taken <= needed.device_bytes * 1.001 + 4096);  // lists of boxes
    CHECK(taken > needed.device_bytes * 0.99 - 4096);
  }
  problem.cells = {248, 248, 248};
  problem.boundary = {};
  for (auto* const parameter : {&problem.properties.delta, &problem.properties.azimuth_rad})
    *parameter = varying(0.1, 0.01, 0);
  const double array_bytes = static_cast<double>(problem.cells.volume()) * sizeof(float);
  CHECK(Solver::needed_memory(problem, 1, 0, true).device_bytes < 14 * array_bytes);
  CHECK(Solver::needed_memory(problem, 1, 0, true).device_bytes > 11 * array_bytes);
}

MPI_CASE("a device without room is one error on all ranks", ranks{1, 2, 3}) {
  const auto problem = small_problem(Equations::vti, Boundary::Kind::zero);
  trace::Log log("test");
  const auto extremes = survey(comm, problem);
  const bool last = comm.rank() == comm.size() - 1;
  const OnDevice on{device::emulate({.memory_bytes = last ? std::size_t{100000} : std::size_t{1} << 30})};
  const auto error = test::error_of([&] { const Solver solver(comm, problem, extremes, log, on.place()); });
  REQUIRE(error);
  CHECK(error->kind == ErrorKind::resource);
  CHECK(error->rank == comm.size() - 1);
  CHECK(error->message.find("bytes left") != std::string::npos);
}

MPI_CASE("checkpoints of a device continue on processors and devices, and the other way round",
         ranks{1, 2, 3}) {
  const auto problem = small_problem(Equations::tti, Boundary::Kind::sponge);
  trace::Log log("test");
  const auto extremes = survey(comm, problem);
  const test::TempDir own_directory;
  const std::string directory = mpi::broadcast(comm, own_directory.path(), 0);
  const layout::RankBricks thin{1, 1, comm.size()}, flat{1, comm.size(), 1};
  const OnDevice whole_on{test::tested_device(comm.rank())}, first_on{test::tested_device(comm.rank())},
      second_on{test::tested_device(comm.rank())};
  Solver whole(comm, problem, extremes, log, whole_on.place(flat));
  advance(whole, 1, steps);
  const Levels expected(whole, nullptr);
  for (const bool saves_on_device : {true, false})
    for (const bool continues_on_device : {true, false}) {
      const auto place = [](bool device, const OnDevice& on, const layout::RankBricks& bricks) {
        return device ? on.place(bricks) : SolverPlace{.bricks = bricks, .device = {}};
      };
      Solver first(comm, problem, extremes, log, place(saves_on_device, first_on, thin)),
          second(comm, problem, extremes, log, place(continues_on_device, second_on, flat));
      advance(first, 1, 7);
      const std::string checkpoints =
          directory + (saves_on_device ? "/1" : "/0") + (continues_on_device ? "1" : "0");
      checkpoint::save(
          comm, checkpoints, {.simulation = "seismic", .program = "test", .step = 7},
          [&](checkpoint::StateArchive& archive) { first.state(archive); }, 1);
      const auto restored = checkpoint::restore_newest(
          comm, checkpoints, "seismic", [&](checkpoint::StateArchive& archive) { second.state(archive); });
      CHECK(restored.step == 7);
      second.restored(7);
      advance(second, 8, steps);
      const Levels found(second, nullptr);
      for (const auto& [name, values] : found.all()) {
        CHECK(difference(comm, found, expected, name) < limit_of(problem));
        if (saves_on_device && continues_on_device) CHECK(values == expected.all().at(name));
      }
    }
}

}  // namespace tailrace::seismic
