// SPDX-License-Identifier: BSD-3-Clause
#include <nlohmann/json.hpp>

#include "tests.hpp"

namespace tailrace::bench::network {

namespace {
constexpr std::size_t window_bytes = std::size_t{16} << 20;
constexpr std::size_t store_bytes = std::size_t{64} << 20;
}  // namespace

int Settings::repetitions(std::size_t size) const {
  const std::size_t fit = window_bytes / std::max<std::size_t>(size, 1);
  return static_cast<int>(std::clamp<std::size_t>(fit, 2, static_cast<std::size_t>(messages)));
}

Source::Source(const Settings& settings)
    : data_(settings.cycled ? std::max(store_bytes, settings.largest() + 1) : settings.largest() + 1),
      cycled_(settings.cycled) {}

Bytes Source::next(std::size_t size) {
  if (!cycled_) return Bytes(data_).first(size);
  if (place_ + size > data_.size()) place_ = 0;
  const Bytes message = Bytes(data_).subspan(place_, size);
  place_ += (size + 63) / 64 * 64;
  return message;
}

void take(Bytes message, const Settings& settings) {
  if (!settings.touched) return;
  static volatile unsigned sum = 0;  // so that the reading is not left out
  unsigned more = 0;
  for (const std::byte one : message) more += std::to_integer<unsigned>(one);
  sum = sum + more;
}

std::vector<std::string> names_of(const std::vector<Adapter>& adapters) {
  std::vector<std::string> names;
  for (const Adapter& adapter : adapters) names.push_back(adapter.name);
  return names;
}

void append(nlohmann::json& rows, const nlohmann::json& more) {
  rows.insert(rows.end(), more.begin(), more.end());
}

nlohmann::json in_turns(const Row& row, const std::vector<std::string>& names, int windows,
                        const std::function<double(std::size_t)>& seconds) {
  std::vector<std::vector<double>> taken(names.size());
  for (int window = 0; window <= windows; ++window)
    for (std::size_t i = 0; i < names.size(); ++i)
      if (const double s = seconds(i); s >= 0 && window > 0) taken[i].push_back(s);
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!taken[i].empty())
      rows.push_back({{"adapter", names[i]},
                      {"test", row.test},
                      {"size", row.size},
                      {"messages", row.messages},
                      {"seconds", taken[i]}});
  return rows;
}

}  // namespace tailrace::bench::network
