// SPDX-License-Identifier: BSD-3-Clause
#include "device/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

#include "base/system.hpp"
#include "base/text.hpp"
#include "device/devices.hpp"
#include "tailrace/error.hpp"

namespace tailrace::device {

namespace {

constexpr int max_index = 1023;
constexpr std::size_t max_in_set = 64;

[[noreturn]] void refuse(const std::string& message, const std::string& fix) {
  throw Error(ErrorInfo{.kind = ErrorKind::usage, .message = message, .path = {}, .hint = fix});
}

[[noreturn]] void refuse_form(const Wish& wish) {
  refuse(fmt::format("{} is no choice of devices", wish.source), Wish::forms);
}

/// "memory=64MB", "devices=2" or "failing_copy=20": what tests want of an emulated device.
void read_property(Wish& wish, const std::string& property) {
  const auto words = split_text(property, '=');
  if (words.size() != 2) refuse_form(wish);
  if (words[0] == "memory") {
    wish.emulation.memory_bytes = static_cast<std::size_t>(parse_bytes(words[1], wish.source));
    return;
  }
  const auto number = parse_number<std::int64_t>(words[1], 1, max_index);
  if (words[0] == "devices" && number) {
    wish.indices.resize(static_cast<std::size_t>(*number));
    std::iota(wish.indices.begin(), wish.indices.end(), 0);
  } else if (words[0] == "failing_copy" && number) {
    wish.emulation.failing_copy = *number;
  } else {
    refuse_form(wish);
  }
}

void read_emulated(Wish& wish, const std::string& properties) {
  wish.kind = Wish::Kind::emulated;
  wish.indices = {0};
  wish.emulation.memory_bytes = std::size_t{1} << 40;  // the host's, which is looked at as well
  if (properties.empty()) return;
  if (properties.front() != ':') refuse_form(wish);
  for (const auto& property : split_text(std::string_view(properties).substr(1), ','))
    read_property(wish, property);
}

void read_list(Wish& wish, const std::string& text) {
  wish.kind = Wish::Kind::listed;
  for (const auto& word : split_text(text, ',')) {
    const auto index = parse_number<int>(word, 0, max_index);
    if (!index || std::find(wish.indices.begin(), wish.indices.end(), *index) != wish.indices.end())
      refuse_form(wish);
    wish.indices.push_back(*index);
  }
}

std::string list_of(const std::vector<DeviceInfo>& devices) {
  std::string list;
  for (const auto& device : devices)
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", device.index, device.name);
  return list;
}

/// Refuses indices that this machine has no device for.
void check_indices(const Wish& wish, const Devices& found) {
  constexpr const char* without = "--device none, with which the processor computes";
  if (found.devices.empty())
    refuse(fmt::format("{}: there is no device here: {}", wish.source, found.why_none), without);
  for (const int index : wish.indices)
    if (index >= static_cast<int>(found.devices.size()))
      refuse(fmt::format("{}: there is no device {} here", wish.source, index),
             fmt::format("one of {}; or {}", list_of(found.devices), without));
}

/// Ranks that are given devices one after the other: `each` of them to all devices, and one more to the rest.
class Sharing {
 public:
  Sharing(std::size_t ranks, std::size_t devices)
      : each_(ranks / devices), left_over_(ranks % devices), ranks_(devices) {}

  /// The device with the fewest ranks, of those that are near if one of them has room; the first of several.
  std::size_t take(DeviceSet near) {
    const auto order = [&](std::size_t number) {
      return std::pair(!(contains(near, number) && has_room(number)), ranks_[number]);
    };
    std::size_t best = 0;
    for (std::size_t number = 1; number < ranks_.size(); ++number)
      if (order(number) < order(best)) best = number;
    if (ranks_[best]++ == each_) --left_over_;
    return best;
  }

 private:
  /// Those beyond what a set holds are as good as others.
  static bool contains(DeviceSet set, std::size_t number) {
    return number >= max_in_set || (set >> number & 1) != 0;
  }
  [[nodiscard]] bool has_room(std::size_t number) const {
    return ranks_[number] < each_ || (ranks_[number] == each_ && left_over_ > 0);
  }

  std::size_t each_, left_over_;
  std::vector<std::size_t> ranks_;  ///< of each device
};

}  // namespace

Wish parse_wish(const std::string& source, const std::string& text) {
  constexpr std::string_view emulated = "emulated";
  Wish wish;
  wish.source = fmt::format("{} {}", source, text);
  if (text == "none") return wish;
  if (text == "auto")
    wish.kind = Wish::Kind::any;
  else if (text.starts_with(emulated))
    read_emulated(wish, text.substr(emulated.size()));
  else
    read_list(wish, text);
  return wish;
}

Offer offered(const Wish& wish) {
  Offer offer;
  if (wish.kind == Wish::Kind::none) return offer;
  if (wish.kind == Wish::Kind::emulated) {
    for (const int index : wish.indices)
      offer.devices.push_back({.index = index, .name = {}, .pci_address = {}});
    return offer;
  }
  auto found = find_devices();
  if (found.devices.empty() && (wish.kind == Wish::Kind::any || wish.or_processor))
    return {{}, found.why_none};
  if (wish.kind == Wish::Kind::any) return {std::move(found.devices)};
  check_indices(wish, found);
  for (const int index : wish.indices)
    offer.devices.push_back(found.devices[static_cast<std::size_t>(index)]);
  return offer;
}

std::unique_ptr<Device> open(const Wish& wish, const DeviceInfo& which) {
  if (wish.kind == Wish::Kind::emulated) return emulate(wish.emulation, which.index);
  try {
    return open_device(which.index);
  } catch (const Error& error) {  // one that is there but cannot be used is the user's choice too
    refuse(fmt::format("{}: {}", wish.source, error.info().message),
           "another device, or --device none, with which the processor computes");
  }
}

DeviceSet near_to(const Offer& offer, const Cpus& cpus) {
  DeviceSet near = 0;
  for (std::size_t number = 0; number < std::min(offer.devices.size(), max_in_set); ++number) {
    const auto nearest = cpus_near(offer.devices[number].pci_address);
    if (nearest.empty() || !common(nearest, cpus).empty()) near |= DeviceSet{1} << number;
  }
  return near;
}

std::vector<int> share_out(std::span<const DeviceSet> near, int devices) {
  // Those with the least choice first, or others would have taken what alone is near to them; those to whom
  // nothing is near last.
  std::vector<std::size_t> order(near.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t rank) {
    return near[rank] == 0 ? max_in_set + 1 : static_cast<std::size_t>(std::popcount(near[rank]));
  });
  Sharing sharing(near.size(), static_cast<std::size_t>(devices));
  std::vector<int> chosen(near.size());
  for (const auto rank : order) chosen[rank] = static_cast<int>(sharing.take(near[rank]));
  return chosen;
}

}  // namespace tailrace::device
