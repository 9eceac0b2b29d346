// SPDX-License-Identifier: BSD-3-Clause
#include "am_conformance.hpp"
#include "mpi_case.hpp"

using namespace tailrace;

namespace {

void over_mpi(mpi::CommView comm, const std::function<void(am::Endpoint&)>& body,
              std::optional<am::Faults> faults = {}, const am::Options& options = {}) {
  am::Choice choice;
  choice.faults = faults;
  choice.options = options;
  am::launch(comm, choice, body);
}

}  // namespace

MPI_CASE("messages: order, contents and counters of all sizes on both lanes", ranks{1, 2, 3, 7}) {
  const std::size_t largest = comm.size() == 2 ? std::size_t{1} << 22U : 20'000;
  over_mpi(comm, [&](am::Endpoint& e) { test::all_to_all(e, 18, largest); });
}

MPI_CASE("messages: with small frames, little credit and few bodies at a time", ranks{1, 3}) {
  am::Options options;
  options.frame_bytes = 200;
  options.rendezvous_bytes = 500;
  options.frames_in_flight = 2;
  options.bodies_in_flight = 1;
  over_mpi(
      comm, [](am::Endpoint& e) { test::all_to_all(e, 34, 5000); }, {}, options);
}

MPI_CASE("messages: may overtake each other, but not those of one module from one rank", ranks{1, 3}) {
  over_mpi(
      comm, [](am::Endpoint& e) { test::all_to_all(e, 18, 20'000); },
      am::Faults{.seed = 5, .delayed = 0.4, .slow_rank = 1});
}

MPI_CASE("messages: a slow receiver is not drowned", ranks{1, 2, 3, 7}) {
  over_mpi(comm, test::slow_receiver);
}

MPI_CASE("messages: many to one, itself included", ranks{1, 3, 7}) {
  over_mpi(comm, test::many_to_one);
}

MPI_CASE("messages: workers hand over", ranks{1, 2}) {
  over_mpi(comm, test::handed_over);
}

MPI_CASE("messages: who waits sleeps most of the time", ranks{1, 2}) {
  over_mpi(comm, test::waiting_is_cheap);
}

MPI_CASE("messages: the end is never found before the last message", ranks{1, 2, 3, 7}) {
  for (std::uint64_t seed = 0; seed < 5; ++seed)
    over_mpi(
        comm, [&](am::Endpoint& e) { test::Avalanche(e, seed).run(); },
        am::Faults{.seed = seed, .delayed = seed % 2 == 0 ? 0.0 : 0.5});
}

MPI_CASE("messages: ranks that are threads of each process", ranks{1, 2}) {
  am::Choice choice;
  choice.local_ranks = 2;
  am::launch(comm, choice, [](am::Endpoint& e) { test::all_to_all(e, 18, 20'000); });
}
