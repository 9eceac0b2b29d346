#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tailrace::rehearse {

/// The integer that a text is, as a whole and from `least` to `most`; nothing otherwise.
inline std::optional<std::int64_t> parse_integer(const std::string& text, std::int64_t least,
                                                 std::int64_t most) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  if (code != std::errc{} || stop != end || value < least || value > most) return {};
  return value;
}

/// The parts of a text between separators.
inline std::vector<std::string> split_text(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t start = 0;;) {
    const auto end = text.find(separator, start);
    parts.push_back(text.substr(start, end - start));
    if (end == std::string::npos) return parts;
    start = end + 1;
  }
}

/// Numbers that look random and are the same everywhere for a seed (SplitMix64; Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}

  /// From 0 to 1, without 1.
  double unit() noexcept {
    constexpr double scale = 0x1.0p-53;
    constexpr int dropped_bits = 11;
    return static_cast<double>(next() >> dropped_bits) * scale;
  }
  /// From 0 to n - 1; 0 for n < 1. `power` above 1 favours the low ones.
  std::int64_t below(std::int64_t n, int power = 1) noexcept {
    double u = 1;
    const double drawn = unit();
    for (int i = 0; i < power; ++i) u *= drawn;
    return n < 1 ? 0 : static_cast<std::int64_t>(u * static_cast<double>(n));
  }

  /// A number each of whose bits depends on each bit of `z`.
  static std::uint64_t mixed(std::uint64_t z) noexcept {
    z += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

 private:
  std::uint64_t next() noexcept {
    const std::uint64_t number = mixed(state_);
    state_ += 0x9e3779b97f4a7c15U;
    return number;
  }
  std::uint64_t state_;
};

}  // namespace tailrace::rehearse
