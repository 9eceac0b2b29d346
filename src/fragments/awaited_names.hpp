// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "fragments/id.hpp"

namespace tailrace::fragments {

/// The data fragments for which one fragment of this rank waits, and of which nothing else is known: most of
/// those that are not there. The names are in the fragments; here are their numbers, and as much of a name's
/// hash as finds them, 8 bytes each in a table that is at most three quarters full.
class AwaitedNames {
 public:
  /// Whether the fragment with a number waits for a name.
  using Waits = std::function<bool(std::uint32_t fragment, const Id& name)>;

  explicit AwaitedNames(Waits waits) : waits_(std::move(waits)) {}

  /// Notes that a fragment waits for a name, unless there is one already; returns whether it did.
  bool add(const Id& name, std::uint32_t fragment) {
    if (find(name)) return false;
    if (4 * (count_ + 1) > 3 * places_.size()) grow();
    put({fragment, tag_of(name)});
    ++count_;
    return true;
  }
  /// The fragment that waits for a name, if there is one, which is forgotten.
  std::optional<std::uint32_t> take(const Id& name) {
    const auto at = find(name);
    if (!at) return {};
    const auto fragment = places_[*at].fragment;
    remove(*at);
    return fragment;
  }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }

 private:
  static constexpr std::uint32_t nobody = 0xffffffff;
  struct Place {
    std::uint32_t fragment = nobody, tag = 0;
    [[nodiscard]] bool empty() const noexcept { return fragment == nobody; }
  };
  [[nodiscard]] static std::uint32_t tag_of(const Id& name) noexcept {
    return static_cast<std::uint32_t>(name.hash() >> 32);
  }
  [[nodiscard]] std::size_t home_of(std::uint32_t tag) const noexcept { return tag & (places_.size() - 1); }
  [[nodiscard]] std::size_t next(std::size_t at) const noexcept { return (at + 1) & (places_.size() - 1); }

  [[nodiscard]] std::optional<std::size_t> find(const Id& name) const {
    if (count_ == 0) return {};
    const auto tag = tag_of(name);
    for (auto at = home_of(tag); !places_[at].empty(); at = next(at))
      if (places_[at].tag == tag && waits_(places_[at].fragment, name)) return at;
    return {};
  }
  void put(const Place& place) {
    auto at = home_of(place.tag);
    while (!places_[at].empty()) at = next(at);
    places_[at] = place;
  }
  /// Those behind it that would be found no more move up.
  void remove(std::size_t at) {
    const auto mask = places_.size() - 1;
    for (auto other = next(at); !places_[other].empty(); other = next(other))
      if (((other - home_of(places_[other].tag)) & mask) >= ((other - at) & mask))
        places_[std::exchange(at, other)] = places_[other];
    places_[at] = {};
    --count_;
  }
  void grow() {
    constexpr std::size_t smallest = 64;
    const auto old = std::exchange(places_, std::vector<Place>(std::max(smallest, 2 * places_.size())));
    for (const auto& place : old)
      if (!place.empty()) put(place);
  }

  Waits waits_;
  std::vector<Place> places_;  ///< a power of two
  std::size_t count_ = 0;
};

}  // namespace tailrace::fragments
