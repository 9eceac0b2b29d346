// SPDX-License-Identifier: BSD-3-Clause
// Programs on ranks that are processes, against the interpreter.
#include <fmt/ranges.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <thread>

#include "../unit/fragments_meaning.hpp"
#include "am/launch.hpp"
#include "base/text.hpp"
#include "described_lifetimes.hpp"
#include "error_of.hpp"
#include "fragments/runtime.hpp"
#include "mpi_case.hpp"
#include "random_fragments.hpp"
#include "tailrace/fragments/program.hpp"

namespace tailrace::test {

namespace {

/// The lines that bodies of all ranks printed, on all ranks, in alphabetical order.
std::string printed_by_all(mpi::CommView comm, const Printed& printed) {
  std::vector<std::string> lines;
  for (const auto& text : mpi::gather(comm, printed.sorted(), 0)) {
    std::size_t between = 0;  // behind each semicolon there is a space
    for (auto& line : split_text(text, ';')) {
      if (!line.empty()) lines.push_back(line.substr(between));
      between = 1;
    }
  }
  std::ranges::sort(lines);
  return fmt::format("{}", fmt::join(lines, "; "));
}

void check_program(mpi::CommView comm, const fragments::Options& options, const std::string& program,
                   const std::vector<std::string>& words) {
  const auto image = test_image(program);
  Printed alone, printed;
  const auto expected = fragments::interpret(image, test_bodies(alone), words);
  am::launch(comm, {}, [&](am::Endpoint& endpoint) {
    const auto ending = fragments::run(endpoint, image, test_bodies(printed), words, {options});
    CHECK(ending.errors == expected.errors);
    CHECK(ending.left_bytes == expected.left_bytes);
  });
  const auto lines = printed_by_all(comm, printed);
  if (comm.is_root()) CHECK(lines == alone.sorted());
}

/// Each number of workers, balanced and not.
std::vector<fragments::Options> ways() {
  std::vector<fragments::Options> all;
  for (const int workers : {1, 2, 4})
    for (const char* balance : {"off", "auto"}) all.push_back({.workers = workers, .balance = balance});
  return all;
}

/// Whether a row of a table is for a number of ranks: each is for one of 1, 2 and 3, and for 4 or 7. `full`
/// cases have all of each; so have ranks that are threads (`unit.fragments`).
bool is_turn(mpi::CommView comm, std::size_t row) {
  const auto size = static_cast<std::size_t>(comm.size());
  return size <= 3 ? row % 3 + 1 == size : (row % 2 == 0) == (size == 4);
}

void check_described(mpi::CommView comm, const fragments::Options& options, const Described& row) {
  Printed alone, printed;
  const auto expected = fragments::run_alone(row.program(alone), {});
  const auto found = fragments::run(comm, row.program(printed), {}, options);
  CHECK(found.errors == expected.errors);
  CHECK(std::reduce(found.executed.begin(), found.executed.end()) == expected.executed.front());
  const auto lines = printed_by_all(comm, printed);
  if (comm.is_root()) CHECK(lines == alone.sorted());
}

/// A sum by a fixed chain of values that bodies, all placed on rank 0, compute; `sum` gets it. Each rank
/// keeps what `keep` got there.
fragments::Program placed_on_one_rank(std::optional<double>& sum, bool stealable) {
  using namespace fragments;  // NOLINT: this function is about its words
  Program program("placed on one rank");
  const auto root = program.atomic("root", [](int i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return std::sqrt(i);
  });
  const auto add = program.atomic("add", [](double a, double b) { return a + b; });
  const auto keep = program.atomic("keep", [&sum](double value) { sum = value; });
  program.main<int>([&](Scope& scope, const Int& n) {
    const auto x = scope.data<double>("x"), partial = scope.data<double>("partial");
    auto loop = scope.for_each(1, n, [&](Scope& s, const Int& i) {
      auto call = s.call(root);
      call.with(i).into(x[i]).on(0);
      if (stealable) call.stealable();
      s.call(add).with(partial[i - 1], x[i]).into(partial[i]).on(0);
    });
    loop.on(0);
    if (stealable) loop.stealable();
    scope.call(root).with(0).into(partial[0]).on(0);
    scope.call(keep).with(partial[n]).on(0);
  });
  return program;
}

}  // namespace

MPI_CASE("stealable fragments of the C++ interface move, others stay, with the same bits", ranks{1, 2, 3}) {
  constexpr int roots = 200;
  std::optional<double> alone;
  const auto words = std::vector<std::string>{std::to_string(roots)};
  REQUIRE(fragments::run_alone(placed_on_one_rank(alone, true), words).errors.empty());
  for (const std::string balance : fragments::balance_words)
    for (const bool stealable : {false, true}) {
      CAPTURE(balance);
      CAPTURE(stealable);
      std::optional<double> sum;
      const auto outcome =
          fragments::run(comm, placed_on_one_rank(sum, stealable), words, {.balance = balance});
      CHECK(outcome.errors.empty());
      CHECK(sum.has_value() == comm.is_root());
      if (sum) CHECK(std::bit_cast<std::int64_t>(*sum) == std::bit_cast<std::int64_t>(*alone));
      REQUIRE(std::ssize(outcome.executed) == comm.size());
      CHECK(std::reduce(outcome.executed.begin(), outcome.executed.end()) == 2 * roots + 4);
      const bool moves = balance != "off" && stealable;
      for (std::size_t rank = 1; rank < outcome.executed.size(); ++rank)
        CHECK((outcome.executed[rank] > roots / 20) == moves);
    }
}

MPI_CASE("meaning: each sentence on two numbers of ranks as on one thread, errors included",
         shared_by{1, 2, 3, 4, 7}) {
  const auto all = ways();
  auto turn = static_cast<std::size_t>(comm.size());
  for (std::size_t i = 0; i < meanings.size(); ++i) {
    const auto& row = meanings[i];
    CAPTURE(row.what);
    if (is_turn(comm, i) && !left_to_chance(row))
      check_program(comm, all[turn++ % all.size()], row.program, row.words);
  }
}
MPI_CASE("full: each sentence on ranks with each number of workers, balanced or not", ranks{1, 2, 3, 4, 7}) {
  for (const auto& row : meanings)
    for (const auto& options : ways()) {
      CAPTURE(row.what);
      CAPTURE(options.workers);
      CAPTURE(options.balance);
      if (!left_to_chance(row)) check_program(comm, options, row.program, row.words);
    }
}

MPI_CASE("described: each sentence on two numbers of ranks as on one thread, errors included",
         shared_by{1, 2, 3, 4, 7}) {
  const auto all = ways();
  const auto rows = described::all();
  auto turn = static_cast<std::size_t>(comm.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(rows[i].what);
    if (is_turn(comm, i)) check_described(comm, all[turn++ % all.size()], rows[i]);
  }
}
MPI_CASE("full: each described sentence on ranks with each number of workers, balanced or not",
         ranks{1, 2, 3, 4, 7}) {
  for (const auto& row : described::all())
    for (const auto& options : ways()) {
      CAPTURE(row.what);
      CAPTURE(options.workers);
      CAPTURE(options.balance);
      check_described(comm, options, row);
    }
}

MPI_CASE("ranks whose programs differ are refused at the start, all of them", ranks{2, 3}) {
  const auto error = error_of([&] {
    fragments::Program program("one of two");
    const auto nothing = program.atomic("nothing", [] {});
    program.main([&](fragments::Scope& scope) {
      scope.call(nothing).with().on(0);
      if (comm.rank() == 1) scope.call(nothing).with().on(1);
    });
    fragments::run(comm, program, {});
  });
  REQUIRE(error);
  CHECK(error->kind == ErrorKind::input);
  CHECK(error->message == "the ranks have programs that differ");
  CHECK(error->hint == "give all ranks the same program");
}

MPI_CASE("more ranks and workers than fragments, and none but main", ranks{1, 3, 7}) {
  for (const int bodies : {0, 1}) {
    fragments::Program program("hardly any");
    const auto nothing = program.atomic("nothing", [] {});
    program.main([&](fragments::Scope& scope) {
      for (int i = 0; i < bodies; ++i) scope.call(nothing);
    });
    const auto outcome = fragments::run(comm, program, {}, {.workers = 4, .balance = "auto"});
    CHECK(outcome.errors.empty());
    CHECK(std::reduce(outcome.executed.begin(), outcome.executed.end()) == 1 + bodies);
  }
}

MPI_CASE("random graphs on ranks have the interpreter's results", ranks{2, 3}) {
  const auto all = ways();
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    const auto other = seed + 1000 * static_cast<std::uint64_t>(comm.size());
    check_program(comm, all[seed % all.size()], RandomFragments(other).program(), {});
  }
}

}  // namespace tailrace::test
