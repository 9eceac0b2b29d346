// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/system.hpp"
#include "run/progress.hpp"
#include "run/rank_account.hpp"
#include "run/sample_times.hpp"
#include "run/stop.hpp"
#include "temp_dir.hpp"

namespace tailrace::run {

TEST_CASE("a stop is asked for by signals and by the wall-clock limit") {
  for (const int number : {SIGTERM, SIGINT, SIGUSR2}) {
    const StopRequest stop({});
    CHECK_FALSE(stop.requested());
    std::raise(number);
    CHECK(stop.requested());
    CHECK_FALSE(stop.reason().empty());
  }
  const StopRequest lasting(1000.0), hasty(0.0);
  sleep_s(1e-3);
  CHECK_FALSE(lasting.requested());
  CHECK(hasty.requested());
  CHECK(hasty.reason() == "wall-clock limit of 0 s");
}

TEST_CASE("the next step at which an output looks at its field") {
  constexpr auto never = output::Cadence::open_end;
  output::Stream every, list, last;
  every.cadence = {.first = 10, .every = 5, .last = 20};
  list.cadence = output::Cadence::of_list({3, 12});
  last.cadence = {.first = 1, .every = 1, .last = 30};
  last.reduction = output::Reduction::final;
  const std::vector<SampleTimes> two{SampleTimes(every), SampleTimes(list)};
  const std::vector<SampleTimes> three{two[0], two[1], SampleTimes(last)};
  CHECK(next_of(two, 0) == 3);
  CHECK(next_of(two, 3) == 10);
  CHECK(next_of(two, 10) == 12);
  CHECK(next_of(two, 15) == 20);
  CHECK(next_of(two, 20) == never);
  CHECK(next_of(three, 20) == 30);
  CHECK(next_of({}, 0) == never);
}

TEST_CASE("a pause asks for a stop that does not end the run") {
  const StopRequest lasting({}, 1000.0), pausing({}, 0.0), ending(0.0, 0.0);
  sleep_s(1e-3);
  CHECK_FALSE(lasting.requested());
  CHECK(pausing.requested());
  CHECK_FALSE(pausing.ends_run());
  CHECK(pausing.reason() == "time to pause after 0 s");
  CHECK(ending.ends_run());
  CHECK(ending.reason() == "wall-clock limit of 0 s");
}

TEST_CASE("the progress file is whole at any time and goes away in the end") {
  const test::TempDir directory;
  ProgressFile progress(directory.path(), 10);
  progress.update("running", 4, 0);
  const auto json = nlohmann::json::parse(std::ifstream(directory.file("progress.json")));
  CHECK(json["step"] == 4);
  CHECK(json["steps"] == 10);
  CHECK(json["phase"] == "running");
  progress.finish();
  CHECK(std::filesystem::is_empty(directory.path()));
  ProgressFile("", 10).update("running", 1, 0);
}

TEST_CASE("the time left counts the output that is still queued") {
  const test::TempDir directory;
  ProgressFile progress(directory.path(), 100);
  progress.update("running", 10, 0);
  sleep_s(0.25);
  progress.update("running", 20, 40);
  const auto json = nlohmann::json::parse(std::ifstream(directory.file("progress.json")));
  const double step_s = json["remaining_s"].get<double>() / (80 + 40);
  CHECK(step_s >= 0.025);
  CHECK(step_s <= json["elapsed_s"].get<double>() / 10);
  progress.update("closing", 100, 30);
  const auto closing = nlohmann::json::parse(std::ifstream(directory.file("progress.json")));
  CHECK(closing["phase"] == "closing");
  CHECK(closing["remaining_s"].get<double>() > 0);
}

TEST_CASE("computing time does not count the exchanges inside it") {
  trace::Log log("main");
  log.add({trace::Kind::setup, 0, 0.0, 1.5, 0});
  log.add({trace::Kind::exchange, 1, 2.0, 2.25, 0});
  log.add({trace::Kind::compute, 1, 1.5, 3.5, 0});
  const auto account = account_from(log);
  CHECK(account.setup_s == doctest::Approx(1.5));
  CHECK(account.exchange_s == doctest::Approx(0.25));
  CHECK(account.compute_s == doctest::Approx(1.75));
}

TEST_CASE("a lone failure leaves an account with the reason") {
  const test::TempDir directory;
  const ErrorInfo error{.kind = ErrorKind::resource,
                        .message = "out of memory",
                        .path = "",
                        .offset = -1,
                        .rank = 2,
                        .hint = ""};
  write_failure(directory.path(), RunAccount(), 7, 3, error);
  const auto json = nlohmann::json::parse(std::ifstream(directory.file("run.json")));
  CHECK(json["status"] == "failed");
  CHECK(json["steps"] == 7);
  CHECK(json["ranks"] == 3);
  CHECK(json["error"]["kind"] == "resource");
  CHECK(json["error"]["rank"] == 2);
  CHECK_FALSE(json["error"].contains("path"));
}

}  // namespace tailrace::run
