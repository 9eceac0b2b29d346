// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "tailrace/comm.hpp"

namespace tailrace::mpi {

/// A digest of values in their order, the same on all ranks.
class Fingerprint {
 public:
  template <class... Values>
  Fingerprint& add(const Values&... values) {
    (add_one(values), ...);
    return *this;
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

 private:
  void add_one(std::string_view text) noexcept;
  template <class T>
  requires std::is_arithmetic_v<T> || std::is_enum_v<T>
  void add_one(T value) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    add_word(word);
  }
  void add_word(std::uint64_t word) noexcept;

  std::uint64_t value_ = 0;
};

/// Something that all ranks were to be given alike.
struct Given {
  std::string what;  ///< for people
  Fingerprint fingerprint;
};

/// Returns what ranks were given differently, such as "streams, options"; nothing if all is alike. The list
/// has as many entries on all ranks. @collective{comm}, synchronises.
std::string find_differences(CommView comm, std::span<const Given> given);

}  // namespace tailrace::mpi
