// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/alike.hpp"

#include <vector>

#include "base/random.hpp"
#include "mpi/collective.hpp"

namespace tailrace::mpi {

void Fingerprint::add_one(std::string_view text) noexcept {
  add_word(text.size());
  for (const char letter : text) add_one(letter);
}

void Fingerprint::add_word(std::uint64_t word) noexcept {
  value_ = mixed_bits((value_ ^ word) + SplitMix64::increment);
}

std::string find_differences(CommView comm, std::span<const Given> given) {
  std::vector<std::int64_t> most;
  for (const auto& one : given) {
    const auto number = static_cast<std::int64_t>(one.fingerprint.value() >> 1U);
    most.insert(most.end(), {number, -number});
  }
  Request request = start_combining(comm, std::span(most), Combination::max);
  wait_all({&request, 1});
  std::string differences;
  for (std::size_t i = 0; i < given.size(); ++i)
    if (most[2 * i] != -most[2 * i + 1]) differences += (differences.empty() ? "" : ", ") + given[i].what;
  return differences;
}

}  // namespace tailrace::mpi
