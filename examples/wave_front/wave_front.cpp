// SPDX-License-Identifier: BSD-3-Clause
// A wave front: each value of a grid needs those to its left and above it, so that diagonals run at once.
// paths[i][j] is the number of ways from paths[0][0], to the right and down, modulo a prime. Argument: the
// last row and column.
#include <cstdio>
#include <string>
#include <vector>

#include "tailrace/error.hpp"
#include "tailrace/fragments/program.hpp"

using namespace tailrace::fragments;

/// Nothing in it says where what runs.
Program wave_front() {
  Program program("wave front");
  const auto one = program.atomic("one", [] { return 1; });
  const auto add = program.atomic("add", [](int left, int above) { return (left + above) % 1000003; });
  const auto show = program.atomic(
      "show", [](int n, int ways) { std::printf("%d x %d: %d ways\n", n, n, ways), std::fflush(stdout); });
  program.main<int>([&](Scope& scope, const Int& n) {
    const auto paths = scope.data<int>("paths");
    scope.for_each(0, n, [&](Scope& s, const Int& i) { s.call(one).with().into(paths[i][0]); });
    scope.for_each(1, n, [&](Scope& s, const Int& j) { s.call(one).with().into(paths[0][j]); });
    scope.for_each(1, n, [&](Scope& row, const Int& i) {
      row.for_each(1, n, [&](Scope& s, const Int& j) {
        s.call(add).with(paths[i][j - 1], paths[i - 1][j]).into(paths[i][j]);
      });
    });
    scope.call(show).with(n, paths[n][n]);
  });
  return program;
}

int main(int argc, char** argv) {
  const tailrace::mpi::Environment environment(argc, argv);
  const bool root = environment.world().is_root();
  try {
    const auto outcome = run(environment.world(), wave_front(), {argv + 1, argv + argc});
    for (const auto& error : outcome.errors)
      if (root) std::fprintf(stderr, "%s\n", error.c_str());
    if (root) std::printf("%s\n", to_string(outcome.executed).c_str());
    return outcome.errors.empty() ? 0 : 3;
  } catch (const tailrace::Error& error) {  // arguments that do not fit, the same on all ranks
    if (root) std::fprintf(stderr, "wave_front: %s\n", error.what());
    return 2;
  }
}
