// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fragments/store.hpp"

/// Use counts of values that a program, which has ended well, has not used as often as they say.
namespace tailrace::fragments {

/// The values that one `req_count` has left.
struct UnusedCount {
  Place at;
  std::int64_t values = 0;
  std::int64_t uses = 0;  ///< of all of them
  std::string first;      ///< by its name, numbers in their order
};

/// Those of the values whose home is this store, in the order of their places.
std::vector<UnusedCount> unused_counts(const Image& image, const Store& store);
/// Adds what another rank has left.
void add(std::vector<UnusedCount>& counts, const std::vector<UnusedCount>& more);
/// A note for each place, in their order; at most 20, then how many there are beyond.
std::vector<std::string> notes_of(const Image& image, const std::vector<UnusedCount>& counts);

}  // namespace tailrace::fragments
