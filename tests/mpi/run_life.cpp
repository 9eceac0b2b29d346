// SPDX-License-Identifier: BSD-3-Clause
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "h5/file.hpp"
#include "mpi_case.hpp"
#include "output/session/session.hpp"
#include "tailrace/run/run.hpp"
#include "temp_dir.hpp"

/// The life of a run with a simulation that only counts: all that `Run` does without knowing what is
/// computed.
namespace tailrace::run {

namespace {

constexpr Index3 domain{3, 2, 5};

/// Its field "n" holds the number of steps done, and from one step on NaN on one rank.
class Counter {
 public:
  Counter(const Box& box, StepIndex bad_step) : box_(box), bad_step_(bad_step) {
    values_.resize(static_cast<std::size_t>(box.volume()));
  }
  void advance(StepIndex step) {
    const bool bad = step >= bad_step_;
    for (auto& value : values_)
      value = bad ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(step);
  }
  [[nodiscard]] output::FieldView field(const std::string&) const {
    const Index3 n = box_.extents();
    return {values_.data(), h5::ElementType::float32, box_, n.x, n.x * n.y};
  }
  [[nodiscard]] std::int64_t memory_bytes() const { return static_cast<std::int64_t>(values_.size() * 4); }

 private:
  Box box_;
  StepIndex bad_step_;
  std::vector<float> values_;
};

/// The stream of all values of "n".
output::Stream every_step(StepIndex steps) {
  const auto samples = static_cast<std::uint64_t>(steps);
  return {"n",
          "n",
          "one",
          output::Whole{},
          output::Reduction::none,
          {1, 1, steps, {}},
          {{"/n", {samples, 5, 2, 3}, h5::ElementType::float32, {}}}};
}

struct Outcome {
  Run::Summary summary;
  nlohmann::json account;  // on the root
  float last_value = -1;   // in the file, on the root
};

using AfterStep = std::function<void(output::Session&, StepIndex)>;

/// 50 steps, watched every 8; the last rank fails at `bad_step` if it has points.
Outcome run_counter(
    mpi::CommView comm, StepIndex bad_step, bool ends_run,
    const AfterStep& after_step = [](output::Session&, StepIndex) {},
    const output::WriteOptions& write = {}) {
  std::optional<test::TempDir> directory;
  if (comm.is_root()) directory.emplace();
  const auto path = mpi::broadcast(comm, directory ? directory->file("run") : "", 0);
  constexpr StepIndex steps = 50, never = 1000;
  Run run(comm,
          {.program = "a test", .directory = path, .overwrite = false, .wall_limit_s = {}, .write = write},
          nullptr);
  run.prepare_directory();
  const Range planes{domain.z * comm.rank() / comm.size(), domain.z * (comm.rank() + 1) / comm.size()};
  const Box box{{0, 0, planes.begin}, {domain.x, domain.y, planes.end}};
  const bool fails = planes.end == domain.z && !planes.empty();
  const auto stream = every_step(steps);
  run.plan({stream}, {}, box, domain);
  Counter counter(box, fails ? bad_step : never);
  auto& session = run.open_output(path + "/output.h5", {}, counter.memory_bytes());
  const Watch watch{.quantity = "n", .every = 8, .ends_run = ends_run, .hint = "count less"};
  const auto result = run.drive(calls_of(counter), {.last = steps, .planned = steps}, watch,
                                [&](StepIndex step) { after_step(session, step); });
  Outcome outcome{run.close(
                      result,
                      [&](output::Session&) -> output::FieldLookup {
                        return [&](const std::string& name) { return counter.field(name); };
                      },
                      [] { return output::FileTail(); }, box.volume()),
                  {},
                  -1};
  if (!comm.is_root()) return outcome;
  outcome.account = nlohmann::json::parse(std::ifstream(path + "/run.json"));
  std::vector<float> values(steps * 30);
  h5::File::open(path + "/output.h5").read<float>("/n", values);
  outcome.last_value = values[static_cast<std::size_t>(result.steps_done - 1) * 30];
  return outcome;
}

}  // namespace

MPI_CASE("a run that goes well", ranks{1, 2, 3, 4, 7}) {
  const auto outcome = run_counter(comm, 1000, true);
  CHECK(outcome.summary.end.status == Status::finished);
  CHECK_FALSE(outcome.summary.end.error.has_value());
  if (!comm.is_root()) return;
  CHECK(outcome.account["status"] == "finished");
  CHECK(outcome.account["steps"] == 50);
  CHECK(outcome.account["warnings"].empty());
  CHECK(outcome.account["outputs"][0]["name"] == "n");
  CHECK(outcome.account["per_rank"].size() == static_cast<std::size_t>(comm.size()));
  CHECK(outcome.last_value == 50);
}

MPI_CASE("NaN on one rank ends the run on all, and the file is closed with what came before",
         ranks{1, 2, 3, 4, 7}) {
  const auto outcome = run_counter(comm, 20, true);
  const auto& end = outcome.summary.end;
  CHECK(end.status == Status::failed);
  CHECK(end.steps_done == 25);  // seen at 24, known to all one step later
  REQUIRE(end.error.has_value());
  CHECK(end.error->kind == ErrorKind::unstable);
  CHECK(exit_status(end.error->kind) == run_failed);
  CHECK(end.error->message ==
        "n holds NaN or infinity at step 24 (looked at every 8 steps): the computation is unstable");
  CHECK(end.error->hint == "count less");
  if (!comm.is_root()) return;
  CHECK(outcome.account["status"] == "failed");
  CHECK(outcome.account["error"]["kind"] == "unstable");
  CHECK(outcome.account["steps"] == 25);
}

MPI_CASE("NaN that shows at the last step ends the run as failed too", ranks{1, 2, 3}) {
  const auto outcome = run_counter(comm, 50, true);
  CHECK(outcome.summary.end.status == Status::failed);
  CHECK(outcome.summary.end.steps_done == 50);
}

MPI_CASE("NaN is only reported where the run has to continue", ranks{1, 2, 3}) {
  const auto outcome = run_counter(comm, 20, false);
  CHECK(outcome.summary.end.status == Status::finished);
  CHECK(outcome.summary.end.steps_done == 50);
  if (!comm.is_root()) return;
  CHECK(outcome.account["status"] == "finished");
  CHECK(outcome.account["warnings"].size() == 1);
  CHECK(outcome.account["warnings"][0] == "n holds NaN or infinity at step 24: the computation is unstable");
}

MPI_CASE("what a writer says that takes over during a run is passed on, once", ranks{2, 3}) {
  setenv("TAILRACE_RANKS_PER_NODE", "1", 1);  // leaders without members, which they say
  const auto options = [](const char* strategy) {
    return output::parse_options({.write = strategy, .sink = {}, .pace = {}, .fault = {}});
  };
  const auto take_turns = [&](output::Session& session, StepIndex step) {
    if (step == 10 || step == 30) session.switch_writer(options("leaders"));
    if (step == 20) session.switch_writer(options("threads"));
  };
  const auto outcome = run_counter(comm, 1000, true, take_turns, options("threads"));
  unsetenv("TAILRACE_RANKS_PER_NODE");
  CHECK(outcome.summary.end.status == Status::finished);
  if (!comm.is_root()) return;
  REQUIRE(outcome.account["warnings"].size() == 1);
  CHECK(outcome.account["warnings"][0].get<std::string>().find("no rank shares a node") != std::string::npos);
  CHECK(outcome.last_value == 50);
}

MPI_CASE("a run that pauses is resumed by another one", ranks{1, 2, 3, 7}) {
  std::optional<test::TempDir> directory;
  if (comm.is_root()) directory.emplace();
  const auto path = mpi::broadcast(comm, directory ? directory->path() : "", 0) + "/output.h5";
  constexpr StepIndex steps = 50;
  const Range planes{domain.z * comm.rank() / comm.size(), domain.z * (comm.rank() + 1) / comm.size()};
  const Box box{{0, 0, planes.begin}, {domain.x, domain.y, planes.end}};
  const auto stream = every_step(steps);
  const auto no_tail = [] { return output::FileTail(); };
  StepIndex done = 0;
  for (const bool last_segment : {false, true}) {
    RunOptions options{
        .program = "a test", .directory = {}, .wall_limit_s = {}, .pause_after_s = {}, .write = {}};
    if (!last_segment) options.pause_after_s = 0;
    Run run(comm, options, nullptr);
    run.plan({stream}, {}, box, domain);
    Counter counter(box, 1000);
    run.open_output(path, {}, counter.memory_bytes(), {.after = done});
    const auto result =
        run.drive(calls_of(counter), {.done = done, .last = steps, .planned = steps}, {}, [](StepIndex) {});
    bool saved = false;
    const auto save = [&](output::Session&) { saved = true; };
    const auto fields = [&](output::Session&) {
      return [&](const std::string& name) { return counter.field(name); };
    };
    const auto summary = last_segment ? run.close(result, fields, no_tail, box.volume())
                                      : run.close_for_restart(result, save, no_tail, box.volume());
    CHECK_FALSE(summary.end.error.has_value());
    CHECK(saved == !last_segment);
    CHECK(summary.paused == !last_segment);
    CHECK(summary.end.status == (last_segment ? Status::finished : Status::stopped));
    CHECK(result.steps_done > done);
    done = result.steps_done;
    CHECK((done == steps) == last_segment);
  }
  mpi::barrier(comm);
  if (!comm.is_root()) return;
  std::vector<float> values(steps * 30);
  h5::File::open(path).read<float>("/n", values);
  for (StepIndex step = 1; step <= steps; ++step)
    CHECK(values[static_cast<std::size_t>(step * 30 - 1)] == static_cast<float>(step));
}

}  // namespace tailrace::run
