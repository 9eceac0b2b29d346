// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/system.hpp"
#include "mpi/message.hpp"
#include "mpi/verdict.hpp"
#include "mpi_case.hpp"
#include "run/clock_comparison.hpp"
#include "run/tracing.hpp"
#include "temp_dir.hpp"

/// Clocks of ranks that are made wrong, and put together again.
namespace tailrace::run {

namespace {

constexpr double rounding_s = 1e-8;  // of times of a machine that has been up for years

/// Off by seconds to both sides, and drifting apart.
trace::Clock wrong_clock(int rank) {
  const double sign = rank % 2 == 0 ? 1 : -1;
  return {sign * 2.5 * rank, sign * 1e-5 * rank};
}

/// Returns what rank 0's clock shows when this rank's clock shows `local_s`: all read the same true clock.
double true_time(int rank, double local_s) {
  const auto clock = wrong_clock(rank);
  const double zero = clock.shown_at(0), rate = clock.shown_at(1) - zero;
  return wrong_clock(0).shown_at((local_s - zero) / rate);
}

/// Describes what readers make of a local time, with the points of the beginning and of the end.
struct Merged {
  trace::ClockPoint first, last;

  [[nodiscard]] double time_s(double local_s) const {
    const double passed = (local_s - first.local_s) / (last.local_s - first.local_s);
    return local_s + first.offset_s + passed * (last.offset_s - first.offset_s);
  }
  [[nodiscard]] double error_s() const { return std::max(first.error_s, last.error_s); }
};

/// A message as both sides saw it, by their own clocks.
struct Message {
  double sent_s, received_s;
};

double exchange_with(mpi::CommView comm, int to, int from, double sent_s) {
  const mpi::BlockType type({.row_bytes = sizeof(double)});
  double received = 0;
  const auto bytes = [](double& value) { return std::as_writable_bytes(std::span(&value, 1)).data(); };
  std::array requests{mpi::start_receive(comm, bytes(received), type.get(), from, 1),
                      mpi::start_send(comm, bytes(sent_s), type.get(), to, 1)};
  mpi::wait_all(requests);
  return received;
}

std::string make_directory(mpi::CommView comm, std::optional<test::TempDir>& directory) {
  if (comm.is_root()) {
    directory.emplace();
    std::filesystem::create_directory(directory->file("trace"));
  }
  return mpi::broadcast(comm, directory ? directory->file("") : "", 0);
}

}  // namespace

MPI_CASE("the offset of every clock is known within the error that is reported", ranks{1, 2, 3, 4, 7}) {
  const auto clock = wrong_clock(comm.rank());
  const ClockComparison comparison(comm, clock);
  for (int repeat = 0; repeat < 3; ++repeat) {
    const auto point = comparison.compare();
    const double truth = true_time(comm.rank(), point.local_s) - point.local_s;
    CHECK(std::abs(point.offset_s - truth) <= point.error_s + rounding_s);
    CHECK((comm.is_root() ? point.error_s == 0 : point.error_s > 0));
    CHECK(point.error_s < 1);
    const double now = clock.now_s();
    CHECK(point.local_s <= now);
    CHECK(point.local_s > now - 60);
  }
}

MPI_CASE("ranks that read one clock need no comparison", ranks{1, 2, 3, 4, 7}) {
  const auto same = ClockComparison(comm, trace::Clock()).compare();
  CHECK(same.offset_s == 0);
  CHECK(same.error_s == 0);
  // Pairs of ranks on a machine: one of each speaks for both.
  const auto paired = ClockComparison(comm, wrong_clock(comm.rank() / 2)).compare();
  const double truth = true_time(comm.rank() / 2, paired.local_s) - paired.local_s;
  CHECK(std::abs(paired.offset_s - truth) <= paired.error_s + rounding_s);
  CHECK((comm.rank() < 2) == (paired.error_s == 0));
}

MPI_CASE("no message arrives before it was sent, on merged clocks", ranks{2, 3, 4, 7}) {
  const auto clock = wrong_clock(comm.rank());
  const ClockComparison comparison(comm, clock);
  Merged mine{comparison.compare(), {}};
  std::vector<Message> messages;
  std::vector<int> senders;
  for (int turn = 0; turn < 40; ++turn) {
    const int distance = 1 + turn % (comm.size() - 1);
    const int to = (comm.rank() + distance) % comm.size(),
              from = (comm.rank() - distance + comm.size()) % comm.size();
    const double sent = exchange_with(comm, to, from, clock.now_s());
    messages.push_back({sent, clock.now_s()});
    senders.push_back(from);
    sleep_s(1e-3);
  }
  mine.last = comparison.compare();
  std::vector<Merged> all(static_cast<std::size_t>(comm.size()));
  for (int rank = 0; rank < comm.size(); ++rank) {
    std::vector<Merged> one{mine};
    mpi::broadcast(comm, one, rank);
    all[static_cast<std::size_t>(rank)] = one[0];
  }
  int apparent = 0;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const auto& sender = all[static_cast<std::size_t>(senders[i])];
    const double bound = sender.error_s() + mine.error_s() + rounding_s;
    CHECK(mine.time_s(messages[i].received_s) >= sender.time_s(messages[i].sent_s) - bound);
    apparent += messages[i].received_s < messages[i].sent_s ? 1 : 0;
  }
  // On the clocks as they are, about half of all messages seem to come from the future.
  CHECK(mpi::sum(comm, std::int64_t{apparent}) > 0);
}

MPI_CASE("every rank leaves a trace, and a failure of one is reported to all", ranks{1, 2, 3, 4, 7}) {
  std::optional<test::TempDir> directory;
  const auto path = make_directory(comm, directory);
  trace::Log log("main");
  {
    Tracing tracing(comm, path, trace::Mode::on, monotonic_s());
    log.add({trace::Kind::compute, 1, monotonic_s(), monotonic_s(), 0});
    tracing.close();
    tracing.close();  // does nothing
  }
  mpi::barrier(comm);
  const auto file = [&](int rank) { return fmt::format("{}/trace/rank-{:05}.trace", path, rank); };
  if (comm.is_root())
    for (int rank = 0; rank < comm.size(); ++rank) CHECK(std::filesystem::file_size(file(rank)) > 296);
  mpi::barrier(comm);
  if (comm.is_root()) {
    std::filesystem::remove_all(path + "/trace");
    std::filesystem::create_directory(path + "/trace");
    std::filesystem::create_directory(file(comm.size() - 1));  // where the last rank wants its file
  }
  mpi::barrier(comm);
  try {
    const Tracing tracing(comm, path, trace::Mode::on, monotonic_s());
    CHECK_MESSAGE(false, "a trace without a file");
  } catch (const Error& error) {
    CHECK(error.info().rank == comm.size() - 1);
    CHECK(error.info().kind == ErrorKind::io);
  }
  Tracing off(comm, path + "/nowhere", trace::Mode::off, monotonic_s());
  off.close();
  mpi::barrier(comm);
}

}  // namespace tailrace::run
