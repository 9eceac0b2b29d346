// SPDX-License-Identifier: BSD-3-Clause
#include "am/launch.hpp"

#include <fmt/format.h>

#include <thread>
#include <vector>

#include "am/local.hpp"
#include "am/over_mpi.hpp"
#include "base/check.hpp"
#include "base/first_error.hpp"
#include "base/text.hpp"
#include "tailrace/error.hpp"

namespace tailrace::am {

namespace {

void run_rank(std::unique_ptr<Transport> transport, const Choice& choice,
              const std::function<void(Endpoint&)>& body) {
  if (choice.faults) transport = with_faults(std::move(transport), *choice.faults);
  Endpoint endpoint(std::move(transport), choice.faults ? one_by_one(choice.options) : choice.options);
  body(endpoint);
  endpoint.close();
}

}  // namespace

Choice parse_transport(const std::string& text) {
  constexpr std::string_view local = "local:";
  constexpr int max_ranks = 1024;
  Choice choice;
  if (text == "mpi") return choice;
  if (text.starts_with(local))
    choice.local_ranks = parse_number(std::string_view(text).substr(local.size()), 1, max_ranks).value_or(0);
  if (choice.local_ranks > 0) return choice;
  throw Error(ErrorKind::usage, fmt::format("transport '{}' is not known", text),
              fmt::format("give mpi, or local:N with 1 to {} ranks as threads of one process", max_ranks));
}

void launch_local(const Choice& choice, const std::function<void(Endpoint&)>& body) {
  TAILRACE_CHECK(choice.local_ranks > 0, "ranks that are threads have a number");
  LocalRanks ranks(choice.local_ranks);
  FirstError error;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < choice.local_ranks; ++rank)
    threads.emplace_back([&, rank] {
      if (!error.guard([&] { run_rank(ranks.transport(rank), choice, body); })) ranks.fail(rank);
    });
  for (std::thread& thread : threads) thread.join();
  error.rethrow();
}

void launch(mpi::CommView comm, const Choice& choice, const std::function<void(Endpoint&)>& body) {
  if (choice.local_ranks > 0) return launch_local(choice, body);
  run_rank(over_mpi(comm, choice.options), choice, body);
}

}  // namespace tailrace::am
