// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.hpp"

#include <charconv>

namespace tailrace {

namespace {
template <class T, class... Base>
std::optional<T> read_front(std::string_view& text, Base... base) noexcept {
  T number{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number, base...);
  if (code != std::errc{}) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

template <class T, class... Base>
std::optional<T> read_whole(std::string_view text, Base... base) noexcept {
  const auto number = read_front<T>(text, base...);
  return text.empty() ? number : std::nullopt;
}
}  // namespace

template <class T>
std::optional<T> parse_number(std::string_view text) noexcept {
  return read_whole<T>(text);
}
template std::optional<int> parse_number(std::string_view) noexcept;
template std::optional<unsigned> parse_number(std::string_view) noexcept;
template std::optional<std::int64_t> parse_number(std::string_view) noexcept;
template std::optional<std::uint64_t> parse_number(std::string_view) noexcept;
template std::optional<double> parse_number(std::string_view) noexcept;

std::optional<std::uint64_t> parse_hex(std::string_view digits) noexcept {
  constexpr int base = 16;
  return read_whole<std::uint64_t>(digits, base);
}

std::optional<double> take_number(std::string_view& text) noexcept {
  return read_front<double>(text);
}

std::string counted(std::int64_t number, std::string_view noun) {
  return std::to_string(number) + " " + std::string(noun) + (number == 1 ? "" : "s");
}

std::vector<std::string> split_text(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (;;) {
    const auto end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace tailrace
