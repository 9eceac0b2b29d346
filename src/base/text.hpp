// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Numbers and lists in texts that people or programs wrote.
namespace tailrace {

/// The number that the whole text is; nothing if it is none, or none of this type. For `int`, `unsigned`,
/// 64-bit integers and `double`.
template <class T>
std::optional<T> parse_number(std::string_view text) noexcept;
/// The same if the number is from `min` to `max`.
template <class T>
std::optional<T> parse_number(std::string_view text, T min, T max) noexcept {
  const auto number = parse_number<T>(text);
  return number && *number >= min && *number <= max ? number : std::nullopt;
}
/// The number that the whole text is in hexadecimal digits.
std::optional<std::uint64_t> parse_hex(std::string_view digits) noexcept;
/// The number at the front of a text, which loses it; nothing if there is none.
std::optional<double> take_number(std::string_view& text) noexcept;

/// A number of things, of which `noun` is one: "1 rank", "3 ranks".
std::string counted(std::int64_t number, std::string_view noun);

/// The texts between separators: one more than there are separators.
std::vector<std::string> split_text(std::string_view text, char separator);

}  // namespace tailrace
