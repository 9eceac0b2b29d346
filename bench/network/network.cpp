// SPDX-License-Identifier: BSD-3-Clause
/// Messages between two ranks through every adapter, one after the other in each window: ping-pong and
/// streaming, and both sides at once. Times of all windows as JSON on standard output; or, with --check,
/// whether adapters keep order, sizes and contents.
///   mpirun -n 2 tailrace-bench-network --windows 50 --sizes 0 8 4096
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "endpoint.hpp"
#include "tailrace/comm.hpp"

using namespace tailrace::bench::network;

namespace {

struct Settings {
  std::vector<std::size_t> sizes{0, 1, 8, 64, 512, 4096, 32768, 262144, 1048576, 4194304};
  int windows = 50, messages = 64, rank = 0;
  bool check = false;
};

struct Side {
  Endpoint& endpoint;
  int rank;
};

/// There and back; seconds of so many round trips.
void ping_pong(Side side, Bytes message, int count) {
  for (int i = 0; i < count; ++i) {
    if (side.rank == 0) side.endpoint.send(message);
    side.endpoint.receive();
    if (side.rank == 1) side.endpoint.send(message);
    side.endpoint.flush();
  }
}

/// A window of messages one way, then a short answer.
void streaming(Side side, Bytes message, int count) {
  for (int i = 0; i < count && side.rank == 0; ++i) side.endpoint.send(message);
  for (int i = 0; i < count && side.rank == 1; ++i) side.endpoint.receive();
  side.endpoint.flush();
  if (side.rank == 1) side.endpoint.send(message.first(0));
  if (side.rank == 0) side.endpoint.receive();
  side.endpoint.flush();
}

/// Both send at the same time, and then receive.
void ping_ping(Side side, Bytes message, int count) {
  for (int i = 0; i < count; ++i) {
    side.endpoint.send(message);
    side.endpoint.receive();
    side.endpoint.flush();
  }
}

/// A window of messages both ways at the same time.
void both_ways(Side side, Bytes message, int count) {
  for (int i = 0; i < count; ++i) side.endpoint.send(message);
  for (int i = 0; i < count; ++i) side.endpoint.receive();
  side.endpoint.flush();
}

struct Test {
  void (*run)(Side, Bytes, int);
  int (*ahead)(int count);  ///< messages that both sides send before they receive
};
const std::map<std::string, Test> tests{{"ping-pong", {ping_pong, [](int) { return 0; }}},
                                        {"streaming", {streaming, [](int) { return 0; }}},
                                        {"ping-ping", {ping_ping, [](int) { return 1; }}},
                                        {"both-ways", {both_ways, [](int count) { return count; }}}};

/// Seconds of a window. Both begin together; rank 0 measures.
double timed(const Test& test, Side side, Bytes message, int count) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  test.run(side, message, count);
  return MPI_Wtime() - begin;
}

/// Large messages in fewer repetitions: a window moves some 16 MiB at most.
int repetitions(const Settings& settings, std::size_t size) {
  const std::size_t fit = (std::size_t{16} << 20) / std::max<std::size_t>(size, 1);
  return static_cast<int>(std::clamp<std::size_t>(fit, 2, static_cast<std::size_t>(settings.messages)));
}

std::vector<std::unique_ptr<Endpoint>> endpoints(std::size_t largest) {
  std::vector<std::unique_ptr<Endpoint>> all;
  for (const Adapter& adapter : adapters()) all.push_back(adapter.make(MPI_COMM_WORLD, largest));
  return all;
}

/// All adapters in each window, after a window that is left out.
nlohmann::json measure(const Settings& settings) {
  const std::size_t largest = *std::max_element(settings.sizes.begin(), settings.sizes.end());
  const std::vector<std::byte> data(largest + 1);
  const auto all = endpoints(largest);
  nlohmann::json rows = nlohmann::json::array();
  for (const std::size_t size : settings.sizes)
    for (const auto& [name, test] : tests) {
      const int count = repetitions(settings, size);
      std::vector<std::vector<double>> seconds(all.size());
      for (int window = 0; window <= settings.windows; ++window)
        for (std::size_t i = 0; i < all.size(); ++i) {
          if (!all[i] || adapters()[i].ahead < test.ahead(count)) continue;
          const double s = timed(test, {*all[i], settings.rank}, Bytes(data).first(size), count);
          if (window > 0) seconds[i].push_back(s);
        }
      for (std::size_t i = 0; i < all.size(); ++i)
        if (!seconds[i].empty())
          rows.push_back({{"adapter", adapters()[i].name},
                          {"test", name},
                          {"size", size},
                          {"messages", count},
                          {"seconds", seconds[i]}});
    }
  return rows;
}

/// Bytes that depend on the number of the message and on their place.
std::byte expected(int number, std::size_t place) {
  return static_cast<std::byte>(static_cast<std::size_t>(number) * 131 + place * 7);
}

/// Sizes at and around powers of two, and the smallest and largest between.
std::vector<std::size_t> mixed_sizes() {
  std::vector<std::size_t> sizes{0, 4194304, 1, 0};
  for (std::size_t power = 2; power <= 4194304; power *= 2) sizes.insert(sizes.end(), {power - 1, 0, power});
  return sizes;
}

void send_all(Endpoint& endpoint) {
  const auto sizes = mixed_sizes();
  std::vector<std::vector<std::byte>> messages(sizes.size());
  for (int n = 0; n < static_cast<int>(sizes.size()); ++n) {
    auto& message = messages[static_cast<std::size_t>(n)];
    message.resize(sizes[static_cast<std::size_t>(n)]);
    for (std::size_t i = 0; i < message.size(); ++i) message[i] = expected(n, i);
    endpoint.send(message);
  }
  endpoint.flush();
}

/// How many messages are not what was sent, in this order.
int wrong_messages(Endpoint& endpoint) {
  const auto sizes = mixed_sizes();
  int wrong = 0;
  for (int n = 0; n < static_cast<int>(sizes.size()); ++n) {
    const Bytes message = endpoint.receive();
    bool good = message.size() == sizes[static_cast<std::size_t>(n)];
    for (std::size_t i = 0; good && i < message.size(); ++i) good = message[i] == expected(n, i);
    wrong += !good;
  }
  endpoint.flush();
  return wrong;
}

/// Each adapter both ways, beside the others.
nlohmann::json check(const Settings& settings) {
  nlohmann::json rows = nlohmann::json::array();
  const auto all = endpoints(4194304);
  for (int sender : {0, 1})
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i]) continue;
      int wrong = 0;
      if (settings.rank == sender)
        send_all(*all[i]);
      else
        wrong = wrong_messages(*all[i]);
      MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      rows.push_back({{"adapter", adapters()[i].name},
                      {"sender", sender},
                      {"wrong", wrong},
                      {"messages", mixed_sizes().size()}});
    }
  return rows;
}

int run(Settings settings) {
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &settings.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) {
    if (settings.rank == 0) std::cerr << "tailrace-bench-network: needs 2 ranks, not " << size << "\n";
    return 2;
  }
  const nlohmann::json rows = settings.check ? check(settings) : measure(settings);
  if (settings.rank == 0) std::cout << nlohmann::json{{"rows", rows}} << std::endl;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Messages between two ranks through every adapter."};
  Settings settings;
  app.add_option("--sizes", settings.sizes, "Bytes of a message")->check(CLI::Range(0, 1 << 30));
  app.add_option("--windows", settings.windows, "Windows that are timed")->check(CLI::Range(1, 1000000));
  app.add_option("--messages", settings.messages, "Messages of a window")->check(CLI::Range(2, 100000));
  app.add_flag("--check", settings.check, "Check order, sizes and contents instead");
  CLI11_PARSE(app, argc, argv);
  const tailrace::mpi::Environment environment(argc, argv);
  return run(settings);
}
