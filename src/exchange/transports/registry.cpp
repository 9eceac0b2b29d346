// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "exchange/transports/transports.hpp"
#include "tailrace/error.hpp"

namespace tailrace::exchange {

namespace {

constexpr std::array<Transport, 2> all{{
    {"persistent", "two-sided messages, prepared once", open_persistent},
    {"isend", "two-sided messages", open_isend},
}};

}  // namespace

std::span<const Transport> transports() noexcept {
  return all;
}

const Transport& find_transport(std::string_view name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  if (found != all.end()) return *found;
  std::vector<std::string_view> names;
  for (const auto& one : all) names.push_back(one.name);
  throw Error(ErrorKind::usage, fmt::format("no exchange transport is called \"{}\"", name),
              fmt::format("one of {}", fmt::join(names, ", ")));
}

}  // namespace tailrace::exchange
