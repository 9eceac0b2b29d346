// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>

#include "base/system.hpp"
#include "h5/file.hpp"
#include "mpi_case.hpp"
#include "output_fixture.hpp"

using namespace tailrace;
using namespace tailrace::output;
using namespace tailrace::output::fixture;

namespace {

constexpr Index3 domain{8, 6, 12};
constexpr StepIndex all_steps = 6;

Box own_box(mpi::CommView comm) {
  return pattern::slabs(domain, comm.size())[static_cast<std::size_t>(comm.rank())];
}

/// A session over the whole domain, one sample per step.
class Series {
 public:
  Series(mpi::CommView comm, const std::string& path, const WriteOptions& options,
         const SessionServices& services = {}, StepIndex steps = all_steps)
      : field_(own_box(comm)), steps_(steps) {
    const Cadence cadence{.first = 1, .every = 1, .last = steps};
    const std::vector<Stream> streams{stream("p", Whole{}, Reduction::none, domain, cadence)};
    session_.emplace(comm, path, make_plan(streams, own_box(comm), domain), head(), options, log_,
                     SessionContext{.services = services});
  }
  void sample(StepIndex step) {
    field_.set(step);
    session_->sample(step, [&](const std::string&) { return field_.view(); });
  }
  void finish() { session_->finish(steps_, tail(steps_)); }
  Session& session() { return *session_; }

 private:
  pattern::Field<float> field_;
  trace::Log log_{"main"};
  StepIndex steps_;
  std::optional<Session> session_;
};

void check_file(mpi::CommView comm, const std::string& path, StepIndex steps = all_steps) {
  if (!comm.is_root()) return;
  const auto file = h5::File::open(path);
  std::vector<float> values(h5::element_count(file.shape("/p")));
  file.read("/p", std::span(values));
  const auto points = pattern::part_points(Whole{}, 0, domain);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    wrong += values[i] != static_cast<float>(pattern::value(points[i % points.size()],
                                                            static_cast<StepIndex>(i / points.size()) + 1));
  CHECK(wrong == 0);
  CHECK(values.size() == static_cast<std::size_t>(steps * domain.volume()));
  for (const auto slot : commit_mark(file)) CHECK(slot == static_cast<std::uint64_t>(steps));
}

WriteOptions options_for(const std::string& strategy, const std::string& fault = {}) {
  return options_of({.strategy = strategy, .sink = "hdf5"}, fault);
}

}  // namespace

MPI_CASE("sessions share I/O servers, at the same time and one after the other", ranks{2, 3, 7}) {
  const SharedDir directory(comm);
  for (const char* strategy : {"ranks:1", "ranks:3"}) {
    if (2 * writing_ranks(strategy) > comm.size()) continue;
    const auto error = with_io_servers(
        comm, options_for(strategy),
        [&](mpi::CommView computing, const WriteOptions& options, const SessionServices& services) {
          Series first(computing, directory.file("first.h5"), options, services);
          first.sample(1);
          {
            Series second(computing, directory.file("second.h5"), options, services);
            for (StepIndex step = 1; step <= all_steps; ++step) {
              second.sample(step);
              if (step == 3) first.sample(2);
            }
            second.finish();
          }
          for (StepIndex step = 3; step <= all_steps; ++step) first.sample(step);
          first.finish();
          check_file(computing, directory.file("first.h5"));
          check_file(computing, directory.file("second.h5"));
          return std::optional<ErrorInfo>{};
        });
    CHECK(!error);
  }
}

MPI_CASE("a session changes to the I/O servers and back without losing a sample", ranks{2, 4, 7}) {
  const SharedDir directory(comm);
  const auto error = with_io_servers(
      comm, options_for("ranks:1"),
      [&](mpi::CommView computing, const WriteOptions& options, const SessionServices& services) {
        Series series(computing, directory.file("out.h5"), options, services);
        auto other = options;
        for (StepIndex step = 1; step <= all_steps; ++step) {
          series.sample(step);
          other.strategy = step % 2 == 0 ? "ranks" : "threads";
          series.session().switch_writer(other);
        }
        series.finish();
        check_file(computing, directory.file("out.h5"));
        return std::optional<ErrorInfo>{};
      });
  CHECK(!error);
}

MPI_CASE("what several ranks sent while their writer was busy leaves in one write", ranks{3, 4, 7}) {
  const SharedDir directory(comm);
  const auto error = with_io_servers(
      comm, options_for("ranks:1", "stall:nth=1,s=300ms"),
      [&](mpi::CommView computing, const WriteOptions& options, const SessionServices& services) {
        Series series(computing, directory.file("out.h5"), options, services, 2);
        series.sample(1);
        mpi::barrier(computing);
        series.sample(2);
        series.finish();
        const auto writers =
            computing.is_root() ? services.io_servers->report() : std::vector<WriterAccount>{};
        check_file(computing, directory.file("out.h5"), 2);
        if (!computing.is_root()) return std::optional<ErrorInfo>{};
        REQUIRE(writers.size() == 1);
        // Alone each rank's samples would be as many writes as there are
        // ranks, for each step.
        CHECK(writers[0].output.writes <= computing.size() + 1);
        CHECK(writers[0].output.bytes == 2 * domain.volume() * 4);
        CHECK(writers[0].batches < writers[0].jobs);
        CHECK(writers[0].process == computing.size());
        return std::optional<ErrorInfo>{};
      });
  CHECK(!error);
}

MPI_CASE("a writer that waits leaves its core to others", ranks{2}) {
  std::vector<WriterAccount> writers;
  CHECK(!with_io_servers(comm, options_for("ranks:1"),
                         [&](mpi::CommView, const WriteOptions&, const SessionServices& services) {
                           sleep_s(2);
                           writers = services.io_servers->report();
                           return std::optional<ErrorInfo>{};
                         }));
  if (!comm.is_root()) return;
  REQUIRE(writers.size() == 1);
  CHECK(writers[0].idle_s > 1);
  CHECK(writers[0].idle_cpu_s < 0.5 * writers[0].idle_s);  // one that spins uses all of it
}

MPI_CASE("too few ranks for the writers are the same error on all", ranks{1, 2, 3}) {
  const auto error = error_of([&] { const IoServers io_servers(comm, options_for("ranks:2"), create_sink); });
  REQUIRE(error);
  CHECK(error->kind == ErrorKind::usage);
  CHECK(error->message.find("--write ranks:2") != std::string::npos);
  CHECK(error->hint.find("at least 4 ranks") != std::string::npos);
}

MPI_CASE("without I/O servers the strategy ranks says what is missing", ranks{1, 2}) {
  const SharedDir directory(comm);
  const auto error = error_of([&] { Series(comm, directory.file("out.h5"), options_for("ranks:1")); });
  REQUIRE(error);
  CHECK(error->message.find("no ranks of this job were set apart for writing") != std::string::npos);
}

MPI_CASE("processes that are started write the same file, also after one of their files failed",
         ranks{1, 2, 3}) {
  const SharedDir directory(comm);
  const auto error = with_io_servers(
      comm, options_for("spawn:2"),
      [&](mpi::CommView computing, const WriteOptions& options, const SessionServices& services) {
        Series series(computing, directory.file("out.h5"), options, services);
        for (StepIndex step = 1; step <= all_steps; ++step) series.sample(step);
        series.finish();
        check_file(computing, directory.file("out.h5"));
        const bool spawned = services.io_servers->refusal().empty();
        auto failing = options;
        failing.faults = parse_faults("write:step=4,error=ENOSPC");
        Series broken(computing, directory.file("broken.h5"), failing, services);
        for (StepIndex step = 1; step <= all_steps; ++step) broken.sample(step);
        const auto failure = error_of([&] { broken.finish(); });
        REQUIRE(failure);
        CHECK(failure->message.find("No space left on device") != std::string::npos);
        if (spawned) CHECK(failure->rank == computing.size());
        Series again(computing, directory.file("again.h5"), options, services);
        for (StepIndex step = 1; step <= all_steps; ++step) again.sample(step);
        again.finish();
        check_file(computing, directory.file("again.h5"));
        return std::optional<ErrorInfo>{};
      });
  CHECK(!error);
}

MPI_CASE("where no process can be started, threads write and the user learns why", ranks{1, 2, 3}) {
  const SharedDir directory(comm);
  setenv("TAILRACE_WRITER", "/nowhere/tailrace-writer", 1);
  const auto error = with_io_servers(
      comm, options_for("spawn:1"),
      [&](mpi::CommView computing, const WriteOptions& options, const SessionServices& services) {
        Series series(computing, directory.file("out.h5"), options, services);
        const auto& warnings = series.session().warnings();
        REQUIRE(warnings.size() == (computing.is_root() ? 1 : 0));
        if (computing.is_root()) CHECK(warnings[0].find("/nowhere/tailrace-writer") != std::string::npos);
        for (StepIndex step = 1; step <= all_steps; ++step) series.sample(step);
        series.finish();
        check_file(computing, directory.file("out.h5"));
        return std::optional<ErrorInfo>{};
      });
  unsetenv("TAILRACE_WRITER");
  CHECK(!error);
}
