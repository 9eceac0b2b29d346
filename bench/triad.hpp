// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

namespace tailrace::bench {

/// Bytes per second of a = b + factor c by all threads, on arrays of so many bytes that are far larger than
/// the caches, as STREAM does it; as many samples, after one that is left out. Three arrays are read or
/// written; the line that is written is read first, so four times the array goes over the memory bus.
std::vector<double> triad_bytes_s(std::int64_t array_bytes, int samples);

}  // namespace tailrace::bench
