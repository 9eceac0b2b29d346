// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/system.hpp"
#include "checkpoint/local.hpp"
#include "checkpoint/pipeline.hpp"
#include "checkpoint/restore.hpp"
#include "checkpoint/store.hpp"
#include "checkpoint_fixture.hpp"
#include "environment.hpp"
#include "mpi/verdict.hpp"
#include "mpi_case.hpp"
#include "output_fixture.hpp"

using namespace tailrace;
using namespace tailrace::checkpoint;
using fixture::Owner;
using fixture::State;

namespace {

namespace fs = std::filesystem;
using output::fixture::SharedDir;

layout::Decomposition slabs(int ranks) {
  return layout::Decomposition::slab(fixture::domain, layout::Axis::z, ranks);
}

Origin origin_of(StepIndex step) {
  return {.simulation = "test", .program = "test 1", .step = step, .time_s = 0.5 * static_cast<double>(step)};
}

StateFunction passing(State& state) {
  return [&](StateArchive& archive) { state.pass(archive); };
}

output::WriteOptions options() {
  return fixture::options_of("threads");
}

/// The directories of a test.
struct Place {
  explicit Place(mpi::CommView comm) : directory(comm) {}
  [[nodiscard]] std::string run() const { return directory.file("run"); }
  [[nodiscard]] std::string local() const { return directory.file("local"); }
  /// Checkpoints stay on the nodes, unless `copy_every` or the test wants them in the run's directory.
  [[nodiscard]] PipelineContext levels(bool partner, int copy_every = 1000) const {
    return {.directory = run(),
            .local = {.directory = local(), .partner = partner, .copy_every = copy_every},
            .write = options()};
  }
  /// The directory of a node of the only segment; "" if there is none.
  [[nodiscard]] std::string node(int number) const {
    for (const auto& segment : fs::directory_iterator(local()))
      return fmt::format("{}/node-{}", segment.path().string(), number);
    return "";
  }
  [[nodiscard]] std::string part(int node_number, int rank, const char* ending) const {
    return fmt::format("{}/step-000000000010/part-{:06d}.{}", node(node_number), rank, ending);
  }

  SharedDir directory;
};

const auto no_samples = [] {};

/// A checkpoint that counts: it is on the nodes.
void take(Pipeline& levels, StepIndex step, State& state) {
  levels.take(origin_of(step), passing(state));
  while (!levels.ready()) sleep_s(1e-4);
  const auto progress = levels.advance(no_samples);
  CHECK(progress.safe_bytes.has_value());
  CHECK(!progress.named);
}

bool is_copying(const Pipeline& levels) {
  return levels.is_pending() && !levels.is_busy();
}

/// A segment of all ranks that ends before the shared file system has anything of step 10.
void leave_on_nodes(mpi::CommView comm, const Place& place, bool partner, Owner owner = Owner::of_cell,
                    const Compression& compression = {}) {
  State state(comm, slabs(comm.size()), owner);
  state.set();
  auto context = place.levels(partner);
  context.packing.compression = compression;
  take(*create_two_levels(comm, context), 10, state);
}

void check_restored(mpi::CommView comm, const Place& place, Owner owner = Owner::of_cell) {
  State state(comm, slabs(comm.size()), owner);
  const auto restored = restore_newest(comm, place.run(), "test", passing(state));
  CHECK(restored.step == 10);
  CHECK(restored.warnings.empty());
  CHECK(state.is_right());
  const auto sums = mpi::sum(comm, std::vector<std::uint64_t>{state.particles.id_sum()});
  CHECK(sums[0] == state.particles.id_sum_of_all());
}

/// Calls `action` on the first `count` ranks with a communicator of theirs.
template <class Action>
void on_first(mpi::CommView comm, int count, const Action& action) {
  {
    const auto part = mpi::Comm::split(comm, comm.rank() < count ? 0 : -1);
    if (!part.empty()) action(part.view());
  }
  mpi::barrier(comm);
}

void on_root(mpi::CommView comm, const std::function<void()>& action) {
  mpi::barrier(comm);
  if (comm.is_root()) action();
  mpi::barrier(comm);
}

void damage(const std::string& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  REQUIRE(file.seekg(100));
  const auto byte = static_cast<char>(file.get() ^ 0x40);
  file.seekp(100);
  file.put(byte);
}

std::size_t files_in(const std::string& directory) {
  std::size_t files = 0;
  std::error_code none;
  for (fs::recursive_directory_iterator entry(directory, none), end; !none && entry != end; ++entry)
    files += entry->is_regular_file();
  return files;
}

}  // namespace

MPI_CASE("what is on nodes comes back on any number of ranks", ranks{1, 2, 3, 4, 7}) {
  const int all = comm.size();
  int turn = all;  // owners take turns
  for (const int per_node : {1, 2, 7})
    for (const auto& [from, to] : {std::pair{all, all}, {all, 1}, {1, all}, {all, (all + 1) / 2}}) {
      const auto owner = turn++ % 2 == 0 ? Owner::of_cell : Owner::of_particle;
      const test::RanksPerNode nodes(per_node);
      const Place place(comm);
      on_first(comm, from, [&](mpi::CommView part) { leave_on_nodes(part, place, false, owner); });
      CHECK(list_checkpoints(place.run()).empty());
      mpi::barrier(comm);
      on_first(comm, to, [&](mpi::CommView part) {
        CHECK(complete_from_nodes(part, place.run(), options()).empty());
        check_restored(part, place, owner);
        CHECK(complete_from_nodes(part, place.run(), options()).empty());  // nothing is left to do
        forget_local_level(part, place.run());
      });
      CHECK(files_in(place.local()) == 0);
      mpi::barrier(comm);
    }
}

MPI_CASE("compressed parts come back on any number of ranks", ranks{1, 3, 7}) {
  if (!fixture::can_compress()) return;
  const int all = comm.size();
  const test::RanksPerNode nodes(2);
  for (const auto& [from, to] : {std::pair{all, all}, {all, 1}, {1, all}}) {
    const Place place(comm);
    on_first(comm, from, [&](mpi::CommView part) {
      leave_on_nodes(part, place, part.size() > 1, Owner::of_particle, {.zstd_level = 3});
    });
    if (from > 2) on_root(comm, [&] { CHECK(fs::remove_all(place.node(1)) > 0); });
    mpi::barrier(comm);
    on_first(comm, to, [&](mpi::CommView part) {
      CHECK(complete_from_nodes(part, place.run(), options()).empty());
      check_restored(part, place, Owner::of_particle);
    });
  }
}

MPI_CASE("an asynchronous copy is a checkpoint as any other", ranks{1, 3, 7}) {
  const test::RanksPerNode nodes(2);
  const Place place(comm);
  State state(comm, slabs(comm.size()));
  state.set();
  const auto levels = create_two_levels(comm, place.levels(true));
  levels->want_name();
  take(*levels, 10, state);
  CHECK(is_copying(*levels));
  while (!levels->ready()) sleep_s(1e-4);
  CHECK(levels->advance(no_samples).named);
  CHECK(!levels->is_pending());
  check_restored(comm, place);
  levels->clear();
  mpi::barrier(comm);
  CHECK(files_in(place.local()) == 0);
  check_restored(comm, place);
}

MPI_CASE("one that is newer replaces older ones on the nodes, and a copy under way continues", ranks{1, 3}) {
  const test::RanksPerNode nodes(1);
  const Place place(comm);
  State state(comm, slabs(comm.size()));
  state.set();
  auto context = place.levels(false, 2);
  context.write.pace =
      output::parse_options({.write = "threads", .sink = {}, .pace = "latency=20ms", .fault = {}}).pace;
  const auto levels = create_two_levels(comm, context);
  take(*levels, 5, state);
  CHECK(!is_copying(*levels));  // only each second one is for the shared file system
  take(*levels, 10, state);
  CHECK(is_copying(*levels));
  for (const StepIndex step : {20, 30, 40}) take(*levels, step, state);
  mpi::barrier(comm);
  CHECK(files_in(place.local()) == 2 * static_cast<std::size_t>(comm.size()));
  mpi::barrier(comm);
  CHECK(levels->advance(no_samples).named);
  check_restored(comm, place);
  CHECK(is_copying(*levels));  // step 20 was wanted and has been overtaken
  CHECK(levels->advance(no_samples).named);
  on_root(comm, [&] { CHECK(list_checkpoints(place.run()).front().step == 40); });
}

MPI_CASE("a node is lost: its partner has the copies", ranks{3, 4, 7}) {
  for (const int per_node : {1, 2}) {
    const test::RanksPerNode nodes(per_node);
    const Place place(comm);
    leave_on_nodes(comm, place, true);
    on_root(comm, [&] { CHECK(fs::remove_all(place.node(1)) > 0); });
    CHECK(complete_from_nodes(comm, place.run(), options()).empty());
    check_restored(comm, place);
  }
}

MPI_CASE("a node is lost without a partner: the warning names what is missing", ranks{3, 7}) {
  const test::RanksPerNode nodes(1);
  const Place place(comm);
  leave_on_nodes(comm, place, false);
  on_root(comm, [&] { CHECK(fs::remove_all(place.node(2)) > 0); });
  const auto warnings = complete_from_nodes(comm, place.run(), options());
  REQUIRE(warnings.size() == 1);
  for (const char* words : {"step 10", "1 of", "missing or damaged, of ranks 2"})
    CHECK_MESSAGE(warnings[0].find(words) != std::string::npos, warnings[0]);
  on_root(comm, [&] { CHECK(list_checkpoints(place.run()).empty()); });
}

MPI_CASE("a damaged part does not count, and its copy does", ranks{2, 3}) {
  const test::RanksPerNode nodes(1);
  for (const char* ending : {"bin", "json"}) {
    const Place place(comm);
    leave_on_nodes(comm, place, true);
    on_root(comm, [&] { damage(place.part(1, 1, ending)); });
    CHECK(complete_from_nodes(comm, place.run(), options()).empty());
    check_restored(comm, place);
  }
  const Place place(comm);
  leave_on_nodes(comm, place, true);
  on_root(comm, [&] {
    damage(place.part(1, 1, "bin"));
    damage(place.part(2 % comm.size(), 1, "json"));
  });
  const auto warnings = complete_from_nodes(comm, place.run(), options());
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("of ranks 1") != std::string::npos);
}

MPI_CASE("a part without a description does not count: the run was killed before", ranks{2}) {
  const test::RanksPerNode nodes(1);
  const Place place(comm);
  {
    State state(comm, slabs(comm.size()));
    state.set();
    const auto levels = create_two_levels(comm, place.levels(false));
    levels->take(origin_of(10), passing(state));
    while (!levels->ready()) sleep_s(1e-4);
  }
  CHECK(files_in(place.local()) == 2);
  CHECK(complete_from_nodes(comm, place.run(), options()).empty());
  on_root(comm, [&] { CHECK(list_checkpoints(place.run()).empty()); });
}

MPI_CASE("a directory that a node may not write to is one error on all ranks", ranks{1, 3}) {
  const Place place(comm);
  on_root(comm, [&] { std::ofstream(place.local()) << "in the way"; });
  State state(comm, slabs(comm.size()));
  state.set();
  const auto levels = create_two_levels(comm, place.levels(false));
  try {
    levels->take(origin_of(10), passing(state));
    FAIL("it was written");
  } catch (const Error& error) {
    CHECK(error.info().kind == ErrorKind::io);
    CHECK(error.info().rank == 0);
    CHECK(error.info().message.find(place.local()) != std::string::npos);
  }
  CHECK(!levels->is_pending());
}
