// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <span>

#include "base/system.hpp"
#include "h5/file.hpp"
#include "mpi_case.hpp"
#include "output_fixture.hpp"

using namespace tailrace;
using namespace tailrace::output;
using namespace tailrace::output::fixture;

namespace {

constexpr Index3 domain{8, 7, 14};

/// A session with one stream of the whole domain.
class Fixture {
 public:
  Fixture(mpi::CommView comm, const std::string& path, const WriteOptions& options,
          OnFailure policy = OnFailure::stop)
      : own_(pattern::slabs(domain, comm.size())[static_cast<std::size_t>(comm.rank())]),
        field_(own_),
        session_(comm, path, make_plan(streams(policy), own_, domain), head(), options, log_) {}

  void step(StepIndex step) {
    field_.set(step);
    session_.sample(step, [&](const std::string&) { return field_.view(); });
  }
  Session& session() { return session_; }

 private:
  static std::vector<Stream> streams(OnFailure policy) {
    auto all = std::vector{stream("p", Whole{}, Reduction::none, domain)};
    all[0].on_failure = policy;
    return all;
  }

  Box own_;
  pattern::Field<float> field_;
  trace::Log log_{"main"};
  Session session_;
};

std::vector<std::uint64_t> dropped(const std::string& path) {
  const auto file = h5::File::open(path);
  std::vector<std::uint64_t> slots(file.shape(dropped_path).back());
  file.read(dropped_path, std::span(slots));
  return slots;
}

/// Values of a step in /p that are not those of the pattern.
std::size_t wrong_values(const std::string& path, StepIndex step) {
  std::vector<float> values(static_cast<std::size_t>(domain.volume()));
  h5::File::open(path).read_hyperslab("/p", {static_cast<std::uint64_t>(step - 1), 0}, {1, values.size()},
                                      std::span(values));
  const auto points = pattern::part_points(Whole{}, 0, domain);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    wrong += values[i] != static_cast<float>(pattern::value(points[i], step));
  return wrong;
}

}  // namespace

MPI_CASE("samples are submitted, written, durable and committed, one after the other", ranks{1, 2, 3, 4, 7}) {
  const SharedDir directory(comm);
  constexpr double long_s = 60;
  for (const auto& way : ways) {
    CAPTURE(way.strategy);
    CAPTURE(way.sink);
    auto options = options_of(way);
    options.flush_samples = way.sink != "hdf5";  // else small samples wait for others to fill a chunk
    Fixture run(comm, directory.file("out.h5"), options);
    auto& session = run.session();
    for (const StepIndex step : {1, 2, 3}) run.step(step);
    CHECK(session.reached(WriteState::submitted) == 3);
    const auto queued = session.queued_steps();
    if (way.sink == "hdf5") CHECK(queued >= 3 - session.reached(WriteState::written));
    CHECK(queued <= 3);
    CHECK(session.wait(WriteState::written, 2, long_s));
    CHECK(session.reached(WriteState::written) >= 2);
    if (way.sink == "hdf5") CHECK(session.reached(WriteState::committed) == 0);
    CHECK(session.wait(WriteState::durable, 3, long_s));
    CHECK(session.reached(WriteState::durable) == 3);
    CHECK(session.queued_steps() == 0);
    CHECK(session.wait(WriteState::committed, 3, long_s));
    CHECK(session.reached(WriteState::committed) == 3);
    if (comm.is_root()) CHECK(wrong_values(directory.file("out.h5"), 3) == 0);
    mpi::barrier(comm);
    for (const StepIndex step : {4, 5, 6}) run.step(step);
    session.finish(6, tail(6));
    if (comm.is_root()) CHECK(wrong_values(directory.file("out.h5"), 6) == 0);
  }
}

MPI_CASE("samples go to the device while nobody waits for it", ranks{1, 2, 3, 7}) {
  const SharedDir directory(comm);
  for (const auto& way : ways) {
    CAPTURE(way.strategy);
    CAPTURE(way.sink);
    auto options = options_of(way);
    options.flush_samples = way.sink != "hdf5";  // else small samples wait for others to fill a chunk
    Fixture run(comm, directory.file("out.h5"), options);
    auto& session = run.session();
    for (const StepIndex step : {1, 2, 3}) run.step(step);
    session.start_flush();
    run.step(4);
    for (Backoff backoff; session.waits_to_flush();) backoff.pause();
    if (way.sink == "hdf5") CHECK(session.reached(WriteState::durable) >= 3);
    session.flush_until(3);
    CHECK(session.reached(WriteState::committed) >= 3);
    if (comm.is_root()) CHECK(wrong_values(directory.file("out.h5"), 3) == 0);
    run.step(5);
    session.flush_until(5);  // nobody has begun with it
    CHECK(session.reached(WriteState::committed) == 5);
    session.finish(5, tail(5));
    if (comm.is_root()) CHECK(wrong_values(directory.file("out.h5"), 5) == 0);
  }
  Fixture failing(comm, directory.file("out.h5"), options_of({.strategy = "threads"}, "write:step=1,rank=0"));
  failing.step(1);
  failing.session().start_flush();
  for (Backoff backoff; failing.session().waits_to_flush();) backoff.pause();
  CHECK_THROWS_AS(failing.session().flush_until(1), Error);
  CHECK_THROWS_AS(failing.session().finish(1, {}), Error);
}

MPI_CASE("whoever waits for a state learns that it does not come", ranks{1, 2}) {
  const SharedDir directory(comm);
  for (const char* strategy : {"blocking", "threads"}) {
    Fixture run(comm, directory.file("out.h5"), options_of({.strategy = strategy}, "write:step=2"));
    run.step(1);
    CHECK(run.session().wait(WriteState::written, 1, 60));
    run.step(2);
    CHECK_FALSE(run.session().wait(WriteState::durable, 2, 60));
    CHECK(run.session().failure().has_value());
    CHECK_THROWS_AS(run.session().finish(2, {}), Error);
  }
  Fixture slow(comm, directory.file("slow.h5"), options_of({.strategy = "threads"}, "stall:step=1,s=1"));
  slow.step(1);
  CHECK_FALSE(slow.session().wait(WriteState::written, 1, 0.1));
  CHECK(slow.session().wait(WriteState::written, 1, 60));
  slow.session().finish(1, {});
}

MPI_CASE("a stream that is tried again gets over failures that pass", ranks{1, 2, 3}) {
  const SharedDir directory(comm);
  for (const auto& strategy : strategies) {
    CAPTURE(strategy);
    const auto options = options_of({.strategy = strategy}, "write:every=2,error=EIO");
    Fixture run(comm, directory.file("out.h5"), options, OnFailure::retry);
    for (StepIndex step = 1; step <= 6; ++step) run.step(step);
    run.session().finish(6, tail(6));
    CHECK(mpi::sum(comm, run.session().account().retries) > 0);
    if (!comm.is_root()) continue;
    for (StepIndex step = 1; step <= 6; ++step) CHECK(wrong_values(directory.file("out.h5"), step) == 0);
    for (const auto slot : commit_mark(h5::File::open(directory.file("out.h5")))) CHECK(slot == 6);
  }
}

MPI_CASE("a stream that may be dropped lets the run continue, and the file says so", ranks{1, 2, 3, 4, 7}) {
  const SharedDir directory(comm);
  for (const auto& strategy : strategies) {
    CAPTURE(strategy);
    const auto writer = [&](int rank) { return writer_of({.strategy = strategy}, rank, comm.size()); };
    const int failing = writer(comm.size() - 1);
    const auto options =
        options_of({.strategy = strategy}, fmt::format("write:rank={},step=4,error=ENOSPC", failing));
    Fixture run(comm, directory.file("out.h5"), options, OnFailure::drop);
    for (StepIndex step = 1; step <= 6; ++step) {
      run.step(step);
      run.session().wait(WriteState::written, step, 60);
    }
    run.session().finish(6, tail(6));
    CHECK(!run.session().failure());
    CHECK(mpi::sum(comm, run.session().account().dropped_bytes) > 0);
    if (!comm.is_root()) continue;
    const auto path = directory.file("out.h5");
    for (const auto slot : commit_mark(h5::File::open(path))) CHECK(slot == 6);
    const auto slots = dropped(path);
    for (int rank = 0; rank < comm.size(); ++rank)
      CHECK(slots[static_cast<std::size_t>(rank)] == (writer(rank) == failing ? 4 : 0));
    CHECK(wrong_values(path, 3) == 0);
    CHECK(wrong_values(path, 4) > 0);
  }
}

MPI_CASE("a sink that cannot leave samples out says so", ranks{1, 2}) {
  const SharedDir directory(comm);
  for (const auto policy : {OnFailure::retry, OnFailure::drop}) {
    const auto error = error_of([&] {
      Fixture(comm, directory.file("out.h5"), options_of({.strategy = "blocking", .sink = "hdf5-chunked"}),
              policy);
    });
    REQUIRE(error);
    CHECK(error->kind == ErrorKind::usage);
    CHECK(error->message.find(to_string(policy)) != std::string::npos);
  }
}

MPI_CASE("the last values of many boxes share a staging buffer", ranks{1, 3}) {
  const SharedDir directory(comm);
  const Box own = pattern::slabs(domain, comm.size())[static_cast<std::size_t>(comm.rank())];
  Boxes boxes;
  for (std::int64_t z = 0; z < domain.z; ++z) boxes.boxes.push_back({{0, 0, z}, {3, 5, z + 1}});
  const std::vector<Stream> streams{stream("p", boxes, Reduction::final, domain, {1, 1, 1})};
  pattern::Field<float> field(own);
  trace::Log log("main");
  Session session(comm, directory.file("out.h5"), make_plan(streams, own, domain), head(), options_of({}),
                  log);
  field.set(1);
  session.sample(1, [&](const std::string&) { return field.view(); });
  session.finish(1, tail(1));
  CHECK(log.total(trace::Kind::pack).count == 1);
}
