// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <unordered_map>

#include "fragments/machine.hpp"

namespace tailrace::fragments {

/// Whether a body is worth moving to another rank: what its values cost on the way there and back, against
/// the time that it takes, by what the last bodies of its statement took and wrote on this rank.
class MoveCosts {
 public:
  /// A body has run in so many seconds. @local
  void ran(const Fragment& fragment, const Effects& effects) {
    constexpr double weight = 0.25;  // of the last body in the means
    constexpr double longest = 4;    // times the mean: the system may have taken the core away meanwhile
    double bytes = 0;
    for (const auto& post : effects.posts) bytes += static_cast<double>(post.value.bytes().size());
    const auto [at, first] = means_.try_emplace(fragment.statement, Mean{effects.body_s, bytes});
    if (first) return;
    auto& mean = at->second;
    mean.body_s += weight * (std::min(effects.body_s, longest * mean.body_s) - mean.body_s);
    mean.written_bytes += weight * (bytes - mean.written_bytes);
  }
  /// Whether moving takes at most half of the time of the body, or none like it has run here. @local
  [[nodiscard]] bool pays(const Fragment& fragment) const {
    constexpr double moved_byte_s = 1e-9;  // two copies and a message in memory, or a network of 8 Gbit/s
    const auto mean = means_.find(fragment.statement);
    if (mean == means_.end()) return true;
    double bytes = mean->second.written_bytes;
    for (const auto& input : fragment.inputs) bytes += static_cast<double>(input.value.bytes().size());
    return bytes * moved_byte_s <= mean->second.body_s / 2;
  }

 private:
  struct Mean {
    double body_s = 0, written_bytes = 0;
  };
  std::unordered_map<const Statement*, Mean> means_;
};

}  // namespace tailrace::fragments
