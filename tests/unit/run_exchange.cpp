// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "exchange/line.hpp"
#include "tailrace/run/case_exchange.hpp"
#include "tailrace/run/case_file.hpp"

using namespace tailrace;

namespace {

const run::CaseSchema schema{.simulation = "test",
                             .keys = run::exchange_keys(exchange::Order::partition_free)};

run::CaseFile case_with(const std::vector<std::string>& settings) {
  return run::CaseFile::from_overrides("case.toml", settings, schema);
}

}  // namespace

TEST_CASE("the table [exchange] names the transport and the order, with the simulation's default") {
  auto silent = case_with({});
  const auto open = run::read_exchange(silent);
  CHECK(open.transport == "auto");
  CHECK(open.order == exchange::Order::partition_free);
  CHECK(open.aggregate);
  silent.finish();
  CHECK(silent.resolved()["exchange"]["order"] == "partition_free");

  auto file = case_with({"exchange.transport=isend", "exchange.order=fast"});
  const auto given = run::read_exchange(file);
  CHECK(given.transport == "isend");
  CHECK(given.order == exchange::Order::fast);
  file.finish();

  auto words = case_with({"exchange.transport=rma-lock", "exchange.aggregate=false"});
  CHECK_FALSE(run::read_exchange(words).aggregate);
  words.finish();
}

TEST_CASE("a transport that cannot do what the other keys of [exchange] ask for is a problem of the case") {
  for (const auto& [settings, problem] : std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"exchange.transport=isend", "exchange.aggregate=false"},
            "exchange.transport: the exchange transport isend sends one message to each rank, not word by "
            "word"},
           {{"exchange.transport=rma-accumulate"},
            "exchange.transport: the exchange transport rma-accumulate adds contributions as they come"}}) {
    auto file = case_with(settings);
    run::read_exchange(file);
    std::string message;
    try {
      file.finish();
    } catch (const Error& error) {
      message = error.what();
    }
    CHECK_MESSAGE(message.find(problem) != std::string::npos, message);
  }
}

TEST_CASE("wrong keys of [exchange] are named together, with what there is") {
  auto file = case_with({"exchange.transport=pigeon", "exchange.order=any", "exchange.transprot=isend"});
  run::read_exchange(file);
  std::string message;
  try {
    file.finish();
  } catch (const Error& error) {
    CHECK(error.info().kind == ErrorKind::input);
    message = error.what();
  }
  for (const char* part : {"exchange.transport: no exchange transport is called \"pigeon\"", "isend",
                           "exchange.order", "partition_free", "exchange.transprot", "did you mean"})
    CHECK_MESSAGE(message.find(part) != std::string::npos, part);
}

TEST_CASE("the meaning of the key names every transport of the build") {
  for (const auto& transport : exchange::transports())
    CHECK(schema.at("exchange.transport").meaning.find(transport.name) != std::string::npos);
}
