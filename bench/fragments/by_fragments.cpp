// SPDX-License-Identifier: BSD-3-Clause
/// A fragment program: for each rank a loop over the steps, in which the tasks of its points are created.
#include "by_fragments.hpp"

#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "base/system.hpp"
#include "owners.hpp"
#include "systems.hpp"

namespace tailrace::bench {

namespace {

using namespace fragments;
using Bytes = Block<std::byte>;
constexpr std::size_t max_inputs = 16;

/// The tasks of one graph of a load.
class Describer {
 public:
  Describer(Program& program, const Load& load, int number, int ranks)
      : program_(program),
        load_(load),
        graph_(load.graphs[static_cast<std::size_t>(number)]),
        number_(number),
        owners_{graph_.width(), ranks} {}

  void describe(Scope& main) {
    const auto out = main.data<Bytes>(fmt::format("out{}", number_));
    for (int rank = 0; rank < owners_.ranks; ++rank) describe_rank(main, out, rank);
  }

 private:
  void describe_rank(Scope& main, const Data<Bytes>& out, int rank) {
    const int begin = graph_.regular_begin(), repeat = graph_.repeat();
    const int rounds = (graph_.regular_end() - begin) / repeat;
    for (int step = 0; step < begin; ++step) describe_step(main, out, rank, step, step);
    if (rounds > 0 && repeat == 1)
      main.for_each(begin, begin + rounds - 1,
                    [&](Scope& one, const Int& step) { describe_step(one, out, rank, begin, step); })
          .on(rank);
    else if (rounds > 0)
      main.for_each(0, rounds - 1,
                    [&](Scope& one, const Int& round) {
                      for (int i = 0; i < repeat; ++i)
                        describe_step(one, out, rank, begin + i, round * repeat + (begin + i));
                    })
          .on(rank);
    for (int step = begin + rounds * repeat; step < graph_.steps(); ++step)
      describe_step(main, out, rank, step, step);
  }
  /// The tasks of a rank in step `step`, which has the inputs of step `like`.
  void describe_step(Scope& scope, const Data<Bytes>& out, int rank, int like, const Int& step) {
    const auto own = owners_.points_of(rank), points = graph_.points(like);
    for (int point = std::max(own.begin, points.begin); point < std::min(own.end, points.end); ++point)
      describe_task(scope, out, {number_, like, point}, step, std::make_index_sequence<max_inputs + 1>());
  }
  template <std::size_t... count>
  void describe_task(Scope& scope, const Data<Bytes>& out, const bench::Task& like, const Int& step,
                     std::index_sequence<count...> /*counts*/) {
    const auto inputs = graph_.inputs(like.step, like.point);
    if (inputs.size() > max_inputs)
      throw std::runtime_error(
          fmt::format("a task of fragments has at most {} inputs here, not {}", max_inputs, inputs.size()));
    ((inputs.size() == count ? call(scope, out, like, step, std::make_index_sequence<count>()) : void()),
     ...);
  }
  template <std::size_t... i>
  void call(Scope& scope, const Data<Bytes>& out, const bench::Task& like, const Int& step,
            std::index_sequence<i...> inputs) {
    [[maybe_unused]] const auto read = graph_.inputs(like.step, like.point);
    [[maybe_unused]] const Int before = step - 1;
    const auto output = out[step][slot(like.point)];
    scope.call(body(inputs))
        .with(step, like.point, out[before][slot(read[i])]...)
        .into(output)
        .on(owners_.rank_of(like.point))
        .reads(output, graph_.readers(like.step, like.point));
  }
  template <std::size_t>
  using Input = Bytes;
  template <std::size_t... i>
  auto body(std::index_sequence<i...> /*inputs*/) {
    return program_.atomic(fmt::format("task{}_{}", number_, sizeof...(i)),
                           [&load = load_, number = number_](int step, int point, const Input<i>&... inputs) {
                             const std::array<const std::byte*, sizeof...(i)> bytes{inputs.begin()...};
                             auto output = Bytes::for_overwrite(load.bytes);
                             execute(load, {number, step, point}, bytes, output.values());
                             return output;
                           });
  }
  /// The last index of the outputs of a point: modulo the ranks it is the rank, their home.
  [[nodiscard]] int slot(int point) const noexcept {
    const int rank = owners_.rank_of(point);
    return (point - owners_.points_of(rank).begin) * owners_.ranks + rank;
  }

  Program& program_;
  const Load& load_;
  const Graph& graph_;
  int number_;
  Owners owners_;
};

}  // namespace

Program describe(const Load& load, int ranks) {
  Program program("task graphs");
  program.main([&](Scope& main) {
    for (int number = 0; number < static_cast<int>(load.graphs.size()); ++number)
      Describer(program, load, number, ranks).describe(main);
  });
  return program;
}

double run_fragments(const Team& team, const Load& load) {
  const auto program = describe(load, team.comm.size());
  static_cast<void>(program.image());
  Options options;
  options.workers = team.workers;
  if (team.steals) options.balance = "steal";
  mpi::barrier(team.comm);
  const double start_s = monotonic_s();
  const auto outcome = fragments::run(team.comm, program, {}, options);
  const double seconds = mpi::max(team.comm, monotonic_s() - start_s);
  if (!outcome.errors.empty()) throw std::runtime_error(outcome.errors.front());
  return seconds;
}

}  // namespace tailrace::bench
