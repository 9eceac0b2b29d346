// SPDX-License-Identifier: BSD-3-Clause
// Programs on ranks that are processes, against the interpreter.
#include <fmt/ranges.h>

#include <array>

#include "../unit/fragments_meaning.hpp"
#include "am/launch.hpp"
#include "base/text.hpp"
#include "fragments/runtime.hpp"
#include "mpi_case.hpp"
#include "random_fragments.hpp"

namespace tailrace::test {

namespace {

/// The lines that bodies of all ranks printed, on all ranks, in alphabetical order.
std::string printed_by_all(mpi::CommView comm, const Printed& printed) {
  std::vector<std::string> lines;
  for (const auto& text : mpi::gather(comm, printed.sorted(), 0))
    for (auto& line : split_text(text, ';'))
      if (!line.empty()) lines.push_back(line.substr(line.front() == ' ' ? 1 : 0));
  std::ranges::sort(lines);
  return fmt::format("{}", fmt::join(lines, "; "));
}

void check_program(mpi::CommView comm, int workers, const std::string& program,
                   const std::vector<std::string>& words) {
  const auto image = test_image(program);
  Printed alone, printed;
  const auto expected = fragments::interpret(image, test_bodies(alone), words);
  am::launch(comm, {}, [&](am::Endpoint& endpoint) {
    const auto ending = fragments::run(endpoint, image, test_bodies(printed), words, {{.workers = workers}});
    CHECK(ending.errors == expected.errors);
    CHECK(ending.left_bytes == expected.left_bytes);
  });
  const auto lines = printed_by_all(comm, printed);
  if (comm.is_root()) CHECK(lines == alone.sorted());
}

}  // namespace

MPI_CASE("meaning: each sentence on ranks as on one thread, errors included", ranks{1, 2, 3, 4, 7}) {
  constexpr std::array workers{1, 2, 4};
  auto turn = static_cast<std::size_t>(comm.size());
  for (const auto& row : meanings) {
    CAPTURE(row.what);
    if (!left_to_chance(row)) check_program(comm, workers[turn++ % workers.size()], row.program, row.words);
  }
}
MPI_CASE("full: each sentence on ranks with each number of workers", ranks{1, 2, 3, 4, 7}) {
  for (const auto& row : meanings)
    for (const int workers : {1, 2, 4}) {
      CAPTURE(row.what);
      if (!left_to_chance(row)) check_program(comm, workers, row.program, row.words);
    }
}

MPI_CASE("random graphs on ranks have the interpreter's results", ranks{2, 3}) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    CAPTURE(seed);
    check_program(comm, 1 + static_cast<int>(seed % 3), RandomFragments(seed).program(), {});
  }
}

}  // namespace tailrace::test
