// SPDX-License-Identifier: BSD-3-Clause
#include "output/planner/tuning_history.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace tailrace::output {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int format = 1;
constexpr std::size_t max_kinds = 200;
/// Machines change: kernels, devices, what else runs on them.
constexpr std::int64_t day_s = 24 * 3600, max_age_s = 90 * day_s;
/// A single output condemns a strategy, and it may have been slow for another reason.
constexpr std::int64_t max_drop_age_s = day_s;

std::int64_t now_s() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// The kinds in the file; empty if there is none, or what is there is not ours.
Json read_kinds(const std::string& path) {
  std::ifstream file(path);
  const auto all = Json::parse(file, nullptr, false);
  if (!all.is_object() || all.value("format", Json()) != format) return Json::object();
  const auto kinds = all.value("kinds", Json());
  return kinds.is_object() ? kinds : Json::object();
}

std::int64_t written_at(const Json& record) {
  const auto when = record.is_object() ? record.value("time", Json()) : Json();
  return when.is_number_integer() ? when.get<std::int64_t>() : 0;
}

/// When a strategy was dropped first: after a while it may be tried again.
std::int64_t dropped_at(const Json& kinds, const std::string& kind, const std::string& strategy) {
  const Json::json_pointer path = Json::json_pointer() / kind / "dropped" / strategy;
  const bool known = kinds.contains(path) && kinds.at(path).is_number_integer();
  const auto when = known ? kinds.at(path).get<std::int64_t>() : now_s();
  return now_s() - when > max_drop_age_s ? now_s() : when;
}

Json describe(const Estimate& estimate) {
  return {{"value", estimate.value}, {"error", estimate.error}};
}

std::optional<Estimate> estimate_in(const Json& record, const char* key) {
  const auto found = record.find(key);
  if (found == record.end()) return {};
  const Estimate estimate{.value = found->at("value").get<double>(),
                          .error = found->at("error").get<double>()};
  if (!std::isfinite(estimate.value) || estimate.value < 0 || !(estimate.error > 0)) return {};
  return estimate;
}

/// Leaves those that are neither too old nor too many.
void prune(Json& kinds) {
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [kind, record] : kinds.items()) order.emplace_back(written_at(record), kind);
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order.size() - i > max_kinds || now_s() - order[i].first > max_age_s) kinds.erase(order[i].second);
}

/// The power of two next to a number.
int magnitude(double number) noexcept {
  return number > 0 ? static_cast<int>(std::lround(std::log2(number))) : -1;
}

}  // namespace

TuningHistory::TuningHistory(std::string directory, const std::string& machine) {
  if (!directory.empty()) path_ = (fs::path(std::move(directory)) / (machine + ".json")).string();
}

std::optional<TuningRecord> TuningHistory::find(const std::string& kind) const {
  if (path_.empty()) return {};
  const auto kinds = read_kinds(path_);
  const auto found = kinds.find(kind);
  if (found == kinds.end() || now_s() - written_at(*found) > max_age_s) return {};
  try {
    TuningRecord record;
    record.strategy = found->at("strategy").get<std::string>();
    record.interference = estimate_in(*found, "interference");
    record.write_interference = estimate_in(*found, "write_interference");
    for (const auto& [strategy, when] : found->at("dropped").items())
      if (now_s() - when.get<std::int64_t>() <= max_drop_age_s) record.dropped.push_back(strategy);
    return record;
  } catch (const Json::exception&) {
    return {};
  }
}

std::string TuningHistory::keep(const std::string& kind, const TuningRecord& record) const {
  if (path_.empty()) return {};
  auto kinds = read_kinds(path_);
  auto dropped = Json::object();
  for (const auto& strategy : record.dropped) dropped[strategy] = dropped_at(kinds, kind, strategy);
  auto& one = kinds[kind] = {{"strategy", record.strategy}, {"dropped", dropped}, {"time", now_s()}};
  if (record.interference) one["interference"] = describe(*record.interference);
  if (record.write_interference) one["write_interference"] = describe(*record.write_interference);
  prune(kinds);
  std::error_code error;
  fs::create_directories(fs::path(path_).parent_path(), error);
  const auto partial = fmt::format("{}.{}", path_, getpid());
  std::ofstream file(partial, std::ios::trunc);
  file << Json{{"format", format}, {"kinds", kinds}}.dump(1) << '\n';
  file.close();
  if (file) fs::rename(partial, path_, error);
  if (file && !error) return {};
  std::error_code ignored;
  fs::remove(partial, ignored);
  return fmt::format("{}: what this run has shown of its output could not be kept for later ones", path_);
}

std::string kind_of_output(const Measurements& m, const std::string& sink) {
  const double share =
      m.bytes > 0 ? static_cast<double>(m.largest_rank_bytes) / static_cast<double>(m.bytes) : 0;
  return fmt::format(
      "{}, {} ranks on {} nodes x {} threads, {} free cores, 2^{} bytes in 2^{} datasets, 2^{} of them on "
      "one "
      "rank, {}, {}",
      sink, m.machine.ranks, m.machine.nodes, m.machine.threads_per_rank, m.machine.free_cores,
      magnitude(static_cast<double>(m.bytes)), magnitude(m.datasets), magnitude(share),
      beyond_page_cache(m) ? "device" : "page cache",
      m.machine.writer_limit_bytes_s > 0 ? fmt::format("pace {:.3g}", m.machine.writer_limit_bytes_s)
                                         : "no pace");
}

std::string tuning_directory() {
  const auto variable = [](const char* name) {
    const char* const text = std::getenv(name);
    return std::string(text != nullptr ? text : "");
  };
  if (const auto named = variable("TAILRACE_TUNING"); !named.empty()) return named == "off" ? "" : named;
  auto cache = variable("XDG_CACHE_HOME");
  if (cache.empty() && !variable("HOME").empty()) cache = variable("HOME") + "/.cache";
  return cache.empty() ? "" : cache + "/tailrace/output";
}

}  // namespace tailrace::output
