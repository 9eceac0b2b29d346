// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "base/system.hpp"
#include "output/registry/create.hpp"
#include "output/strategies/io_servers.hpp"
#include "tailrace/error.hpp"

/// A process that writes for the ranks that have started it.
int main(int argc, char** argv) {
  using namespace tailrace;
  const mpi::Environment environment(argc, argv);
  try {
    return output::serve_as_spawned(environment.world(), output::create_sink);
  } catch (const Error& error) {
    const std::string fix = error.info().hint.empty() ? "" : ". Fix: " + error.info().hint;
    say(stderr, fmt::format("tailrace-writer: {}{}\n", error.info().message, fix));
    if (error.info().kind == ErrorKind::usage) return 2;
    mpi::Environment::abort(3);
  }
}
