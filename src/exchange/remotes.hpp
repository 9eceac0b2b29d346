// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

namespace tailrace::exchange {

/// A position of an index vector whose value another rank owns, and where it is there.
struct RemotePosition {
  int owner;
  std::int32_t position;
  std::int64_t local;
};

/// Orders them by owner, then by the owner's local index. @local. Cost: a few passes, one for each 11 bits by
/// which the places differ (a radix sort), with as much memory again for their time; without an order among
/// equal places.
void sort_by_place(std::vector<RemotePosition>& remotes);

}  // namespace tailrace::exchange
