// SPDX-License-Identifier: BSD-3-Clause
#include "trace/clock.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "base/system.hpp"
#include "base/text.hpp"
#include "tailrace/error.hpp"

namespace tailrace::trace {

namespace {

constexpr const char* variable = "TAILRACE_CLOCK_SKEW";

double parse_skew(std::string_view text, const char* whole) {
  if (const auto value = parse_number<double>(text)) return *value;
  throw Error(ErrorInfo{.kind = ErrorKind::usage,
                        .message = fmt::format("{}={}: not a number of seconds", variable, whole),
                        .path = {},
                        .hint = "OFFSET or OFFSET,DRIFT, such as 2.5,1e-5; or unset it"});
}

/// Returns where a link of /proc points to; empty if it cannot be read.
std::string link_target(const char* path) {
  std::array<char, 48> target{};
  const auto length = readlink(path, target.data(), target.size());
  return length > 0 ? std::string(target.data(), static_cast<std::size_t>(length)) : std::string();
}

}  // namespace

Clock Clock::of_rank(int rank) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return {};
  const std::string_view whole = text;
  const auto comma = whole.find(',');
  const double offset_s = parse_skew(whole.substr(0, comma), text);
  const double drift = comma == std::string_view::npos ? 0 : parse_skew(whole.substr(comma + 1), text);
  return {rank * offset_s, rank * drift};
}

double Clock::now_s() const noexcept {
  return shown_at(monotonic_s());
}

std::string Clock::identity() const {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
  if (boot.empty()) return fmt::format("{:.40} {}", host_name(), getpid());
  if (offset_s_ != 0 || drift_ != 0) return fmt::format("{:.36} {:.6g},{:.6g}", boot, offset_s_, drift_);
  return fmt::format("{:.36} {:.26}", boot, link_target("/proc/self/ns/time"));
}

}  // namespace tailrace::trace
