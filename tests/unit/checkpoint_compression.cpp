// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/checkpoint_options.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>

#include "checkpoint/stored_cell.hpp"
#include "tailrace/error.hpp"

/// The words of a case, and the stored bytes of a cell.
namespace tailrace::checkpoint {

namespace {

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

std::vector<float> smooth(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = std::sin(0.01F * static_cast<float>(i));
  return values;
}

std::vector<std::byte> noise(std::size_t count) {
  std::mt19937 random(7);
  std::vector<std::byte> bytes(count);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

std::vector<std::byte> stored(const std::vector<std::byte>& cell, std::size_t element_bytes, int level = 1) {
  CellCompressor compressor({.zstd_level = level});
  const auto bytes = compressor.store(cell, element_bytes);
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> restored(const std::vector<std::byte>& stored, std::size_t element_bytes,
                                std::size_t cell_bytes) {
  CellDecompressor decompressor(element_bytes);
  const auto bytes = decompressor.restore(stored, cell_bytes);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("what a case may say of compression") {
  CHECK_FALSE(parse_compression("checkpoint.compress", "none").wanted());
  CHECK(compression_text({}) == "none");
  if (has_zstd()) {
    CHECK(parse_compression("checkpoint.compress", "zstd").zstd_level == 1);
    CHECK(parse_compression("checkpoint.compress", "zstd:19").zstd_level == 19);
    CHECK(compression_text({.zstd_level = 7}) == "zstd:7");
  }
  for (const char* wrong : {"", "zst", "zstd:", "zstd:0", "zstd:20", "zstd:3x", "zstd:-1", "gzip"}) {
    CAPTURE(wrong);
    CHECK_THROWS_WITH_AS(parse_compression("checkpoint.compress", wrong),
                         doctest::Contains("checkpoint.compress"), Error);
  }
}

TEST_CASE("a cell comes back from what is stored of it") {
  if (!has_zstd()) return;
  for (const std::size_t count : {1, 2, 3, 100, 4097, 100000})
    for (const int level : {1, 19}) {
      const auto cell = bytes_of(smooth(count));
      const auto bytes = stored(cell, sizeof(float), level);
      CHECK(bytes.size() % 8 == 0);
      CHECK(bytes.size() <= whole_words(cell.size()));
      CHECK(restored(bytes, sizeof(float), cell.size()) == cell);
    }
  const auto rows = bytes_of(smooth(30 * 1000));
  CHECK(restored(stored(rows, 120), 120, rows.size()) == rows);
}

TEST_CASE("what is stored, byte by byte") {
  if (!has_zstd()) return;
  // Turned: all first bytes, then all second ones.
  const std::vector<std::uint16_t> pairs(1000, 0x0201);
  const auto bytes = stored(bytes_of(pairs), sizeof(std::uint16_t));
  constexpr std::array<std::byte, 4> magic{std::byte{0x28}, std::byte{0xB5}, std::byte{0x2F},
                                           std::byte{0xFD}};
  CHECK(std::equal(magic.begin(), magic.end(), bytes.begin()));
  std::vector<std::byte> turned(2 * pairs.size());
  CHECK(Zstd().decompress(bytes, turned));
  CHECK(std::count(turned.begin(), turned.begin() + 1000, std::byte{1}) == 1000);
  CHECK(std::count(turned.begin() + 1000, turned.end(), std::byte{2}) == 1000);
  // What does not get smaller stays, with zeros to whole words.
  const auto random = noise(1001);
  auto expected = random;
  expected.resize(1008);
  CHECK(stored(random, 7) == expected);
}

TEST_CASE("damaged bytes never make more than a wrong cell, or none") {
  if (!has_zstd()) return;
  const auto cell = bytes_of(smooth(2000));
  const auto sound = stored(cell, sizeof(float));
  std::mt19937 random(3);
  int none = 0;
  for (int i = 0; i < 2000; ++i) {
    auto bytes = sound;
    bytes[random() % bytes.size()] ^= static_cast<std::byte>(1 + random() % 255);
    const auto found = restored(bytes, sizeof(float), cell.size());
    none += found.empty();
    CHECK((found.empty() || found.size() == cell.size()));
  }
  CHECK(none > 0);
  CHECK(restored(sound, sizeof(float), cell.size() - 4).empty());
  CHECK(restored(sound, sizeof(float), cell.size() + 4).empty());
  CHECK(restored({sound.begin(), sound.begin() + 8}, sizeof(float), cell.size()).empty());
}

}  // namespace tailrace::checkpoint
