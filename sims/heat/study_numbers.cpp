// SPDX-License-Identifier: BSD-3-Clause
#include "study_numbers.hpp"

#include "tailrace/error.hpp"

namespace tailrace::heat {

namespace {

/// How many vertices come before those of each rank, and behind the last one of all.
std::vector<std::int64_t> vertices_before(mpi::CommView comm, std::int64_t mine) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(comm.size()) + 1);
  counts[static_cast<std::size_t>(comm.rank()) + 1] = mine;
  counts = mpi::sum(comm, counts);
  for (std::size_t rank = 1; rank < counts.size(); ++rank) counts[rank] += counts[rank - 1];
  return counts;
}

}  // namespace

NumberRule rule_of_study(Owners rule) {
  switch (rule) {
    case Owners::block:
      return [](auto vertices, auto others, int ranks) { return exchange::Block(vertices + others, ranks); };
    case Owners::cyclic:
      return [](auto vertices, auto others, int ranks) { return exchange::Cyclic(vertices + others, ranks); };
    case Owners::double_block:
      return [](auto vertices, auto others, int ranks) {
        return exchange::DoubleBlock(vertices, others, ranks);
      };
    case Owners::reversed_double_block:
      return [](auto vertices, auto others, int ranks) {
        return exchange::ReversedDoubleBlock(vertices, others, ranks);
      };
    default:
      throw Error(ErrorKind::internal, "no rule of the study");
  }
}

void number_by_kind(mpi::CommView comm, const NumberRule& rule, std::int64_t vertices,
                    exchange::SharedNumbers& numbers) {
  const auto before = vertices_before(comm, vertices);
  std::vector<int> owners(numbers.first.size());
  std::vector<std::int64_t> locals(numbers.first.size());
  numbers.distribution.locate(numbers.first, owners, locals);
  for (std::size_t i = 0; i < numbers.first.size(); ++i) {
    const auto rank = static_cast<std::size_t>(owners[i]);
    const std::int64_t own_vertices = before[rank + 1] - before[rank];
    if (locals[i] < own_vertices)
      numbers.first[i] = before[rank] + locals[i];
    else  // behind all vertices, of which those of higher ranks came behind it
      numbers.first[i] += before.back() - before[rank + 1];
  }
  numbers.distribution = rule(before.back(), numbers.distribution.size() - before.back(), comm.size());
}

}  // namespace tailrace::heat
