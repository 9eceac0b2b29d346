// SPDX-License-Identifier: BSD-3-Clause
#include <nlohmann/json.hpp>

#include "tests.hpp"

namespace tailrace::bench::network {

namespace {

constexpr std::size_t largest = 4194304;

/// Bytes that depend on the number of the message and on their place.
std::byte expected(std::size_t number, std::size_t place) {
  return static_cast<std::byte>(number * 131 + place * 7);
}

/// Sizes at and around powers of two, with empty messages between.
std::vector<std::size_t> mixed_sizes() {
  std::vector<std::size_t> sizes{0, largest, 1, 0};
  for (std::size_t power = 2; power <= largest; power *= 2) sizes.insert(sizes.end(), {power - 1, 0, power});
  return sizes;
}

void send_all(Endpoint& endpoint) {
  const auto sizes = mixed_sizes();
  std::vector<std::vector<std::byte>> messages(sizes.size());
  for (std::size_t n = 0; n < sizes.size(); ++n) {
    messages[n].resize(sizes[n]);
    for (std::size_t i = 0; i < sizes[n]; ++i) messages[n][i] = expected(n, i);
    endpoint.send(messages[n]);
  }
  endpoint.flush();
}

/// How many messages are not what was sent, in this order.
int wrong_messages(Endpoint& endpoint) {
  const auto sizes = mixed_sizes();
  int wrong = 0;
  for (std::size_t n = 0; n < sizes.size(); ++n) {
    const Bytes message = endpoint.receive();
    bool good = message.size() == sizes[n];
    for (std::size_t i = 0; good && i < message.size(); ++i) good = message[i] == expected(n, i);
    wrong += !good;
  }
  endpoint.flush();
  return wrong;
}

}  // namespace

nlohmann::json check_rows(mpi::CommView comm, const Settings& settings) {
  nlohmann::json rows = nlohmann::json::array();
  std::vector<std::unique_ptr<Endpoint>> all;
  for (const Adapter& adapter : settings.adapters) all.push_back(adapter.make(comm.get(), largest));
  for (int sender : {0, 1})
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!all[i]) continue;
      std::int64_t wrong = 0;
      if (comm.rank() == sender)
        send_all(*all[i]);
      else
        wrong = wrong_messages(*all[i]);
      rows.push_back({{"adapter", settings.adapters[i].name},
                      {"sender", sender},
                      {"wrong", mpi::sum(comm, wrong)},
                      {"messages", mixed_sizes().size()}});
    }
  return rows;
}

}  // namespace tailrace::bench::network
