// SPDX-License-Identifier: BSD-3-Clause
#include "device/choice.hpp"

#include <fmt/format.h>

#include "base/text.hpp"
#include "tailrace/error.hpp"

namespace tailrace::device {

int choose_device(const std::string& wish, int node_rank, const Devices& found) {
  const auto count = static_cast<int>(found.devices.size());
  if (count == 0)
    throw Error(ErrorKind::usage, fmt::format("device {}: {}", wish, found.why_none),
                "leave --device out to compute on the processor");
  if (wish == "auto") return node_rank % count;
  const auto index = parse_number<int>(wish);
  if (!index || *index < 0 || *index >= count)
    throw Error(ErrorKind::usage, fmt::format("device {}: there is no such device", wish),
                count == 1 ? "0, the only one, or auto" : fmt::format("0 to {}, or auto", count - 1));
  return *index;
}

}  // namespace tailrace::device
