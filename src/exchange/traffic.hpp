// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <map>

#include "base/system.hpp"
#include "exchange/line.hpp"
#include "tailrace/exchange/access_map.hpp"
#include "tailrace/trace.hpp"

namespace tailrace::exchange {

/// What the flights of a map have moved and cost on this rank.
struct Traffic {
  AccessCounts counts;
  std::map<int, PeerTraffic> sent;  ///< to each rank
  trace::Log* log = nullptr;
  StepIndex step = 0;  ///< of spans

  /// A message left, in so many batches. @local
  void count(const Peer& to, std::int64_t batches) {
    const auto bytes = static_cast<std::int64_t>(to.bytes);
    counts.messages += batches;
    counts.bytes += bytes;
    counts.largest_bytes = std::max(counts.largest_bytes, (bytes + batches - 1) / batches);
    PeerTraffic& one = sent[to.rank];
    one.rank = to.rank;
    one.messages += batches;
    one.bytes += bytes;
  }
  /// A part of a flight that began at `start_s`, when `bytes_before` had been sent, ends now; returns how
  /// long it took. @local
  double span(double start_s, std::int64_t bytes_before) const noexcept {
    const double end_s = monotonic_s();
    if (log != nullptr) log->add({trace::Kind::exchange, step, start_s, end_s, counts.bytes - bytes_before});
    return end_s - start_s;
  }
};

}  // namespace tailrace::exchange
