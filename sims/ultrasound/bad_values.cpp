// SPDX-License-Identifier: BSD-3-Clause
#include "bad_values.hpp"

#include <fmt/format.h>

#include "mpi/verdict.hpp"

namespace tailrace::ultrasound {

const char* fix_for(Accepted accepted) noexcept {
  return accepted == Accepted::any            ? "finite values"
         : accepted == Accepted::not_negative ? "finite values of at least 0"
                                              : "finite values above 0";
}

void BadValues::mark(std::int64_t index, double value) noexcept {
  if (index < first) {
    first = index;
    example = value;
  }
  ++count;
}

void BadValues::add(const BadValues& other) noexcept {
  if (other.first < first) {
    first = other.first;
    example = other.example;
  }
  count += other.count;
}

std::string BadValues::text() const {
  // Files hold single precision: its shortest text is what the user wrote.
  return fmt::format("{} value{} not usable, first {}", count, count == 1 ? " is" : "s are",
                     static_cast<float>(example));
}

BadValues combined(mpi::CommView comm, const BadValues& mine) {
  BadValues all;
  all.count = mpi::sum(comm, mine.count);
  if (all.count == 0) return all;
  all.first = mpi::min(comm, mine.first);
  const std::int64_t nobody = comm.size();
  const auto owner =
      static_cast<int>(mpi::min(comm, mine.first == all.first ? std::int64_t{comm.rank()} : nobody));
  all.example = mine.example;
  mpi::broadcast_bytes(comm, std::as_writable_bytes(std::span(&all.example, 1)), owner);
  return all;
}

}  // namespace tailrace::ultrasound
