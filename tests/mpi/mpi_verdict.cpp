// SPDX-License-Identifier: BSD-3-Clause
#include <sys/resource.h>

#include <array>
#include <string>

#include "base/system.hpp"
#include "error_of.hpp"
#include "mpi/message.hpp"
#include "mpi/verdict.hpp"
#include "mpi_case.hpp"

using namespace tailrace;

namespace {

using test::error_of;

/// Returns how often this thread gave its core up to wait for something.
long times_slept() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nvcsw;
}

}  // namespace

MPI_CASE("agree returns when nobody fails", ranks{1, 2, 3, 4, 7}) {
  CHECK_NOTHROW(mpi::agree(comm, {}));
  CHECK_NOTHROW(mpi::collectively(comm, [] {}));
}

MPI_CASE("agree gives one rank's error to all, with all its data", ranks{1, 2, 3, 4, 7}) {
  const int failing = comm.size() - 1;
  std::optional<ErrorInfo> mine;
  if (comm.rank() == failing)
    mine = ErrorInfo{.kind = ErrorKind::io,
                     .message = "disk full: \"\u00fc\"\n",
                     .path = "/data/out.h5",
                     .offset = std::int64_t{1} << 40,
                     .rank = -1,
                     .hint = "make room"};
  const auto error = error_of([&] { mpi::agree(comm, mine); });
  REQUIRE(error);
  CHECK(error->kind == ErrorKind::io);
  CHECK(error->message == "disk full: \"\u00fc\"\n");
  CHECK(error->path == "/data/out.h5");
  CHECK(error->offset == std::int64_t{1} << 40);
  CHECK(error->rank == failing);
  CHECK(error->hint == "make room");
}

MPI_CASE("agree takes the lowest failing rank", ranks{2, 3, 4, 7}) {
  const auto error = error_of([&] {
    mpi::collectively(comm, [&] {
      if (comm.rank() > 0) throw Error(ErrorKind::input, "rank " + std::to_string(comm.rank()));
    });
  });
  REQUIRE(error);
  CHECK(error->message == "rank 1");
  CHECK(error->rank == 1);
  CHECK(error->kind == ErrorKind::input);
}

MPI_CASE("agree survives a message that is not UTF-8", ranks{1, 2}) {
  const auto error =
      error_of([&] { mpi::agree(comm, ErrorInfo{.message = "bad \xff byte", .path = {}, .hint = {}}); });
  REQUIRE(error);
  CHECK(error->message.starts_with("bad "));
}

MPI_CASE("an error of the standard library on the root reaches all", ranks{1, 2, 3}) {
  const auto error = error_of([&] { mpi::collectively_on_root(comm, [] { throw std::bad_alloc(); }); });
  REQUIRE(error);
  CHECK(error->kind == ErrorKind::resource);
  CHECK(error->rank == 0);
}

MPI_CASE("a late rank is named", ranks{3}) {
  // The verdict stays pending on the communicator, which is therefore never freed.
  const mpi::CommView own = (new mpi::Comm(mpi::Comm::duplicate(comm)))->view();
  const int late = comm.size() - 1;
  const double start_s = monotonic_s();
  if (comm.rank() == late) {
    sleep_s(3.5);
    CHECK_NOTHROW(mpi::agree(own, {}));  // all others have handed in their parts by now
    return;
  }
  const auto error = error_of([&] { mpi::agree(own, {}, 0.2); });
  REQUIRE(error);
  CHECK(monotonic_s() - start_s < 3.4);
  if (comm.is_root()) CHECK(error->message.ends_with("waiting for rank " + std::to_string(late)));
}

MPI_CASE("a step's verdict carries failures and the wish to stop", ranks{1, 2, 3, 4, 7}) {
  mpi::StepVerdict verdict(comm);
  CHECK(verdict.finish().failing_rank == -1);  // nothing started yet
  const int last = comm.size() - 1;
  for (int step = 0; step < 20; ++step) {
    verdict.start({.failed = step == 7 && comm.rank() == last,
                   .stop = step == 11 && comm.is_root(),
                   .number = step + comm.rank(),
                   .wish = step == 5 && comm.rank() == last,
                   .waiting = step < 3 && comm.is_root()});
    const auto outcome = verdict.finish();
    CHECK(outcome.failing_rank == (step == 7 ? last : -1));
    CHECK(outcome.stop == (step == 11));
    CHECK(outcome.least == step);
    CHECK(outcome.wish == (step == 5));
    CHECK(outcome.waiting == (step < 3));
  }
}

MPI_CASE("a waiting rank leaves its core to others", ranks{2, 3}) {
  constexpr double wait_s = 0.5;
  mpi::barrier(comm);
  if (comm.is_root()) sleep_s(wait_s);
  const double start_s = monotonic_s();
  const long sleeps_before = times_slept();
  mpi::barrier(comm);
  if (comm.is_root()) return;
  CHECK(monotonic_s() - start_s > 0.5 * wait_s);
  CHECK(times_slept() - sleeps_before > 20);  // a rank that spins never sleeps
}

MPI_CASE("a wait with a limit gives up", ranks{1, 2}) {
  std::array received{std::byte{0}};
  const std::array sent{std::byte{1}};
  mpi::Request request = mpi::start_receive(comm, received, comm.rank(), 1);
  CHECK_FALSE(mpi::wait_all_for({&request, 1}, 0.05));
  std::array sending{mpi::start_send(comm, sent, comm.rank(), 1)};
  CHECK(mpi::wait_all_for({&request, 1}, 5));
  mpi::wait_all(sending);
  CHECK(request == mpi::Request::none);
  CHECK(received == sent);
}
