// SPDX-License-Identifier: BSD-3-Clause
#include "base/system.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "tailrace/error.hpp"

namespace tailrace {

static double seconds_of(clockid_t clock) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double monotonic_s() noexcept {
  return seconds_of(CLOCK_MONOTONIC);
}
double thread_cpu_s() noexcept {
  return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

/// The bytes that a line "KEY: n kB" of a file of /proc says, 0 if there is none.
static std::int64_t proc_bytes(const char* path, const char* key) noexcept {
  FILE* file = std::fopen(path, "r");
  if (file == nullptr) return 0;
  long kib = 0;
  std::array<char, 256> line{};
  const std::size_t length = std::strlen(key);
  while (kib == 0 && std::fgets(line.data(), line.size(), file) != nullptr)
    if (std::strncmp(line.data(), key, length) == 0) kib = std::strtol(line.data() + length, nullptr, 10);
  std::fclose(file);
  return std::int64_t{kib} * 1024;
}

/// Returns what the resident memory counts too much: pages that several processes share are each process's
/// own there.
static std::int64_t shared_by_others_bytes() noexcept {
  const auto share = proc_bytes("/proc/self/smaps_rollup", "Pss_Shmem:");
  const auto all = proc_bytes("/proc/self/status", "RssShmem:");
  return share > 0 && share < all ? all - share : 0;
}

std::int64_t peak_memory_bytes() noexcept {
  // getrusage would also count what the process held before it became this program: a copy of its parent.
  if (const auto peak = proc_bytes("/proc/self/status", "VmHWM:"); peak > 0)
    return peak - shared_by_others_bytes();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

std::int64_t resident_memory_bytes() noexcept {
  return proc_bytes("/proc/self/status", "VmRSS:") - shared_by_others_bytes();
}

std::int64_t physical_memory_bytes() noexcept {
  return static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
}

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string iso_time_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%S%z}", fmt::localtime(std::time(nullptr)));
}

void sleep_s(double seconds) noexcept {
  if (seconds <= 0) return;
  const double whole = std::floor(seconds);
  timespec pause{static_cast<time_t>(whole), static_cast<long>((seconds - whole) * 1e9)};
  while (nanosleep(&pause, &pause) != 0) {
  }
}

void say(std::FILE* stream, const std::string& text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

std::string human_bytes(double bytes) {
  static constexpr std::array units{"B", "kB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  constexpr double step = 1000;
  while (std::abs(bytes) >= step && unit + 1 < units.size()) {
    bytes /= step;
    ++unit;
  }
  return fmt::format(fmt::runtime(unit == 0 ? "{:.0f} {}" : "{:.1f} {}"), bytes, units[unit]);
}

static Error bad_unit(std::string message, std::string hint) {
  return Error(
      {.kind = ErrorKind::usage, .message = std::move(message), .path = {}, .hint = std::move(hint)});
}

/// Splits "12.5MB" into the number and the unit behind it.
static std::pair<double, std::string> number_and_unit(const std::string& text, const std::string& what,
                                                      const char* example) {
  std::string_view unit(text);
  const auto value = take_number(unit);
  if (!value || !std::isfinite(*value) || *value < 0)
    throw bad_unit(fmt::format("{}: cannot read \"{}\"", what, text),
                   fmt::format("write it like {}", example));
  return {*value, std::string(unit.substr(std::min(unit.find_first_not_of(' '), unit.size())))};
}

double parse_bytes(const std::string& text, const std::string& what) {
  auto [value, unit] = number_and_unit(text, what, "8MiB or 50MB/s");
  if (unit.ends_with("/s")) unit.resize(unit.size() - 2);
  static constexpr std::array<std::pair<const char*, double>, 12> factors{{{"", 1},
                                                                           {"B", 1},
                                                                           {"kB", 1e3},
                                                                           {"KB", 1e3},
                                                                           {"MB", 1e6},
                                                                           {"GB", 1e9},
                                                                           {"TB", 1e12},
                                                                           {"KiB", 1024.0},
                                                                           {"MiB", 1048576.0},
                                                                           {"GiB", 1073741824.0},
                                                                           {"TiB", 1099511627776.0},
                                                                           {"k", 1e3}}};
  for (const auto& [name, factor] : factors)
    if (unit == name) return value * factor;
  throw bad_unit(fmt::format("{}: unknown unit \"{}\"", what, unit), "one of B, kB, MB, GB, KiB, MiB, GiB");
}

std::int64_t parse_byte_limit(const std::string& text, const std::string& what) {
  constexpr double most = 1e18;
  const double size = parse_bytes(text, what);
  if (size < 1 || size > most)
    throw bad_unit(fmt::format("{}: \"{}\" is no size for a limit", what, text),
                   "1B to 1000000TB, such as 2GB");
  return static_cast<std::int64_t>(size);
}

double parse_seconds(const std::string& text, const std::string& what) {
  const auto [value, unit] = number_and_unit(text, what, "5ms or 2s");
  static constexpr std::array<std::pair<const char*, double>, 6> factors{
      {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"min", 60}, {"h", 3600}}};
  for (const auto& [name, factor] : factors)
    if (unit == name) return value * factor;
  throw bad_unit(fmt::format("{}: unknown unit \"{}\"", what, unit), "one of us, ms, s, min, h");
}

}  // namespace tailrace
