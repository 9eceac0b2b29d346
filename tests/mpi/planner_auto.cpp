// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/system.hpp"
#include "h5/file.hpp"
#include "mpi_case.hpp"
#include "output_fixture.hpp"

using namespace tailrace;
using namespace tailrace::output;
using namespace tailrace::output::fixture;

namespace {

constexpr Index3 domain{9, 7, 5};
constexpr StepIndex steps = 40;
constexpr Cadence each_step{.first = 1, .every = 1, .last = steps};
// The reason of the one decision that no prediction is made for.
constexpr const char* unpredicted = "the last output has nothing to hide behind";

std::vector<Stream> streams() {
  return {stream("whole", Whole{}, Reduction::none, domain, each_step),
          stream("boxes", many_boxes(domain, 5), Reduction::none, domain,
                 {.first = 2, .every = 3, .last = steps}),
          stream("points", some_points(domain), Reduction::none, domain, each_step),
          stream("max", Whole{}, Reduction::max, domain, each_step),
          stream("last", Whole{}, Reduction::final, domain, each_step)};
}

/// How a run writes, and what it asks of the planner.
struct Choices {
  WriteOptions write;
  PlannerOptions planner = {};
};

Choices automatic(std::vector<std::string> script, const std::string& fault = {}) {
  return {options_of({.strategy = "auto"}, fault), {.script = std::move(script)}};
}

struct Outcome {
  PlanReport report;
  std::optional<ErrorInfo> error;
  StepIndex planned_at = 0;  ///< the first step after which `planned` was true
};

/// Describes how long each step computes, by sleeping.
struct Compute {
  double step_s = 0;
  StepIndex slow_from = steps + 1;  ///< from here on it takes `slow_s`
  double slow_s = 0;
  double slow_while_changed_s = 0;  ///< a step's time under another strategy than the first; 0: as ever

  void operator()(StepIndex step, bool changed) const {
    if (changed)
      sleep_s(slow_while_changed_s);
    else
      sleep_s(step < slow_from ? step_s : slow_s);
  }
};

/// Whether the next output is written by another strategy than the first. @collective{comm}
bool is_changed(mpi::CommView comm, const Session& session) {
  const auto& decisions = session.plan_report().decisions;
  return mpi::max(comm, std::int64_t{comm.is_root() &&
                                     decisions.back().strategy != decisions.front().strategy}) == 1;
}

/// A run over the pattern, in slabs, with all ranks close to each other as a simulation's exchanges keep
/// them.
Outcome run(mpi::CommView comm, const std::string& path, const Choices& choices,
            std::vector<Stream> wanted = streams(), Compute compute = {}, Split split = pattern::slabs,
            Index3 grid = domain) {
  const Box own = split(grid, comm.size())[static_cast<std::size_t>(comm.rank())];
  pattern::Field<float> field(own);
  trace::Log log("main");
  Session session(comm, path, make_plan(std::move(wanted), own, grid), head(), choices.write, log,
                  {.planner = choices.planner});
  const FieldLookup lookup = [&](const std::string&) { return field.view(); };
  Outcome outcome;
  bool changed = false;
  for (StepIndex step = 1; step <= steps; ++step) {
    mpi::barrier(comm);
    compute(step, changed);
    field.set(step);
    session.sample(step, lookup);
    if (session.planned() && outcome.planned_at == 0) outcome.planned_at = step;
    if (compute.slow_while_changed_s > 0) changed = is_changed(comm, session);
  }
  outcome.error = error_of([&] { session.finish(steps, tail(steps)); });
  outcome.report = session.plan_report();
  return outcome;
}

std::vector<float> all_values(const h5::File& file, const std::string& path) {
  std::vector<float> values(h5::element_count(file.shape(path)));
  file.read(path, std::span(values));
  return values;
}

/// On the root: every dataset of both files holds the same.
void check_same(mpi::CommView comm, const std::string& a, const std::string& b) {
  if (!comm.is_root()) return;
  const auto left = h5::File::open(a), right = h5::File::open(b);
  for (const auto& stream : streams())
    for (const auto& dataset : stream.datasets)
      CHECK_MESSAGE(all_values(left, dataset.path) == all_values(right, dataset.path), dataset.path);
  CHECK(commit_mark(left) == commit_mark(right));
}

/// Writes into what a run has left for the next that it ended with `strategy` and found those `dropped`
/// clearly slower. @collective{comm}
void replace_kept(mpi::CommView comm, const SharedDir& directory, const std::string& strategy,
                  const std::vector<std::string>& dropped = {}) {
  if (comm.is_root()) {
    const auto path = directory.file("tuning/" + host_name() + ".json");
    auto kept = nlohmann::json::parse(std::ifstream(path));
    for (auto& record : kept.at("kinds")) {
      record["strategy"] = strategy;
      record["dropped"] = nlohmann::json::object();
      for (const auto& name : dropped) record["dropped"][name] = record["time"];
    }
    std::ofstream(path) << kept;
  }
  mpi::barrier(comm);
}

std::vector<std::string> strategies_of(const PlanReport& report) {
  std::vector<std::string> names;
  for (const auto& taken : report.decisions) names.push_back(taken.strategy);
  return names;
}

}  // namespace

MPI_CASE("switching back and forth loses and reorders nothing", ranks{1, 2, 3, 4, 7}) {
  const SharedDir directory(comm);
  const auto reference = directory.file("blocking.h5"), file = directory.file("auto.h5");
  run(comm, reference, {options_of({.strategy = "blocking"})});
  for (const Split split : {pattern::slabs, pattern::one_owner}) {
    const auto outcome =
        run(comm, file, automatic({"blocking", "leaders:2,buffers=3", "uring:2", "leaders:4,buffers=2"}),
            streams(), {}, split);
    CHECK(!outcome.error);
    check_same(comm, reference, file);
    if (!comm.is_root()) continue;
    const auto taken = strategies_of(outcome.report);
    REQUIRE(taken.size() >= 6);
    CHECK(std::vector(taken.begin(), taken.begin() + 6) ==
          std::vector<std::string>{"threads:2", "blocking", "leaders:2,buffers=3", "uring:2",
                                   "leaders:4,buffers=2", "blocking"});
    for (std::size_t i = 1; i < outcome.report.decisions.size(); ++i)
      CHECK(outcome.report.decisions[i].step > outcome.report.decisions[i - 1].step);
  }
}

MPI_CASE("auto measures, predicts all strategies, decides once and says why", ranks{1, 2, 3, 4, 7}) {
  const SharedDir directory(comm);
  const auto outcome = run(comm, directory.file("out.h5"), automatic({}), streams(), {0.002});
  CHECK(!outcome.error);
  const auto& report = outcome.report;
  CHECK(report.automatic);
  if (!comm.is_root()) return;
  REQUIRE(report.decisions.size() >= 2);
  CHECK(report.decisions[0].strategy == "threads:2");
  CHECK(report.decisions[1].step > 4);  // the first output is discarded, three are measured
  CHECK(report.decisions[1].predicted_output_s > 0);
  CHECK(report.decisions[1].observed_output_s > 0);
  CHECK(report.decisions[1].reason.find("outputs") != std::string::npos);
  CHECK(report.decisions.size() <= 2 + steps / 3);  // at most one after each window
  REQUIRE(report.measured);
  CHECK(report.measured->compute_s.value > 0.0005);
  CHECK(report.measured->write.write_s > 0);
  CHECK(report.measured->machine.ranks == comm.size());
  CHECK(report.predictions.size() >= 4);
  CHECK(report.measured->bytes > 9 * 7 * 5 * 4);
}

MPI_CASE("strategies change no more often than every ten outputs", ranks{1, 2}) {
  const SharedDir directory(comm);
  const auto outcome = run(comm, directory.file("out.h5"), automatic({}));
  if (!comm.is_root()) return;
  const auto& decisions = outcome.report.decisions;
  std::vector<StepIndex> changes;
  for (std::size_t i = 1; i < decisions.size(); ++i)
    if (decisions[i].strategy != decisions[i - 1].strategy &&
        decisions[i].reason.find(": dropped") == std::string::npos)
      changes.push_back(decisions[i].step);
  for (std::size_t i = 1; i < changes.size(); ++i) CHECK(changes[i] - changes[i - 1] >= 10);
}

MPI_CASE("a new prediction is a decision of its own, beside the one that went wrong", ranks{1, 2}) {
  const SharedDir directory(comm);
  constexpr double step_s = 0.002, slow_s = 0.06;
  const auto outcome = run(comm, directory.file("out.h5"), automatic({}), streams(),
                           {.step_s = step_s, .slow_from = steps / 2, .slow_s = slow_s});
  CHECK(!outcome.error);
  if (!comm.is_root()) return;
  const auto& decisions = outcome.report.decisions;
  REQUIRE(decisions.size() >= 3);
  CHECK(decisions[1].step < steps / 2);
  CHECK(decisions[1].predicted_output_s < slow_s);
  const auto& last = decisions.back().reason == unpredicted ? decisions.rbegin()[1] : decisions.back();
  CHECK(last.predicted_output_s > slow_s / 2);
  for (std::size_t i = 1; i < decisions.size(); ++i) CHECK(decisions[i].step > decisions[i - 1].step);
}

MPI_CASE("with few outputs auto stays with what does no harm", ranks{1, 2, 3}) {
  const SharedDir directory(comm);
  for (const StepIndex outputs : {0, 1, 3}) {
    const Cadence few{.first = 1, .every = 1, .last = outputs};
    const auto wanted = std::vector{stream("p", Whole{}, Reduction::none, domain, few)};
    const auto outcome = run(comm, directory.file("out.h5"), automatic({}), wanted);
    CHECK(!outcome.error);
    if (!comm.is_root()) continue;
    CHECK(strategies_of(outcome.report) == std::vector<std::string>{"threads:2"});
    CHECK(outcome.report.predictions.empty());
  }
}

MPI_CASE("a plan is complete at the same step on all ranks, after both ways of writing",
         ranks{1, 2, 3, 4, 7}) {
  const SharedDir directory(comm);
  auto options = automatic({});
  options.planner.plan_only = true;
  const auto outcome = run(comm, directory.file("out.h5"), options, streams(), {0.002});
  CHECK(!outcome.error);
  CHECK(outcome.planned_at > 8);  // how much later: as long as the device has nothing finished to show
  CHECK(mpi::max(comm, outcome.planned_at) == mpi::min(comm, outcome.planned_at));
  if (!comm.is_root()) return;
  CHECK(outcome.report.predictions.size() >= 4);
  CHECK(outcome.report.measured->interference.error <= assumed_interference.error);
  const auto& refused = outcome.report.measured->refused;
  const bool no_queue = std::any_of(refused.begin(), refused.end(),
                                    [](const auto& one) { return one.strategy == Strategy::uring; });
  REQUIRE(outcome.report.measured->queue.has_value() == !no_queue);
  const auto tried = strategies_of(outcome.report);
  CHECK((std::find(tried.begin(), tried.end(), "uring:2") != tried.end()) == !no_queue);
  if (no_queue) return;
  CHECK(outcome.report.measured->queue->submit_s > 0);
  CHECK(outcome.report.measured->queue->write_s > 0);
}

MPI_CASE("what cannot be taken in a run is predicted, with what it would need", ranks{1, 2, 3, 7}) {
  const SharedDir directory(comm);
  auto options = automatic({});
  options.planner.plan_only = true;
  const auto outcome = run(comm, directory.file("out.h5"), options, streams(), {0.002});
  if (!comm.is_root()) return;
  for (const auto strategy : {Strategy::ranks, Strategy::spawn}) {
    const auto& all = outcome.report.predictions;
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const auto& p) { return p.candidate.strategy == strategy; });
    REQUIRE(found != all.end());
    CHECK(!found->possible);
    CHECK(found->run_s > 0);
    const bool fewer_compute = found->reason.find("less to compute") != std::string::npos;
    CHECK(found->extra_processes == (fewer_compute ? 0 : 1));
  }
}

MPI_CASE("the output of streams with rhythms of their own is compared with the prediction, too",
         ranks{1, 2}) {
  const SharedDir directory(comm);
  const std::vector<Stream> both{
      stream("points", some_points(domain), Reduction::none, domain, {.first = 2, .every = 2, .last = steps}),
      stream("whole", Whole{}, Reduction::none, domain, {.first = 3, .every = 3, .last = steps})};
  const auto outcome = run(comm, directory.file("auto.h5"), automatic({}), both, {0.01});
  CHECK(!outcome.error);
  if (!comm.is_root()) return;
  REQUIRE(outcome.report.measured);
  // 20 and 13 outputs, 6 steps of both: 27 outputs in 38 steps of 10 ms and more.
  CHECK(outcome.report.measured->compute_s.value >= 0.01 * 37 / 26);
  CHECK(outcome.report.measured->steps_between == 1);
}

MPI_CASE("a failure before a switch is not forgotten by it", ranks{1, 2, 3, 4, 7}) {
  const SharedDir directory(comm);
  const auto outcome =
      run(comm, directory.file("out.h5"),
          automatic({"blocking", "threads:2"}, fmt::format("write:rank={},step=3", comm.size() - 1)),
          {stream("p", Whole{}, Reduction::none, domain, each_step)}, {}, pattern::one_owner);
  REQUIRE(outcome.error);
  CHECK(outcome.error->kind == ErrorKind::io);
  CHECK(outcome.error->rank == comm.size() - 1);
}

MPI_CASE("a sink that moves data between ranks stays with one strategy, and auto says so", ranks{1, 2, 3}) {
  const SharedDir directory(comm);
  auto options = automatic({"blocking"});
  options.write.sink = "hdf5-chunked";
  const auto outcome = run(comm, directory.file("out.h5"), options);
  CHECK(!outcome.error);
  CHECK(outcome.report.automatic);
  CHECK(strategies_of(outcome.report) == std::vector<std::string>{"threads:2"});
}

MPI_CASE("the time of a paced device is part of what is measured", ranks{1, 2}) {
  const SharedDir directory(comm);
  auto options = automatic({});
  options.write.pace = Pace{.latency_s = 0.010};
  // So large that each output is a write of its own: small ones are gathered while the device is busy, and
  // share its latency.
  constexpr Index3 grid{64, 32, 32};
  const auto wanted = std::vector{stream("p", Whole{}, Reduction::none, grid, each_step)};
  const auto outcome = run(comm, directory.file("out.h5"), options, wanted, {0.005}, pattern::slabs, grid);
  if (!comm.is_root()) return;
  REQUIRE(outcome.report.measured);
  const auto& measured = *outcome.report.measured;
  // A write that comes within 1 ms after the device was free begins when it was free. What computing beside
  // it costs the writer is not in `write_s`.
  CHECK(measured.write.write_s * (1 + measured.write_interference.value) >= 0.0089);
}

MPI_CASE("nothing is decided before an output of the larger kind was seen", ranks{1, 2, 3}) {
  const SharedDir directory(comm);
  const std::vector<Stream> both{
      stream("points", some_points(domain), Reduction::none, domain, each_step),
      stream("whole", Whole{}, Reduction::none, domain, {.first = 10, .every = 10, .last = steps})};
  const auto outcome =
      run(comm, directory.file("auto.h5"), automatic({"threads:1"}), both, {}, pattern::one_owner);
  CHECK(!outcome.error);
  if (!comm.is_root()) return;
  REQUIRE(outcome.report.decisions.size() > 1);
  CHECK(outcome.report.decisions[1].step > 10);
}

MPI_CASE("a run begins with what the last one with such outputs has ended with", ranks{1, 2, 3}) {
  const SharedDir directory(comm);
  auto options = automatic({});
  options.planner.tuning_directory = directory.file("tuning");
  options.write.pace = Pace{.latency_s = 0.002};
  const auto wanted = std::vector{stream("p", Whole{}, Reduction::none, domain, each_step)};
  std::string last = "threads:2";
  for (int i = 0; i < 2; ++i) {
    const auto outcome = run(comm, directory.file("out.h5"), options, wanted, {0.002});
    CHECK(!outcome.error);
    if (!comm.is_root()) continue;
    const auto& decisions = outcome.report.decisions;
    REQUIRE(decisions.size() >= 2);
    CHECK(decisions[0].strategy == last);
    CHECK((decisions[0].reason.find("last run") != std::string::npos) == (i == 1));
    // The last output may be written in the step: this is not what a run has kept.
    const auto& kept = decisions[decisions.size() - (decisions.back().predicted_output_s > 0 ? 1 : 2)];
    last = kept.strategy;
  }
}

MPI_CASE("what the last run has left is not taken where it cannot be", ranks{1, 2}) {
  const SharedDir directory(comm);
  auto options = automatic({});
  options.planner.tuning_directory = directory.file("tuning");
  const auto wanted = std::vector{stream("p", Whole{}, Reduction::none, domain, each_step)};
  run(comm, directory.file("out.h5"), options, wanted, {0.002});
  for (const char* const other : {"nonsense", "ranks:1", "spawn:2", "spawn-each", "threads:0", "auto"}) {
    replace_kept(comm, directory, other);
    const auto outcome = run(comm, directory.file("out.h5"), options, wanted, {0.002});
    CHECK(!outcome.error);
    if (comm.is_root()) CHECK(outcome.report.decisions[0].strategy == "threads:2");
  }
}

MPI_CASE("writing in the step that the last run has dropped is not the one to begin with, nor to end with",
         ranks{1, 2, 3}) {
  const SharedDir directory(comm);
  auto options = automatic({});
  options.planner.tuning_directory = directory.file("tuning");
  const auto wanted = std::vector{stream("p", Whole{}, Reduction::none, domain, each_step)};
  run(comm, directory.file("out.h5"), options, wanted, {0.002});
  replace_kept(comm, directory, "threads:2", {"blocking"});
  // Outputs this small gain nothing by being written elsewhere.
  const auto outcome = run(comm, directory.file("out.h5"), options, wanted, {0.002});
  CHECK(!outcome.error);
  if (!comm.is_root()) return;
  REQUIRE(outcome.report.decisions.size() >= 2);
  for (const auto& strategy : strategies_of(outcome.report)) CHECK(strategy != "blocking");
}

MPI_CASE("a change is taken back at its first output if that is clearly slower", ranks{1, 2, 3}) {
  const SharedDir directory(comm);
  auto options = automatic({});
  options.planner.tuning_directory = directory.file("tuning");
  options.write.pace = Pace{.latency_s = 0.010};
  const auto wanted = std::vector{stream("p", Whole{}, Reduction::none, domain, each_step)};
  run(comm, directory.file("out.h5"), options, wanted, {0.010});
  // Half of each step is spent on its output: a change is certain.
  replace_kept(comm, directory, "blocking");
  const auto outcome =
      run(comm, directory.file("out.h5"), options, wanted, {.step_s = 0.010, .slow_while_changed_s = 0.15});
  CHECK(!outcome.error);
  if (!comm.is_root()) return;
  const auto& decisions = outcome.report.decisions;
  REQUIRE(decisions.size() >= 3);
  CHECK(decisions[0].strategy == "blocking");
  CHECK(decisions[1].strategy != "blocking");
  CHECK(decisions[2].strategy == "blocking");
  CHECK(decisions[2].reason.find(": dropped") != std::string::npos);
  CHECK(decisions[2].step <= decisions[1].step + 5);
  for (std::size_t later = 3; later < decisions.size(); ++later)
    CHECK(decisions[later].strategy != decisions[1].strategy);
}
