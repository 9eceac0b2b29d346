// SPDX-License-Identifier: BSD-3-Clause
#include "device/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "base/system.hpp"
#include "base/text.hpp"
#include "device/devices.hpp"
#include "tailrace/error.hpp"

namespace tailrace::device {

namespace {

constexpr int max_index = 1023;

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

/// A device that is there but cannot be used is the user's choice too.
std::unique_ptr<Device> open(const Wish& wish, int index) {
  try {
    return open_device(index);
  } catch (const Error& error) {
    refuse(fmt::format("{}: {}", wish.source, error.info().message),
           "another device, or --device none, with which the processor computes");
  }
}

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

Chosen choose(const Wish& wish, int rank) {
  const auto turn = [rank](const std::vector<int>& indices) {
    return indices[static_cast<std::size_t>(rank) % indices.size()];
  };
  switch (wish.kind) {
    case Wish::Kind::none:
      return {};
    case Wish::Kind::emulated:
      return {emulate(wish.emulation, turn(wish.indices)), static_cast<int>(wish.indices.size())};
    case Wish::Kind::listed:
      if (const auto found = find_devices(); wish.or_processor && found.devices.empty())
        return {nullptr, 0, found.why_none};
      else
        check_indices(wish, found);
      return {open(wish, turn(wish.indices)), static_cast<int>(wish.indices.size())};
    case Wish::Kind::any:
      break;
  }
  const auto found = find_devices();
  const auto count = static_cast<int>(found.devices.size());
  if (count == 0) return {nullptr, 0, found.why_none};
  return {open(wish, rank % count), count};
}

}  // namespace tailrace::device
