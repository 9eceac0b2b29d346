// SPDX-License-Identifier: BSD-3-Clause
#include "exchange_counts.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

#include "exchange/inspection.hpp"
#include "exchange_ownership.hpp"
#include "mesh_changes.hpp"

namespace tailrace::bench {

namespace {

/// A number of each rank.
class PerRank {
 public:
  explicit PerRank(int ranks) : values_(static_cast<std::size_t>(ranks)) {}

  void add(int rank, std::int64_t value) { values_[static_cast<std::size_t>(rank)] += value; }
  [[nodiscard]] std::int64_t total() const {
    std::int64_t sum = 0;
    for (const auto value : values_) sum += value;
    return sum;
  }
  [[nodiscard]] std::int64_t most() const { return *std::max_element(values_.begin(), values_.end()); }
  [[nodiscard]] double max_over_mean() const {
    const auto sum = static_cast<double>(total());
    return sum == 0 ? 1 : static_cast<double>(most()) * static_cast<double>(values_.size()) / sum;
  }
  [[nodiscard]] nlohmann::json json() const { return {{"total", total()}, {"most", most()}}; }

 private:
  std::vector<std::int64_t> values_;
};

nlohmann::json json_of(const Sent& sent) {
  return {{"items", sent.items},         {"messages", sent.messages},         {"bytes", sent.bytes},
          {"max_items", sent.max_items}, {"max_messages", sent.max_messages}, {"max_bytes", sent.max_bytes}};
}

bool is_by_number(const std::string& rule) {
  return rule != "lowest_rank" && rule != "balanced";
}

/// One rule on so many ranks, inspected rank by rank.
nlohmann::json count(const Mortars& mortars, const std::string& rule, int ranks) {
  constexpr std::int64_t number_bytes = 8;
  const OwnedMortars owned = own(mortars, rule, ranks);
  const auto products =
      is_by_number(rule) ? first_touched(mortars, ranks) : std::vector<std::vector<std::int64_t>>();
  PerRank reads(ranks), read(ranks), contributions(ranks), peers(ranks), bytes(ranks), products_read(ranks);
  Sent requests;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto seen = exchange::inspect(owned.distribution, rank, owned.of_rank(mortars, rank));
    for (const auto& source : seen.sources) read.add(source.rank, source.count);
    auto values = static_cast<std::int64_t>(seen.wanted.size());
    auto asked = static_cast<std::int64_t>(seen.sources.size());
    reads.add(rank, values);
    contributions.add(rank, seen.rim);
    peers.add(rank, asked);
    bytes.add(rank, static_cast<std::int64_t>(seen.memory_bytes()));
    asked *= 2;  // for values, and for the places of contributions
    std::int64_t numbers = values + seen.rim;
    if (!products.empty()) {
      const auto more = exchange::inspect(owned.distribution, rank, products[static_cast<std::size_t>(rank)]);
      const auto travelling = static_cast<std::int64_t>(more.wanted.size());
      products_read.add(rank, travelling);
      values += travelling, numbers += travelling;
      asked += static_cast<std::int64_t>(more.sources.size());
    }
    requests.add(values, asked, number_bytes * numbers);
  }
  return {{"rule", rule},
          {"ranks", ranks},
          {"remote_per_point", static_cast<double>(reads.total()) / static_cast<double>(mortars.points)},
          {"reads_max_over_mean", reads.max_over_mean()},
          {"read_max_over_mean", read.max_over_mean()},
          {"peers", static_cast<double>(peers.total()) / ranks},
          {"max_map_bytes", bytes.most()},
          {"reads", reads.json()},
          {"contributions", contributions.json()},
          {"messages", peers.json()},
          {"map_bytes", bytes.json()},
          {"products", products_read.json()},
          {"map", json_of(requests)}};
}

}  // namespace

nlohmann::json count_rules(const CountSettings& settings) {
  const UaClass which = ua_class(settings.npb_class);
  const auto leaves = ua_leaves_after(which, settings.step);
  const Mortars mortars = ua_mortars(leaves);
  auto rows = nlohmann::json::array(), changes = nlohmann::json::array();
  for (const int ranks : settings.ranks)
    for (const auto& rule : ownership_rules()) rows.push_back(count(mortars, rule, ranks));
  nlohmann::json found{{"class", std::string(1, settings.npb_class)},
                       {"step", settings.step},
                       {"elements", leaves.size()},
                       {"points", mortars.points},
                       {"rows", rows}};
  if (settings.change == 0) return found;
  const auto before = ua_leaves_after(which, settings.step - settings.change);
  for (const int ranks : settings.ranks) {
    const auto change = mesh_change(before, leaves, mortars, ranks);
    changes.push_back({{"ranks", ranks},
                       {"transfer", json_of(change.transfer)},
                       {"surroundings", json_of(change.surroundings)},
                       {"numbering", json_of(change.numbering)}});
  }
  found["changes"] = changes;
  return found;
}

}  // namespace tailrace::bench
