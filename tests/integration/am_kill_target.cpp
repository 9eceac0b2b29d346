// SPDX-License-Identifier: BSD-3-Clause
/// Messages from all ranks to all without an end, small ones and large ones, until one rank is killed after
/// so many messages, ends by an exception, or stops looking: am-kill-target kill|throw|stop RANK MESSAGES
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "am/launch.hpp"
#include "base/system.hpp"
#include "tailrace/error.hpp"

using namespace tailrace;

namespace {

struct Fault {
  std::string kind;
  int rank = 0, messages = 0;
};

void fail(const Fault& fault) {
  if (fault.kind == "kill") std::raise(SIGKILL);
  if (fault.kind == "throw") throw Error(ErrorKind::input, "thrown on purpose");
  for (;;) sleep_s(1);
}

void traffic(am::Endpoint& endpoint, const Fault& fault) {
  constexpr std::size_t large_bytes = 300'000;
  const am::Bytes large(large_bytes), small(100);
  int handled = 0;
  const auto answer = [&](am::Message& message) {
    if (++handled == fault.messages && endpoint.rank() == fault.rank) fail(fault);
    endpoint.send(message.source(), 0, {.body = handled % 7 == 0 ? large : small});
  };
  endpoint.set_handler(0, am::Lane::data, answer);
  for (int to = 0; to < endpoint.size(); ++to)
    for (int i = 0; i < 10; ++i) endpoint.send(to, 0, {.body = i % 5 == 0 ? large : small});
  for (;;) endpoint.wait();
}

}  // namespace

int main(int argc, char** argv) {
  mpi::Environment environment(argc, argv);
  const Fault fault{argv[1], std::stoi(argv[2]), std::stoi(argv[3])};
  am::Choice choice;
  choice.options.silence_limit_s = 1;
  try {
    am::launch(environment.world(), choice, [&](am::Endpoint& endpoint) { traffic(endpoint, fault); });
  } catch (const Error& error) {
    std::fprintf(stderr, "error of rank %d: %s\n", environment.world().rank(), error.what());
    std::fflush(stderr);
    mpi::Environment::abort(3);
  }
}
