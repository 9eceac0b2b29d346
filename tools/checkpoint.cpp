// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/system.hpp"
#include "checkpoint/verification.hpp"
#include "tailrace/error.hpp"
#include "tailrace/option_parser.hpp"

/// Verifies checkpoints and says as JSON, a line each, what is damaged: what `tailrace checkpoint verify`
/// shows.
namespace tailrace {
namespace {

using Json = nlohmann::ordered_json;

void print(const Json& line) {
  say(stdout, line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

Json to_json(const checkpoint::Damage& damage) {
  Json found{{"file", "state.h5"}, {"part", damage.part}, {"problem", damage.problem}};
  if (!damage.set.empty()) found["set"] = damage.set;
  if (!damage.cell.empty()) found["cell"] = damage.cell;
  if (damage.rank >= 0) found["rank"] = damage.rank;
  if (damage.begin < damage.end) found["bytes"] = {damage.begin, damage.end};
  return found;
}

/// States bytes that were read, now and then.
class Progress {
 public:
  void advance(std::int64_t bytes) {
    constexpr std::int64_t between = 64 << 20;
    bytes_ += bytes;
    if (bytes_ >= between) report();
  }
  void report() {
    print({{"read", bytes_}});
    bytes_ = 0;
  }

 private:
  std::int64_t bytes_ = 0;
};

void verify(const std::vector<std::string>& checkpoints) {
  Progress progress;
  for (const auto& path : checkpoints) {
    auto damage = Json::array();
    for (const auto& one : checkpoint::verify(path, [&](std::int64_t bytes) { progress.advance(bytes); }))
      damage.push_back(to_json(one));
    progress.report();
    print({{"checkpoint", path}, {"damage", damage}});
  }
}

}  // namespace
}  // namespace tailrace

int main(int argc, char** argv) {
  tailrace::OptionParser parser("Says as JSON, a line for each checkpoint, what is damaged in its file",
                                "tailrace-checkpoint");
  std::vector<std::string> checkpoints;
  parser.option("DIR", checkpoints, "directories with a manifest.json that is whole").required();
  if (const auto status = parser.read_or_end(argc, argv)) return *status;
  try {
    tailrace::verify(checkpoints);
  } catch (const tailrace::Error& error) {
    tailrace::say(stderr, fmt::format("{}. Fix: {}\n", error.info().message, error.info().hint));
    return 2;
  }
}
