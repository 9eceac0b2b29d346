// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "checkpoint.hpp"
#include "h5/file.hpp"
#include "mpi_case.hpp"
#include "output_fixture.hpp"

using namespace tailrace;
using namespace tailrace::ultrasound;
namespace fixture = tailrace::output::fixture;

namespace {

/// A state whose every value states its array and place, in memory with gaps.
template <class Real>
class PatternState {
 public:
  PatternState(Index3 points, Box own) {
    const Index3 n = own.extents();
    const std::int64_t stride_y = n.x + 3, stride_z = stride_y * n.y + 5;
    for (const auto& name : checkpoint_arrays(points)) {
      values_.emplace_back(static_cast<std::size_t>(stride_z * n.z), Real(-1));
      arrays_.push_back({.name = name,
                         .data = values_.back().data(),
                         .type = h5::element_type_of<Real>(),
                         .box = own,
                         .stride_y = stride_y,
                         .stride_z = stride_z});
    }
  }

  /// Calls `action(value in memory, value that it should have)` for all points of all arrays.
  void each(const std::function<void(Real&, Real)>& action) {
    for (std::size_t a = 0; a < arrays_.size(); ++a) {
      const auto& array = arrays_[a];
      for (std::int64_t z = array.box.lo.z; z < array.box.hi.z; ++z)
        for (std::int64_t y = array.box.lo.y; y < array.box.hi.y; ++y)
          for (std::int64_t x = array.box.lo.x; x < array.box.hi.x; ++x)
            action(values_[a][static_cast<std::size_t>((z - array.box.lo.z) * array.stride_z +
                                                       (y - array.box.lo.y) * array.stride_y +
                                                       (x - array.box.lo.x))],
                   static_cast<Real>(output::pattern::value({x, y, z}, static_cast<StepIndex>(a))));
    }
  }
  void fill() {
    each([](Real& value, Real wanted) { value = wanted; });
  }
  std::size_t wrong() {
    std::size_t count = 0;
    each([&](Real& value, Real wanted) { count += value != wanted; });
    return count;
  }
  [[nodiscard]] const std::vector<StateArray>& arrays() const { return arrays_; }

 private:
  std::vector<std::vector<Real>> values_;
  std::vector<StateArray> arrays_;
};

constexpr Index3 cube{9, 7, 5}, plane{9, 14, 1};

/// The part of a rank: planes along the slowest axis that has several.
Box own_box(Index3 points, mpi::CommView comm) {
  if (points.z == 1) {
    const auto r = static_cast<std::int64_t>(comm.rank()), n = static_cast<std::int64_t>(comm.size());
    return {{0, points.y * r / n, 0}, {points.x, points.y * (r + 1) / n, 1}};
  }
  return output::pattern::slabs(points, comm.size())[static_cast<std::size_t>(comm.rank())];
}

template <class Real>
void write(mpi::CommView comm, const std::string& directory, Index3 points, StepIndex step,
           const std::string& fault = {}) {
  const Box own = own_box(points, comm);
  PatternState<Real> state(points, own);
  state.fill();
  trace::Log log("main");
  output::pattern::Field<float> field(own);
  output::Session session(
      comm, directory + "/out.h5",
      output::make_plan({fixture::stream("m", output::Whole{}, output::Reduction::max, points)}, own, points),
      fixture::head(), fixture::options_of({}), log);
  field.set(step);
  session.sample(step, [&](const std::string&) { return field.view(); });
  session.flush_all();
  write_checkpoint(comm, directory + "/checkpoint.h5", {.description = "a test", .points = points}, step,
                   state.arrays(),
                   {session.accumulator_streams(state.arrays().size()), session.running_reductions()},
                   fixture::options_of({}, fault));
}

template <class Real>
void check_read(mpi::CommView comm, const std::string& path, Index3 points) {
  PatternState<Real> state(points, own_box(points, comm));
  read_checkpoint(comm, path, state.arrays());
  CHECK(state.wrong() == 0);
}

/// Runs `action` on the first `ranks` ranks.
void on_ranks(mpi::CommView comm, int ranks, const std::function<void(mpi::CommView)>& action) {
  auto some = mpi::Comm::split(comm, comm.rank() < ranks ? 0 : -1);
  if (!some.empty()) {
    action(some);
    some.close();
  }
  mpi::barrier(comm);
}

const std::string reference = std::string(TAILRACE_TEST_DATA) + "/ultrasound/tvsp_dirichlet_v11_checkpoint/";
constexpr Index3 reference_points{32, 32, 32};
constexpr StepIndex reference_steps = 200;

Grid reference_grid() {
  Grid grid;
  grid.points = reference_points;
  return grid;
}

void set_number(const std::string& path, const char* name, std::uint64_t value) {
  auto file = h5::File::open_for_update(path);
  file.write<std::uint64_t>(name, std::span(&value, 1));
  file.close();
}

}  // namespace

MPI_CASE("a state written by a ranks is read by b ranks, in either precision", ranks{3, 7}) {
  for (const Index3 points : {cube, plane})
    for (const int a : {1, 2, 3, 4, 7})
      for (const int b : {1, 2, 3, 4, 7}) {
        if (std::max(a, b) > comm.size()) continue;
        const fixture::SharedDir directory(comm);
        const auto path = directory.file("checkpoint.h5");
        const bool wide = (a + b) % 2 == 1;
        on_ranks(comm, a, [&](mpi::CommView some) {
          wide ? write<double>(some, directory.path(), points, 4)
               : write<float>(some, directory.path(), points, 4);
        });
        on_ranks(comm, b, [&](mpi::CommView some) {
          const auto header = inspect_checkpoint(some, path, points, 4);
          CHECK(header.step == 4);
          CHECK(header.has_reductions);
          check_read<float>(some, path, points);
          check_read<double>(some, path, points);
        });
      }
}

MPI_CASE("a checkpoint is k-Wave's: names, shapes, types and attributes", ranks{1, 2, 3}) {
  for (const Index3 points : {cube, plane}) {
    const fixture::SharedDir directory(comm);
    write<float>(comm, directory.path(), points, 4);
    if (comm.is_root()) {
      const auto file = h5::File::open(directory.file("checkpoint.h5"));
      CHECK(file.text_attribute("/", "file_type") == "checkpoint");
      CHECK(file.text_attribute("/", "major_version") == "1");
      CHECK(file.text_attribute("/", "minor_version") == "2");
      CHECK(file.text_attribute("/", "file_description") == "a test");
      CHECK(file.text_attribute("/", "created_by"));
      CHECK(file.text_attribute("/", "creation_date"));
      std::vector<std::string> wanted{"Nx", "Ny", "Nz", "p", "rhox", "rhoy"};
      if (points.z > 1) wanted.emplace_back("rhoz");
      wanted.insert(wanted.end(), {"t_index", "tailrace_record", "ux_sgx", "uy_sgy"});
      if (points.z > 1) wanted.emplace_back("uz_sgz");
      CHECK(file.dataset_names() == wanted);
      const h5::Shape shape{static_cast<std::uint64_t>(points.z), static_cast<std::uint64_t>(points.y),
                            static_cast<std::uint64_t>(points.x)};
      for (const auto& name : checkpoint_arrays(points)) {
        CHECK(file.shape(name) == shape);
        CHECK(file.type(name) == h5::ElementType::float32);
        CHECK(file.text_attribute(name, "data_type") == "float");
        CHECK(file.text_attribute(name, "domain_type") == "real");
      }
      CHECK(file.text_attribute("t_index", "data_type") == "long");
      CHECK(file.shape("Nx") == h5::Shape{1, 1, 1});
    }
    mpi::barrier(comm);
  }
}

MPI_CASE("k-Wave's own checkpoint is read", ranks{1, 2, 3, 7}) {
  const auto path = reference + "checkpoint_t120.h5";
  const auto header = inspect_checkpoint(comm, path, reference_points, reference_steps);
  CHECK(header.step == 120);
  CHECK(!header.has_reductions);
  const Box own = own_box(reference_points, comm);
  PatternState<float> state(reference_points, own);
  read_checkpoint(comm, path, state.arrays());
  const auto file = h5::File::open(path);
  for (const auto& array : state.arrays()) {
    std::vector<float> values(static_cast<std::size_t>(reference_points.volume()));
    file.read(array.name, std::span(values));
    std::size_t wrong = 0;
    for (std::int64_t z = own.lo.z; z < own.hi.z; ++z)
      for (std::int64_t y = 0; y < 32; ++y)
        for (std::int64_t x = 0; x < 32; ++x)
          wrong += static_cast<const float*>(
                       array.data)[(z - own.lo.z) * array.stride_z + y * array.stride_y + x] !=
                   values[static_cast<std::size_t>((z * 32 + y) * 32 + x)];
    CHECK_MESSAGE(wrong == 0, array.name);
  }
  const auto times = inspect_left_output(comm, reference + "output_after_leg1.h5", header, reference_grid(),
                                         reference_steps, true);
  CHECK(times.simulation == 0.34);
}

MPI_CASE("what is no checkpoint of the run is refused with all reasons", ranks{1, 3}) {
  const auto error_for = [&](const std::string& path, Index3 points, StepIndex steps) {
    const auto error = fixture::error_of([&] { inspect_checkpoint(comm, path, points, steps); });
    REQUIRE(error);
    CHECK(error->kind == ErrorKind::input);
    CHECK(error->message.find("remove the file to start from the beginning") != std::string::npos);
    return error->message;
  };
  const auto contains = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  const auto path = reference + "checkpoint_t120.h5";
  const auto other = error_for(path, {32, 48, 32}, 100);
  CHECK(contains(other, "Ny is 32, the input has 48"));
  CHECK(contains(other, "t_index is 120, the run takes 100 steps"));
  CHECK(contains(other, "dataset rhoz has shape (32, 32, 32), expected (32, 48, 32)"));
  CHECK(contains(error_for(reference + "input.h5", reference_points, 200), "file_type is \"input\""));
  const fixture::SharedDir directory(comm);
  if (comm.is_root()) {
    auto file = h5::File::create(directory.file("empty.h5"));
    file.create_attribute("/", {.name = "file_type", .value = std::string("checkpoint")});
    file.create_attribute("/", {.name = "major_version", .value = std::string("2")});
    file.close();
  }
  mpi::barrier(comm);
  CHECK(contains(error_for(directory.file("empty.h5"), cube, 4), "its version is 2.?"));
}

MPI_CASE("an output file that does not belong to the checkpoint is refused", ranks{1, 3}) {
  const fixture::SharedDir directory(comm);
  const auto path = directory.file("out.h5");
  if (comm.is_root()) std::filesystem::copy_file(reference + "output_after_leg1.h5", path);
  mpi::barrier(comm);
  const auto message = [&](const CheckpointHeader& header, StepIndex steps, bool reduces) {
    const auto error =
        fixture::error_of([&] { inspect_left_output(comm, path, header, reference_grid(), steps, reduces); });
    mpi::barrier(comm);
    return error ? error->message : std::string();
  };
  CHECK(message({.step = 120}, 200, true).empty());
  CHECK(message({.step = 119}, 200, false).find("it is at step 120, the checkpoint at step 119") !=
        std::string::npos);
  CHECK(message({.step = 120}, 150, true).find("Nt is 200, this run takes 150 steps") != std::string::npos);
  if (comm.is_root()) set_number(path, "/Nz", 7);
  mpi::barrier(comm);
  CHECK(message({.step = 120}, 200, true).find("Nz is 7, the input has 32") != std::string::npos);
}

MPI_CASE("an output killed after its checkpoint is known by its commit mark, reductions by the checkpoint",
         ranks{1, 3}) {
  const fixture::SharedDir directory(comm);
  const auto path = directory.file("out.h5");
  if (comm.is_root()) {
    std::filesystem::copy_file(reference + "output_after_leg1.h5", path);
    auto file = h5::File::open_for_update(path);
    const std::vector<std::uint64_t> slots{131, 130};
    file.create_dataset({.path = output::commit_mark_path,
                         .shape = {1, 1, 2},
                         .type = h5::ElementType::uint64,
                         .attributes = {}});
    file.write<std::uint64_t>(output::commit_mark_path, slots);
    file.close();
  }
  mpi::barrier(comm);
  const auto is_good = [&](const CheckpointHeader& header, bool reduces) {
    return !fixture::error_of(
        [&] { inspect_left_output(comm, path, header, reference_grid(), reference_steps, reduces); });
  };
  CHECK(is_good({.step = 130, .has_reductions = true}, true));
  CHECK(is_good({.step = 125, .has_reductions = true}, true));
  CHECK(is_good({.step = 130}, false));
  CHECK(!is_good({.step = 130}, true));
  CHECK(!is_good({.step = 131, .has_reductions = true}, true));
}

MPI_CASE("a checkpoint that cannot be written leaves the older one, and nothing else", ranks{1, 2, 3}) {
  const fixture::SharedDir directory(comm);
  const auto path = directory.file("checkpoint.h5");
  write<float>(comm, directory.path(), cube, 3);
  const auto fault = fmt::format("write:rank={},error=ENOSPC", comm.size() - 1);
  const auto error = fixture::error_of([&] { write<float>(comm, directory.path(), cube, 4, fault); });
  REQUIRE(error);
  CHECK(error->rank == comm.size() - 1);
  CHECK(error->message.find("No space left on device") != std::string::npos);
  CHECK(inspect_checkpoint(comm, path, cube, 9).step == 3);
  check_read<float>(comm, path, cube);
  if (comm.is_root()) CHECK(!std::filesystem::exists(path + ".partial"));
  mpi::barrier(comm);
}
