// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <string>
#include <string_view>

#include "exchange/line.hpp"
#include "kill_job.hpp"
#include "mpi/library.hpp"

using namespace tailrace;
using test::said_by;

namespace {

/// Has a rank fail in one of the flights by a transport; the job ends, and what it said is returned.
std::string said_with(const char* kind, int ranks, int rank, int flight, std::string_view transport) {
  const auto said = said_by(ranks, fmt::format("{} {} {} {}", kind, rank, flight, transport));
  CHECK_MESSAGE(
      said.find(fmt::format("rank {} will {} in flight {}", rank, kind, flight)) != std::string::npos, said);
  return said;
}

/// In turns in a gather and in a scatter-add, and the first and the last rank.
void kill_in_flights_of_all_transports(int ranks) {
  int flight = 4;
  for (const exchange::Transport& transport : exchange::transports()) {
    if (!transport.obstacle.empty()) continue;
    said_with("kill", ranks, flight % 4 < 2 ? 0 : ranks - 1, flight, transport.name);
    ++flight;
  }
}

/// What lets a command see a /dev/shm of its own, which is full; empty where the system lets nobody have one.
std::string with_full_shared_memory() {
  const std::string prefix =
      "unshare -rm sh -c 'mount -t tmpfs -o size=64m none /dev/shm || exit 1; "
      "head -c 64M /dev/zero > /dev/shm/all 2> /dev/null; exec \"$@\"' sh";
  return std::system((prefix + " true").c_str()) == 0 ? prefix : "";  // NOLINT: a command of our own
}

/// A transport that needs a window says that there is no room for it; all others come as far as the kill.
void fly_with_full_shared_memory(std::string_view transport, bool needs_window) {
  const auto prefix = with_full_shared_memory();
  if (prefix.empty()) {
    MESSAGE("nobody may have a /dev/shm of his own here");
    return;
  }
  const auto said = said_by(2, fmt::format("kill 1 4 {}", transport), prefix);
  const char* const expected =
      needs_window ? "no room in shared memory (/dev/shm) for a window. Fix: a larger /dev/shm"
                   : "rank 1 will kill in flight 4";
  CHECK_MESSAGE(said.find(expected) != std::string::npos, said);
}

}  // namespace

TEST_CASE("a rank that is killed inside a flight ends the job") {
  said_with("kill", 3, 1, 4, "shared");
}

TEST_CASE("a rank that stops inside a flight is named, and ends the job") {
  // Nothing is expected from it; the values for it are too many to be kept on the way.
  const auto said = said_with("stop", 2, 1, 4, "isend");
  CHECK_MESSAGE(said.find("messages to ranks 1 were not all taken for 3 s") != std::string::npos, said);
}

// What MPICH does then has not been looked at.
TEST_CASE("with a full /dev/shm, one-sided exchange ends with the reason, and memory gives way to messages" *
          doctest::skip(!mpi::is_open_mpi())) {
  fly_with_full_shared_memory("rma-lock", true);
  fly_with_full_shared_memory("shared", false);
}

TEST_CASE("full: with a full /dev/shm no transport hangs or dies of it" *
          doctest::skip(!mpi::is_open_mpi())) {
  for (const exchange::Transport& transport : exchange::transports())
    if (transport.obstacle.empty())
      fly_with_full_shared_memory(transport.name,
                                  transport.name.starts_with("rma-") || transport.name == "get");
}

TEST_CASE("full: a rank that is killed inside a flight of any transport ends the job of 2 ranks") {
  kill_in_flights_of_all_transports(2);
}
TEST_CASE("full: a rank that is killed inside a flight of any transport ends the job of 3 ranks") {
  kill_in_flights_of_all_transports(3);
}
TEST_CASE("full: a rank that is killed inside a flight of any transport ends the job of 7 ranks") {
  kill_in_flights_of_all_transports(7);
}
