// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/system.hpp"
#include "checkpoint/inputs.hpp"
#include "checkpoint/restore.hpp"
#include "checkpoint/save.hpp"
#include "checkpoint/store.hpp"
#include "checkpoint_damage.hpp"
#include "checkpoint_fixture.hpp"
#include "error_of.hpp"
#include "mpi/verdict.hpp"
#include "mpi_case.hpp"
#include "output_fixture.hpp"

using namespace tailrace;
using namespace tailrace::checkpoint;
using fixture::damage;
using fixture::on_first;
using fixture::Owner;
using fixture::State;

namespace {

using output::fixture::SharedDir;

/// Returns how ranks share the grid when they save, and when they restore.
layout::Decomposition slabs(int ranks) {
  return layout::Decomposition::slab(fixture::domain, layout::Axis::z, ranks);
}
layout::Decomposition pencils(int ranks) {
  const auto grid = layout::near_square_grid(ranks);
  return layout::Decomposition::pencil(fixture::domain, layout::Axis::x, grid);
}
layout::Decomposition on_the_last(int ranks) {
  return layout::Decomposition::all_on(fixture::domain, ranks, ranks - 1);
}

Origin origin_of(StepIndex step) {
  return {.simulation = "test", .program = "test 1", .step = step, .time_s = 0.5 * static_cast<double>(step)};
}

constexpr std::int64_t buffer_bytes = 8 << 20;

/// Ways to pack a state: as it is, compressed, and compressed with room for few of the cells.
std::vector<Packing> packings() {
  std::vector<Packing> packings{{.buffer_bytes = buffer_bytes}};
  if (!fixture::can_compress()) return packings;
  for (const std::int64_t bytes : {buffer_bytes, std::int64_t{5000}})
    packings.push_back({.buffer_bytes = bytes, .compression = {.zstd_level = 1}});
  return packings;
}

StateFunction passing(State& state) {
  return [&](StateArchive& archive) { state.pass(archive); };
}

void save(mpi::CommView comm, const std::string& directory, StepIndex step, State& state,
          const output::WriteOptions& options, const Packing& packing,
          const output::SessionServices& services = {}) {
  trace::Log log("checkpoint");
  Saving saving(comm, directory, origin_of(step), passing(state), options, packing, log, services);
  saving.finish();
}

void save(mpi::CommView comm, const std::string& directory, StepIndex step, State& state,
          const output::WriteOptions& options) {
  save(comm, directory, step, state, options, packings().front());
}

/// Finds out what came back to all ranks together.
void check_restored(mpi::CommView comm, State& state) {
  CHECK(state.is_right());
  const auto all =
      mpi::sum(comm, std::vector<std::uint64_t>{static_cast<std::uint64_t>(state.particles.count()),
                                                state.particles.id_sum()});
  CHECK(all[0] == 1000);
  CHECK(all[1] == state.particles.id_sum_of_all());
}

}  // namespace

MPI_CASE("state comes back on any number of ranks, however they share it", ranks{1, 2, 3, 4, 7}) {
  const SharedDir directory(comm);
  const int all = comm.size();
  int turn = all;  // owners take turns
  for (const auto& [from, to] : {std::pair{all, all}, {all, 1}, {1, all}, {all, (all + 1) / 2}})
    for (const auto share : {slabs, pencils, on_the_last}) {
      const auto owner = turn++ % 2 == 0 ? Owner::of_cell : Owner::of_particle;
      on_first(comm, from, [&](mpi::CommView part) {
        State state(part, share(part.size()), owner);
        state.set();
        save(part, directory.path(), 10, state, fixture::options_of("threads"));
      });
      on_first(comm, to, [&](mpi::CommView part) {
        State state(part, pencils(part.size()), owner);
        const auto restored = restore_newest(part, directory.path(), "test", passing(state));
        CHECK(restored.step == 10);
        CHECK(restored.warnings.empty());
        check_restored(part, state);
      });
    }
}

MPI_CASE("compressed state comes back on any number of ranks", ranks{1, 2, 3, 4, 7}) {
  const SharedDir directory(comm);
  const int all = comm.size();
  for (const auto& packing : packings())
    for (const auto& [from, to] : {std::pair{all, all}, {all, 1}, {1, all}, {all, (all + 1) / 2}}) {
      on_first(comm, from, [&](mpi::CommView part) {
        State state(part, pencils(part.size()), Owner::of_particle);
        state.set();
        save(part, directory.path(), 10, state, fixture::options_of("threads"), packing);
      });
      on_first(comm, to, [&](mpi::CommView part) {
        State state(part, slabs(part.size()), Owner::of_particle);
        const auto restored = restore_newest(part, directory.path(), "test", passing(state));
        CHECK(restored.warnings.empty());
        check_restored(part, state);
      });
    }
}

/// Returns what a manifest says between two of its keys.
static std::string between(const std::string& path, const std::string& from, const std::string& to) {
  std::ifstream file(path + "/manifest.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto begin = text.find(from);
  return text.substr(begin, text.find(to) - begin);
}

MPI_CASE("what is compressed is smaller, and the same whatever the buffers keep", ranks{1, 3}) {
  if (!fixture::can_compress()) return;
  const SharedDir directory(comm);
  State state(comm, slabs(comm.size()));
  state.set();
  std::vector<std::string> versions, places, sets;
  std::vector<std::uintmax_t> sizes;
  StepIndex step = 0;
  for (const auto& packing : packings()) {
    save(comm, directory.path(), ++step, state, fixture::options_of("threads"), packing);
    const auto path = checkpoint_path(directory.path(), step);
    sizes.push_back(std::filesystem::file_size(path + "/state.h5"));
    versions.push_back(between(path, "\"version\"", "\"simulation\""));
    places.push_back(between(path, "\"data\"", "\"rest\""));
    sets.push_back(between(path, "\"sets\"", "\"xxh3\""));
  }
  CHECK(sizes[1] < sizes[0]);
  CHECK(sizes[2] == sizes[1]);
  CHECK(places[2] == places[1]);
  CHECK(sets[1] == sets[0]);  // counts and sums do not depend on it
  CHECK(sets[2] == sets[0]);
  CHECK(versions[0].find(" 1,") != std::string::npos);
  CHECK(versions[1].find(" 2,") != std::string::npos);
  mpi::barrier(comm);  // the directory goes when nobody reads there any more
}

MPI_CASE("every strategy writes it", ranks{1, 3}) {
  const SharedDir directory(comm);
  StepIndex step = 0;
  for (const auto& strategy : output::fixture::strategies)
    for (const auto& packing : packings()) {
      CAPTURE(strategy);
      State state(comm, slabs(comm.size()), Owner::of_particle);
      state.set();
      save(comm, directory.path(), ++step, state, fixture::options_of(strategy), packing);
      State found(comm, pencils(comm.size()));
      CHECK(restore_newest(comm, directory.path(), "test", passing(found)).step == step);
      check_restored(comm, found);
    }
}

MPI_CASE("more ranks than points, cells and particles", ranks{3, 7}) {
  const SharedDir directory(comm);
  State state(comm, on_the_last(comm.size()), Owner::of_cell, 2);
  state.set();
  save(comm, directory.path(), 0, state, fixture::options_of("blocking"));
  State found(comm, slabs(comm.size()), Owner::of_particle, 2);
  CHECK(restore_newest(comm, directory.path(), "test", passing(found)).step == 0);
  CHECK(found.is_right());
  CHECK(mpi::sum(comm, found.particles.count()) == 2);
}

MPI_CASE("what is saved is the state of that moment", ranks{1, 2}) {
  const SharedDir directory(comm);
  State state(comm, slabs(comm.size()));
  state.set();
  auto options = fixture::options_of("threads");
  options.pace = output::parse_pace("latency=20ms");
  trace::Log log("checkpoint");
  Saving saving(comm, directory.path(), origin_of(4), passing(state), options, {.buffer_bytes = buffer_bytes},
                log);
  CHECK_FALSE(state.particles.begin_restore().empty());  // they are gone
  state.energy = 5;
  std::fill_n(static_cast<double*>(state.pressure.state().data), state.pressure.state().box.volume(), 0.0);
  for (Backoff backoff; !saving.ready();) backoff.pause();
  CHECK(list_checkpoints(directory.path()).empty());
  saving.finish();
  State found(comm, slabs(comm.size()));
  CHECK(restore_newest(comm, directory.path(), "test", passing(found)).step == 4);
  check_restored(comm, found);
}

MPI_CASE("it gets its name asynchronously", ranks{1, 3}) {
  const SharedDir directory(comm);
  State state(comm, slabs(comm.size()));
  state.set();
  trace::Log log("checkpoint");
  const auto finish_without_waiting = [&](StepIndex step, const std::function<void()>& before,
                                          const std::function<void()>& afterwards) {
    Saving saving(comm, directory.path(), origin_of(step), passing(state), fixture::options_of("threads"),
                  {.buffer_bytes = buffer_bytes}, log);
    for (Backoff backoff; !saving.ready();) backoff.pause();
    CHECK_FALSE(saving.is_sealed());
    mpi::barrier(comm);
    if (comm.is_root()) before();
    saving.seal(afterwards);
    CHECK(saving.is_sealed());
    for (Backoff backoff; !saving.ready();) backoff.pause();
    saving.finish();
  };
  std::vector<std::string> there;
  finish_without_waiting(
      4, [] {}, [&] { there.push_back(list_checkpoints(directory.path()).at(0).path); });
  if (comm.is_root()) CHECK(there == std::vector{checkpoint_path(directory.path(), 4)});
  CHECK(there.size() == (comm.is_root() ? 1 : 0));
  const auto lose_it = [&] { std::filesystem::remove_all(partial_path(directory.path(), 5)); };
  CHECK(test::error_of([&] { finish_without_waiting(5, lose_it, [&] { there.clear(); }); }));
  CHECK(there.size() == (comm.is_root() ? 1 : 0));
  State found(comm, slabs(comm.size()));
  CHECK(restore_newest(comm, directory.path(), "test", passing(found)).step == 4);
  check_restored(comm, found);
}

MPI_CASE("checkpoints in the memory of those before them", ranks{1, 3}) {
  const SharedDir directory(comm);
  output::StagingMemory memory;
  StepIndex step = 0;
  for (const auto& strategy : output::fixture::strategies)
    for (const std::uint64_t particles : {1000, 10, 1000}) {
      CAPTURE(strategy);
      State state(comm, slabs(comm.size()), Owner::of_cell, particles);
      state.set();
      const auto options = fixture::options_of(strategy);
      save(comm, directory.path(), ++step, state, options, packings().front(), {.memory = &memory});
      State found(comm, slabs(comm.size()), Owner::of_cell, particles);
      CHECK(restore_newest(comm, directory.path(), "test", passing(found)).step == step);
      CHECK(found.is_right());
    }
}

MPI_CASE("a checkpoint that cannot be written leaves the older ones", ranks{1, 3}) {
  const SharedDir directory(comm);
  State state(comm, slabs(comm.size()));
  state.set();
  save(comm, directory.path(), 1, state, fixture::options_of("threads"));
  for (const char* fault :
       {"write:nth=1,error=ENOSPC", "write:nth=3,error=EIO,rank=0", "short:nth=1;write:nth=2,error=EIO"})
    for (const char* strategy : {"blocking", "threads", "leaders"}) {
      CAPTURE(strategy);
      CAPTURE(fault);
      CHECK(test::error_of(
          [&] { save(comm, directory.path(), 2, state, fixture::options_of(strategy, fault)); }));
      if (comm.is_root()) {
        CHECK(list_checkpoints(directory.path()).size() == 1);
        CHECK_FALSE(std::filesystem::exists(partial_path(directory.path(), 2)));
      }
      mpi::barrier(comm);
    }
  State found(comm, slabs(comm.size()));
  CHECK(restore_newest(comm, directory.path(), "test", passing(found)).step == 1);
  check_restored(comm, found);
}

MPI_CASE("a damaged checkpoint is skipped, and named", ranks{1, 3}) {
  const SharedDir directory(comm);
  State state(comm, slabs(comm.size()));
  state.set();
  for (StepIndex step = 1; step <= 2; ++step)
    save(comm, directory.path(), step, state, fixture::options_of("threads"));
  const auto newest = checkpoint_path(directory.path(), 2);
  if (comm.is_root()) {
    const auto file = newest + "/state.h5";
    damage(file, static_cast<std::int64_t>(std::filesystem::file_size(file)) / 2);
  }
  mpi::barrier(comm);
  State found(comm, pencils(comm.size()));
  const auto restored = restore_newest(comm, directory.path(), "test", passing(found));
  CHECK(restored.step == 1);
  REQUIRE(restored.warnings.size() == 1);
  CHECK(restored.warnings[0].find(newest) != std::string::npos);
  CHECK(restored.warnings[0].find("damaged") != std::string::npos);
  check_restored(comm, found);
}

MPI_CASE("any byte that changes is found", ranks{1}) {
  const SharedDir directory(comm);
  StepIndex step = 0;
  for (const auto& packing : packings()) {
    State state(comm, slabs(1));
    state.set();
    save(comm, directory.path(), ++step, state, fixture::options_of("blocking"), packing);
    const auto path = checkpoint_path(directory.path(), step);
    fixture::damage_a_thousand_bytes(path, [&] {
      const auto error = test::error_of([&] { Checkpoint(comm, path, "test").restore(passing(state)); });
      REQUIRE(error);
      CHECK(error->kind == ErrorKind::input);
    });
    Checkpoint(comm, path, "test").restore(passing(state));
    CHECK(state.is_right());
  }
}

namespace {
void check_words(const std::string& text, const char* words) {
  CAPTURE(text);
  CHECK(text.find(words) != std::string::npos);
}

/// A checkpoint of a state, and why others do not restore it.
struct Refusals {
  explicit Refusals(mpi::CommView of) : comm(of), directory(of), state(of, slabs(of.size())) {
    state.set();
    save(comm, directory.path(), 1, state, fixture::options_of("threads"));
  }
  [[nodiscard]] std::string path() const { return checkpoint_path(directory.path(), 1); }
  [[nodiscard]] std::string reason(const StateFunction& function, const char* simulation = "test") const {
    const auto error = test::error_of([&] { Checkpoint(comm, path(), simulation).restore(function); });
    REQUIRE(error);
    CHECK(error->kind == ErrorKind::input);
    return error->message;
  }

  mpi::CommView comm;
  SharedDir directory;
  State state;
};
}  // namespace

MPI_CASE("what does not fit is refused with the reason", ranks{1, 2}) {
  Refusals refusals(comm);
  check_words(refusals.reason(passing(refusals.state), "seismic"),
              "is of the simulation test, not of seismic");
  check_words(refusals.reason([&](StateArchive& archive) { archive.component("nix", 1, [](int) {}); }),
              "this component is missing");
  check_words(refusals.reason([&](StateArchive& archive) { archive.component("fields", 2, [](int) {}); }),
              "fields has version 3, this program knows 2");
  check_words(refusals.reason([&](StateArchive& archive) {
    archive.component("run", 1, [&](int) { archive.value("stepps", refusals.state.steps); });
  }),
              "run/stepps: is missing");
  check_words(refusals.reason([&](StateArchive& archive) {
    archive.component("run", 1, [&](int) { archive.value("energy", refusals.state.steps); });
  }),
              "holds numbers of");
  check_words(refusals.reason([&](StateArchive& archive) {
    archive.component("fields", 3, [&](int) {
      auto field = refusals.state.pressure.state();
      field.domain.x += 1;
      archive.field("pressure", field);
    });
  }),
              "has 13 11 17 points, this run has 14 11 17");
  check_words(refusals.reason([&](StateArchive& archive) {
    archive.component("fields", 3, [&](int) { archive.field("velocity", refusals.state.pressure.state()); });
  }),
              "this run computes in");
}

MPI_CASE("boxes that do not cover a field once are refused, and nothing is left of the checkpoint",
         ranks{1, 2, 3}) {
  const SharedDir directory(comm);
  constexpr Index3 domain{6, 5, 12};
  const auto own = output::pattern::slabs(domain, comm.size())[static_cast<std::size_t>(comm.rank())];
  std::vector<double> values(static_cast<std::size_t>(domain.volume()));
  const auto refusal = [&](const std::function<void(Box&)>& change) {
    Box box = own;
    if (comm.rank() == comm.size() - 1) change(box);
    const auto state = [&](StateArchive& archive) {
      archive.component("waves", 1, [&](int) {
        archive.field("p", {.data = values.data(),
                            .domain = domain,
                            .box = box,
                            .stride_y = box.extents().x,
                            .stride_z = box.extents().x * box.extents().y});
      });
    };
    return test::error_info_of(
        [&] { save(comm, directory.path(), {.simulation = "test", .program = "t", .step = 3}, state, 2); });
  };
  const auto gap = refusal([](Box& box) { box.hi.z -= 1; });
  CHECK(gap.kind == ErrorKind::input);
  CHECK(gap.message == "the boxes of all ranks do not cover the field waves/p once");
  if (comm.size() > 1) CHECK(!refusal([](Box& box) { box.lo.z -= 1; }).message.empty());
  // As many points as there are, some of them twice.
  if (comm.size() > 1) CHECK(!refusal([](Box& box) { box.lo.z -= 1, box.hi.z -= 1; }).message.empty());
  if (comm.is_root()) CHECK(std::filesystem::is_empty(directory.path()));
  CHECK(refusal([](Box&) {}).message.empty());
}

MPI_CASE("what a program does not ask for is named, and what is not there refused", ranks{1, 2}) {
  Refusals refusals(comm);
  const auto left = Checkpoint(comm, refusals.path(), "test").restore([&](StateArchive& archive) {
    archive.component("run", 1, [&](int) { archive.value("steps", refusals.state.steps); });
  });
  CHECK(std::find(left.begin(), left.end(), "molecules/argon") != left.end());
  CHECK(std::find(left.begin(), left.end(), "run/seed") != left.end());
  CHECK(test::error_of([&] { Checkpoint(comm, refusals.path() + "0", "test"); }));
  const auto none = test::error_of(
      [&] { restore_newest(comm, refusals.directory.path() + "/nix", "test", passing(refusals.state)); });
  REQUIRE(none);
  check_words(none->message, "no checkpoint to resume from");
}

MPI_CASE("a run with other inputs is refused, but not by a checkpoint that knows of none", ranks{1, 2}) {
  Refusals refusals(comm);
  const auto with = [&](const InputDigests& inputs) -> StateFunction {
    return [&, inputs](StateArchive& archive) {
      archive.component("run", 1, [&](int) { archive.value("steps", refusals.state.steps); });
      pass_inputs(archive, "in.h5", inputs);
    };
  };
  CHECK_NOTHROW(Checkpoint(comm, refusals.path(), "test").restore(with({{"c0", 1}})));
  const InputDigests inputs{{"c0", 1}, {"dt", 2}, {"rho0", 3}};
  const auto directory = refusals.directory.path() + "/with";
  save(comm, directory, origin_of(5), with(inputs), 1);
  CHECK(restore_newest(comm, directory, "test", with(inputs)).warnings.empty());
  const auto refused = test::error_of([&] {
    restore_newest(comm, directory, "test", with({{"BonA", 3}, {"c0", 1}, {"dt", 4}}));
  });
  REQUIRE(refused);
  CHECK(refused->kind == ErrorKind::input);
  check_words(refused->message, "in.h5: not what the run began with: BonA, dt, rho0");
}

MPI_CASE("the newest are kept", ranks{1}) {
  const SharedDir directory(comm);
  State state(comm, slabs(1));
  state.set();
  for (const StepIndex step : {3, 1, 20, 4})
    save(comm, directory.path(), step, state, fixture::options_of("blocking"));
  std::filesystem::create_directory(partial_path(directory.path(), 50));
  CHECK(prune_checkpoints(directory.path(), 2, 1).empty());
  std::vector<StepIndex> steps;
  for (const auto& found : list_checkpoints(directory.path())) steps.push_back(found.step);
  CHECK(steps == std::vector<StepIndex>{20, 4, 1});
  CHECK_FALSE(std::filesystem::exists(partial_path(directory.path(), 50)));
}
