// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

namespace tailrace {

/// Bytes that programs can still take on this machine, as the kernel estimates it (MemAvailable), whatever
/// control groups withhold; nothing if it does not say. @local
std::optional<std::int64_t> available_memory_bytes();

}  // namespace tailrace
