// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tailrace/exchange/heap.hpp"

/// Loads and stores of memory that other processes load and store at the same time.
namespace tailrace::exchange {

/// An atomic operation on a number.
struct Change {
  AtomicOp op = AtomicOp::load;
  Number number = Number::int64;
  std::uint64_t operand = 0, expected = 0;  ///< their bits
};

/// Copies bytes; an aligned number of 4 or 8 bytes as a whole. @local
void copy_number_or_bytes(std::byte* to, const std::byte* from, std::size_t bytes);
/// Carries it out, with acquire and release order; returns the bits of the old value. @local
std::uint64_t apply_change(std::byte* at, const Change& change);

}  // namespace tailrace::exchange
