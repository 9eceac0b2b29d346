// SPDX-License-Identifier: BSD-3-Clause
/// What parts of a fragment cost: times of small programs, one after the other in each round, and bytes, on
/// one rank or two; or, with --counts, messages, bytes and memory on any number of ranks, which are threads
/// of one process. JSON on standard output.
///   tailrace-bench-fragments --rounds 7
///   mpirun -n 2 tailrace-bench-fragments --rounds 7
///   tailrace-bench-fragments --counts --ranks 2 8 64
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "am/launch.hpp"
#include "base/system.hpp"
#include "by_fragments.hpp"
#include "fragments/id.hpp"
#include "fragments/runtime.hpp"
#include "heap.hpp"
#include "small_programs.hpp"
#include "tailrace/option_parser.hpp"

using namespace tailrace;
using namespace tailrace::bench;

namespace {

struct Settings {
  int rounds = 7, fragments = 20'000, points = 4, steps = 30;
  bool counts = false;
  std::vector<std::string> only;  ///< of the times; empty: all, and sizes
  std::vector<int> ranks{2, 4, 8, 16, 32, 64};
};

/// One number that is measured once per round.
struct Quantity {
  std::string name, unit;
  std::function<double()> measure;
};

double seconds_of(mpi::CommView comm, const fragments::Program& program,
                  const std::vector<std::string>& words, const fragments::Options& options = {}) {
  static_cast<void>(program.image());
  mpi::barrier(comm);
  const double start_s = monotonic_s();
  const auto outcome = fragments::run(comm, program, words, options);
  const double seconds = mpi::max(comm, monotonic_s() - start_s);
  if (!outcome.errors.empty()) throw std::runtime_error(outcome.errors.front());
  return seconds;
}

double seconds_of(mpi::CommView comm, const fragments::Program& program, int count) {
  return seconds_of(comm, program, std::vector{fmt::format("{}", count)});
}

/// How many fragments a program has, by its argument.
using FragmentsOf = double (*)(int);

/// Microseconds per fragment: a long run minus a short one.
double each_us(mpi::CommView comm, const fragments::Program& program, int count, FragmentsOf fragments_of) {
  const int few = count / 10;
  const double short_s = seconds_of(comm, program, few);
  return 1e6 * (seconds_of(comm, program, count) - short_s) / (fragments_of(count) - fragments_of(few));
}

Quantity timed(
    mpi::CommView comm, const std::string& name, fragments::Program made, int count,
    FragmentsOf fragments_of = [](int n) { return double(n); }) {
  auto program = std::make_shared<fragments::Program>(std::move(made));
  return {name, "us", [=] { return each_us(comm, *program, count, fragments_of); }};
}

/// Runs a program that has one body and nothing else.
void run_body(mpi::CommView comm, Seen& seen, double seconds) {
  const auto outcome = fragments::run(comm, one_body(seen, seconds), {});
  if (!outcome.errors.empty()) throw std::runtime_error(outcome.errors.front());
}

/// From the end of the last body to when all ranks know that all is over, after 10 ms of work.
double termination_us(mpi::CommView comm) {
  Seen seen;
  run_body(comm, seen, 0.01);
  const double over_s = mpi::max(comm, monotonic_s());
  return 1e6 * (over_s - mpi::max(comm, seen.ended_s));
}

/// From the end of the last body to when all ranks have the one cause for which so many fragments wait.
double verdict_ms(mpi::CommView comm, int waiting, bool cycle) {
  Seen seen;
  const auto outcome = fragments::run(comm, never_ends(seen, 0.1, cycle), {fmt::format("{}", waiting)});
  const double known_s = mpi::max(comm, monotonic_s());
  if (outcome.errors.size() != 1) throw std::runtime_error("a verdict of other than one cause");
  return 1e3 * (known_s - mpi::max(comm, seen.ended_s));
}

/// The time of a program over that which its work takes if the ranks share it equally, with each way to
/// balance.
void add_unbalanced(mpi::CommView comm, const std::string& name, bench::Unbalanced made,
                    std::vector<Quantity>& quantities) {
  const auto program = std::make_shared<bench::Unbalanced>(std::move(made));
  for (const std::string way : fragments::balance_words)
    quantities.push_back(
        {fmt::format("{}, balance {}", name, way), "of the ideal", [=] {
           const double ideal_s = program->work_s / comm.size();
           return seconds_of(comm, program->program, std::vector<std::string>{}, {.balance = way}) / ideal_s;
         }});
}

/// CPU time of the first rank while the other one works for a second, in % of a core.
double idle_percent(mpi::CommView comm) {
  Seen seen;
  mpi::barrier(comm);
  const double start_s = monotonic_s(), cpu_s = thread_cpu_s();
  run_body(comm, seen, 1);
  const double share = (thread_cpu_s() - cpu_s) / (monotonic_s() - start_s);
  return 100 * mpi::max(comm, comm.is_root() ? share : 0);
}

/// Nanoseconds of an operation on each of many ids.
template <class Operation>
double id_ns(const Operation& operation) {
  using fragments::Id;
  constexpr int count = 1000, repeats = 200;
  std::vector<Id> ids;
  for (int i = 0; i < count; ++i) ids.emplace_back(i % 4, static_cast<std::uint64_t>(i)).take(i);
  auto same = ids;
  std::uint64_t sum = 0;
  const double start_s = monotonic_s();
  for (int n = 0; n < repeats; ++n)
    for (std::size_t i = 0; i < count; ++i) sum += operation(ids[i], same[i], same[(i + 1) % count]);
  const double each = 1e9 * (monotonic_s() - start_s) / (count * repeats);
  if (sum == 1) throw std::runtime_error("ids have no hashes");
  return each;
}

std::vector<Quantity> of_ids() {
  using fragments::Id;
  return {
      {"id: compare equal ones", "ns",
       [] { return id_ns([](const Id& a, const Id& b, const Id&) { return std::uint64_t{a == b}; }); }},
      {"id: compare different ones", "ns",
       [] { return id_ns([](const Id& a, const Id&, const Id& b) { return std::uint64_t{a == b}; }); }},
      {"id: hash", "ns", [] { return id_ns([](const Id& a, const Id&, const Id&) { return a.hash(); }); }},
      {"id: take an index", "ns", [] {
         return id_ns([](const Id& a, const Id&, const Id&) {
           Id taken = a;
           taken.take(7);
           return taken.hash();
         });
       }}};
}

std::vector<Quantity> on_one_rank(mpi::CommView comm, int count) {
  std::vector<Quantity> all{
      timed(comm, "chain", chain(false), count),
      timed(comm, "independent", independent(), count),
      timed(comm, "structured", structured(), count),
      timed(comm, "block, its names with use counts", blocks(true), count),
      timed(comm, "block, its names go with it", blocks(false), count),
      timed(comm, "stencil", stencil(), count / ring_points, [](int n) { return double(n) * ring_points; }),
      timed(comm, "matrix product", matrix_product(), static_cast<int>(std::cbrt(count)),
            [](int n) { return double(n) * n * n + 4.0 * n * n; })};
  for (auto& quantity : of_ids()) all.push_back(std::move(quantity));
  return all;
}

std::vector<Quantity> on_two_ranks(mpi::CommView comm, int count) {
  std::vector<Quantity> all{timed(comm, "hop", chain(true), count / 4),
                            timed(comm, "request", remote_values(), count / 4),
                            timed(comm, "block, its names with use counts", blocks(true), count / 4),
                            timed(comm, "block, its names go with it", blocks(false), count / 4),
                            {"termination", "us", [comm] { return termination_us(comm); }},
                            {"idle rank", "% of a core", [comm] { return idle_percent(comm); }}};
  for (const bool cycle : {false, true})
    all.push_back({fmt::format("verdict: {}", cycle ? "cycle" : "missing value"), "ms",
                   [=] { return verdict_ms(comm, count, cycle); }});
  add_unbalanced(comm, "unbalanced tree", unbalanced_tree(), all);
  add_unbalanced(comm, "unbalanced graph", unbalanced_graph(), all);
  return all;
}

nlohmann::json measure(const std::vector<Quantity>& quantities, int rounds) {
  std::vector<std::vector<double>> samples(quantities.size());
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < quantities.size(); ++i) samples[i].push_back(quantities[i].measure());
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t i = 0; i < quantities.size(); ++i)
    rows.push_back({{"name", quantities[i].name}, {"unit", quantities[i].unit}, {"samples", samples[i]}});
  return rows;
}

/// Bytes of each of so many objects that are there at a time.
nlohmann::json bytes_of(mpi::CommView comm, const std::string& what, const Seen& seen,
                        const fragments::Program& program, int count) {
  seconds_of(comm, program, count);  // what is kept for the next objects is there
  seconds_of(comm, program, count);
  return {{"name", what}, {"bytes", static_cast<double>(seen.heap_full - seen.heap_before) / count}};
}

nlohmann::json sizes(mpi::CommView comm, int count) {
  Seen seen;
  return {bytes_of(comm, "waiting fragment, two inputs of its own", seen, waiting(seen, true), count),
          bytes_of(comm, "waiting fragment, two inputs that all share", seen, waiting(seen, false), count),
          bytes_of(comm, "live data fragment, a real", seen, live_reals(seen), count),
          bytes_of(comm, "block that is over, of one name", seen, blocks_over(seen), count)};
}

/// What all ranks of a run came to.
struct Counted {
  std::mutex mutex;
  std::int64_t messages = 0, bytes = 0, forwarded = 0, executed = 0, max_executed = 0;

  void add(const am::Endpoint& endpoint, const fragments::Ending& ending) {
    const std::lock_guard lock(mutex);
    if (!ending.succeeded()) throw std::runtime_error(ending.errors.front());
    messages += endpoint.messages_sent();
    for (int module = 0; module < am::own_module; ++module) bytes += endpoint.sent().of(module).bytes;
    forwarded = ending.forwarded;
    executed += ending.executed;
    max_executed = std::max(max_executed, ending.executed);
  }
};

/// The most bytes that the heap has while a function runs.
std::int64_t peak_heap_bytes(const std::function<void()>& work) {
  std::int64_t peak = heap_bytes();
  std::jthread watch([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      peak = std::max(peak, heap_bytes());
      sleep_s(1e-4);
    }
  });
  work();
  watch.request_stop();
  watch.join();
  return peak;
}

/// What ranks that are threads count of a program, and the most memory that they have.
std::int64_t count_on(int ranks, const fragments::Program& program, const std::vector<std::string>& words,
                      Counted& all) {
  const auto image = program.image();
  const fragments::Bodies bodies(program.bodies().begin(), program.bodies().end());
  am::Choice choice;
  choice.local_ranks = ranks;
  const auto before = heap_bytes();
  const auto peak = peak_heap_bytes([&] {
    am::launch_local(choice, [&](am::Endpoint& endpoint) {
      all.add(endpoint, fragments::run(endpoint, image, bodies, words));
    });
  });
  return peak - before;
}

/// Messages that the ranks send for a block of which each rank may have data fragments, beyond those of one
/// whose values have use counts.
double messages_of_block_end(int ranks) {
  constexpr int blocks_counted = 2000;
  const std::vector<std::string> words{fmt::format("{}", blocks_counted)};
  Counted with_block, with_counts;
  count_on(ranks, blocks(false), words, with_block);
  count_on(ranks, blocks(true), words, with_counts);
  return static_cast<double>(with_block.messages - with_counts.messages) / blocks_counted;
}

/// A stencil with as many points and steps on each rank.
nlohmann::json counted(int ranks, const Settings& settings) {
  Load load;
  load.graphs.emplace_back(
      Shape{.pattern = Pattern::stencil_1d, .width = ranks * settings.points, .steps = settings.steps});
  Counted all;
  const auto memory = count_on(ranks, describe(load, ranks), {}, all);
  const auto each = [&](std::int64_t sum) {
    return static_cast<double>(sum) / static_cast<double>(load.tasks());
  };
  return {{"ranks", ranks},
          {"fragments", load.tasks()},
          {"messages_per_fragment", each(all.messages)},
          {"bytes_per_fragment", each(all.bytes)},
          {"forwarded_per_fragment", each(all.forwarded)},
          {"max_over_mean_executed",
           static_cast<double>(all.max_executed) * ranks / static_cast<double>(all.executed)},
          {"heap_bytes_per_rank", memory / ranks},
          {"messages_per_block_end", messages_of_block_end(ranks)}};
}

nlohmann::json answer(mpi::CommView comm, const Settings& settings) {
  if (comm.size() > 2) throw std::invalid_argument("start it on 1 rank or on 2");
  const int count = settings.fragments;
  auto quantities = comm.size() == 1 ? on_one_rank(comm, count) : on_two_ranks(comm, count);
  const auto& only = settings.only;
  std::erase_if(quantities, [&](const Quantity& quantity) {
    return !only.empty() && std::ranges::find(only, quantity.name) == only.end();
  });
  auto found = nlohmann::json{{"rows", measure(quantities, settings.rounds)}};
  if (comm.size() == 1 && only.empty()) found["sizes"] = sizes(comm, count);
  return found;
}

nlohmann::json counts(const Settings& settings) {
  nlohmann::json rows = nlohmann::json::array();
  for (const int ranks : settings.ranks) rows.push_back(counted(ranks, settings));
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  use_one_arena();
  Settings settings;
  OptionParser parser("What parts of a fragment cost", "tailrace-bench-fragments");
  parser.option("--only", settings.only, "names of the times to take, and nothing else");
  parser.option("--rounds", settings.rounds, "samples of each time").positive();
  parser.option("--fragments", settings.fragments, "of a long run").within(100, 90'000);
  parser.flag("--counts", settings.counts, "count instead, without MPI");
  parser.option("--ranks", settings.ranks, "numbers of ranks that are counted").within(2, 1024);
  parser.option("--points", settings.points, "per rank, of the counted graph").positive();
  parser.option("--steps", settings.steps, "of the counted graph").within(2, 100'000);
  if (const auto status = parser.read_or_end(argc, argv)) return *status;
  if (settings.counts) {
    say(stdout, counts(settings).dump() + "\n");
    return 0;
  }
  const mpi::Environment environment(argc, argv);
  const auto comm = environment.world();
  try {
    const auto found = answer(comm, settings);
    if (comm.is_root()) say(stdout, found.dump() + "\n");
  } catch (const std::invalid_argument& error) {
    if (comm.is_root()) say(stderr, fmt::format("{}\n", error.what()));
    return 2;
  } catch (const std::runtime_error& error) {
    if (comm.is_root()) say(stderr, fmt::format("{}\n", error.what()));
    return 3;
  }
  return 0;
}
