// SPDX-License-Identifier: BSD-3-Clause
#include "base/system.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "base/aligned.hpp"
#include "tailrace/error.hpp"

using namespace tailrace;

TEST_CASE("bytes are read in decimal and binary units") {
  CHECK(parse_bytes("8", "x") == 8);
  CHECK(parse_bytes("8B", "x") == 8);
  CHECK(parse_bytes("8k", "x") == 8e3);
  CHECK(parse_bytes("8kB", "x") == 8e3);
  CHECK(parse_bytes("8MB", "x") == 8e6);
  CHECK(parse_bytes("8MiB", "x") == 8388608);
  CHECK(parse_bytes("1.5GB/s", "x") == 1.5e9);
  CHECK(parse_bytes("2TiB", "x") == 2.0 * 1024 * 1024 * 1024 * 1024);
  CHECK(parse_bytes("8 MB", "x") == 8e6);
}

TEST_CASE("bad sizes and times name the option and what to write") {
  for (const char* text : {"", "MB", "8Mb", "-1", "8MB/h", "nan", "inf", "1e999", "8MBx"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_bytes(text, "--pace"), Error);
  }
  for (const char* text : {"", "s", "3 days", "-1s", "0x3"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_seconds(text, "--wall-limit"), Error);
  }
  CHECK_THROWS_WITH(parse_bytes("8Mb", "--pace"),
                    doctest::Contains("--pace: unknown unit \"Mb\". Fix: one of"));
  CHECK_THROWS_WITH(parse_seconds("soon", "--wall-limit"),
                    doctest::Contains("--wall-limit: cannot read \"soon\". Fix: write it like"));
  try {
    parse_bytes("x", "--pace");
  } catch (const Error& error) {
    CHECK(error.info().kind == ErrorKind::usage);
  }
}

TEST_CASE("seconds are read in several units") {
  CHECK(parse_seconds("3", "x") == 3);
  CHECK(parse_seconds("3s", "x") == 3);
  CHECK(parse_seconds("5ms", "x") == doctest::Approx(0.005));
  CHECK(parse_seconds("20us", "x") == doctest::Approx(20e-6));
  CHECK(parse_seconds("1.5min", "x") == 90);
  CHECK(parse_seconds("2h", "x") == 7200);
}

TEST_CASE("bytes are written for people") {
  CHECK(human_bytes(0) == "0 B");
  CHECK(human_bytes(999) == "999 B");
  CHECK(human_bytes(1000) == "1.0 kB");
  CHECK(human_bytes(12.5e6) == "12.5 MB");
  CHECK(human_bytes(3e15) == "3.0 PB");
}

TEST_CASE("a sleep takes its time and no processor") {
  const double start_s = monotonic_s(), cpu_start_s = thread_cpu_s();
  sleep_s(0.05);
  CHECK(monotonic_s() - start_s >= 0.05);
  CHECK(thread_cpu_s() - cpu_start_s < 0.02);
  sleep_s(0);
  sleep_s(-1);
}

TEST_CASE("a backoff starts short") {
  const double start_s = monotonic_s();
  Backoff backoff;
  for (int i = 0; i < 10; ++i) backoff.pause();
  CHECK(monotonic_s() - start_s >= 10 * 20e-6);
}

TEST_CASE("memory counters see what is used") {
  const auto before = resident_memory_bytes();
  constexpr std::size_t size = 64 << 20;
  const std::vector<char> block(size, 1);
  CHECK(block[size / 2] == 1);
  CHECK(resident_memory_bytes() - before > static_cast<std::int64_t>(size / 2));
  CHECK(peak_memory_bytes() >= static_cast<std::int64_t>(size));
}

TEST_CASE("time and host have names") {
  std::string shape = iso_time_now();
  for (char& c : shape)
    if (c >= '0' && c <= '9') c = 'd';
  if (const auto minus = shape.rfind('-'); minus > 10) shape[minus] = '+';
  CHECK(shape == "dddd-dd-ddTdd:dd:dd+dddd");
  CHECK_FALSE(host_name().empty());
}

TEST_CASE("aligned vectors are aligned, and padding fills cache lines") {
  for (std::size_t n : {1, 3, 1000}) {
    const AlignedVector<float> values(n);
    CHECK(reinterpret_cast<std::uintptr_t>(values.data()) % alignment_bytes == 0);
  }
  CHECK(padded<float>(0) == 0);
  CHECK(padded<float>(1) == 16);
  CHECK(padded<float>(16) == 16);
  CHECK(padded<double>(9) == 16);
  CHECK_THROWS_AS(AlignedVector<double>(std::size_t{1} << 62), std::exception);
}
