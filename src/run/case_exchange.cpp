// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/run/case_exchange.hpp"

#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "exchange/line.hpp"
#include "mpi/verdict.hpp"
#include "tailrace/run/case_file.hpp"

namespace tailrace::run {

namespace {

using nlohmann::json;

constexpr std::array order_words{"fast", "fixed", "partition_free"};

std::string order_text(exchange::Order order) {
  return order_words[static_cast<std::size_t>(order)];
}

std::string transport_words() {
  std::string words = "`\"auto\"` (measured and [chosen](../explain/exchange.md#transports))";
  for (const auto& transport : exchange::transports()) words += ", `\"" + std::string(transport.name) + "\"`";
  return words;
}

/// Where the name of the transport came from. The environment counts where the case leaves the choice open.
json asked_for(const exchange::AccessOptions& options) {
  const char* const environment = std::getenv("TAILRACE_EXCHANGE");
  const bool open = options.transport == "auto" && environment != nullptr;
  return {{"transport", open ? environment : options.transport},
          {"asked_by", open ? "TAILRACE_EXCHANGE" : "case"},
          {"order", order_text(options.order)},
          {"aggregate", options.aggregate}};
}

json transports() {
  json list = json::array();
  for (const auto& one : exchange::transports())
    list.push_back({{"name", one.name},
                    {"description", one.description},
                    {"obstacle", one.obstacle},
                    {"chosen_by_auto", !one.ablation}});
  return list;
}

json to_json(const exchange::TransportChoice& choice) {
  json tried = json::array();
  std::string chosen;
  for (const auto& one : choice.timings) {
    if (one.chosen) chosen = one.name;
    tried.push_back({{"name", one.name}, {"obstacle", one.obstacle}, {"cost_s", one.cost_s}});
  }
  return {{"flights", choice.flights},
          {"entry_bytes", choice.entry_bytes},
          {"chosen", chosen},
          {"left", choice.left},
          {"tried", tried}};
}

/// What one rank has to say of a map.
json of_rank(int rank, const exchange::AccessMap& map) {
  const auto& counts = map.counts();
  const auto summary = map.describe();
  json sent = json::array();
  for (const auto& peer : map.traffic()) sent.push_back({peer.rank, peer.messages, peer.bytes});
  return {{"rank", rank},
          {"flights", counts.flights},
          {"messages", counts.messages},
          {"sent_bytes", counts.bytes},
          {"largest_bytes", counts.largest_bytes},
          {"reads_from", summary.reads_from},
          {"read_by", summary.read_by},
          {"owned", summary.owned},
          {"landing", summary.landing},
          {"rim", summary.rim},
          {"memory_bytes", summary.memory_bytes},
          {"builds", counts.builds},
          {"build_s", counts.build_s},
          {"cost_s", counts.cost_s},
          {"wait_s", counts.wait_s},
          {"hidden_s", counts.hidden_s()},
          {"note", summary.note},
          {"sent", sent}};
}

json describe(mpi::CommView comm, const NamedMap& named) {
  json ranks = json::array();
  for (const auto& text : mpi::gather(comm, of_rank(comm.rank(), *named.map).dump(), 0))
    ranks.push_back(json::parse(text));
  json choices = json::array();
  for (const auto& choice : named.map->choices()) choices.push_back(to_json(choice));
  return {{"name", named.name}, {"choices", choices}, {"per_rank", ranks}};
}

}  // namespace

std::vector<Key> exchange_keys(exchange::Order order) {
  return {{.name = "exchange.transport",
           .meaning = "how values get to the ranks that need them: " + transport_words(),
           .fallback = "auto"},
          {.name = "exchange.order",
           .meaning = "in which order contributions of several ranks are [added](../explain/exchange.md#the-"
                      "order-of-sums): as they come, by rank, or one by one so that results have the same "
                      "bits on any number of ranks",
           .fallback = order_text(order),
           .words = {order_words.begin(), order_words.end()}},
          {.name = "exchange.aggregate",
           .type = KeyType::boolean,
           .meaning =
               "whether what goes to one rank travels as [one message](../explain/exchange.md#word-by-word); "
               "`false`: every word of 8 bytes is put or got by itself, to be compared with",
           .fallback = "true"}};
}

exchange::AccessOptions read_exchange(CaseFile& file) {
  exchange::AccessOptions options{.transport = *file.text("exchange.transport"),
                                  .order = static_cast<exchange::Order>(file.choice("exchange.order")),
                                  .aggregate = *file.boolean("exchange.aggregate")};
  try {
    exchange::check_transport(options);
  } catch (const Error& error) {
    file.add_problem("exchange.transport", error.info().message, error.info().hint);
  }
  return options;
}

json describe_exchange(mpi::CommView comm, const exchange::AccessOptions& options,
                       const std::vector<NamedMap>& maps) {
  json account = asked_for(options);
  account["transports"] = transports();
  account["maps"] = json::array();
  for (const NamedMap& named : maps)
    if (named.map != nullptr) account["maps"].push_back(describe(comm, named));
  return account;
}

}  // namespace tailrace::run
