// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <utility>

#include "output/sinks/file_extents.hpp"

using namespace tailrace::output;

namespace {

constexpr std::int64_t head = 4096, unit = 64 << 10;
constexpr std::array<std::int64_t, 7> sizes{3 * unit + 8, 0, 8, 40, 17 * unit + 4, 1, 5000 * unit};

std::vector<FileExtents> placed(std::size_t files, std::int64_t stripe) {
  Stripes stripes(files, head, stripe);
  std::vector<FileExtents> all;
  for (const auto bytes : sizes) all.push_back(stripes.add(bytes));
  return all;
}

}  // namespace

TEST_CASE("stripes make up each dataset and share no byte") {
  for (const std::size_t files : {1U, 2U, 3U, 5U})
    for (const std::int64_t stripe : {unit, 4 * unit, 100 * unit}) {
      CAPTURE(files);
      CAPTURE(stripe);
      const auto all = placed(files, stripe);
      std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> taken(files + 1);
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        std::int64_t end = 0;
        for (const auto& s : all[i]) {
          CHECK(s.first == end);
          end += s.bytes;
          REQUIRE((s.file >= 1 && s.file <= files));
          CHECK(s.offset >= head);
          taken[s.file].emplace_back(s.offset, s.offset + s.bytes);
        }
        CHECK(end == sizes[i]);
        CHECK(all[i].size() <= 2000);
      }
      for (auto& file : taken) {
        std::sort(file.begin(), file.end());
        for (std::size_t i = 1; i < file.size(); ++i) CHECK(file[i].first >= file[i - 1].second);
      }
    }
}

TEST_CASE("neighbouring stripes lie in different files, and datasets begin in different ones") {
  const auto all = placed(3, unit);
  for (const auto& extents : all)
    for (std::size_t i = 1; i < extents.size(); ++i) CHECK(extents[i].file == extents[i - 1].file % 3 + 1);
  CHECK(all[0].front().file == 1);
  CHECK(all[2].front().file == 3);
  CHECK(all[3].front().file == 1);
}

TEST_CASE("each byte of a dataset has its place") {
  const auto extents = placed(2, unit).front();
  const std::int64_t bytes = sizes.front();
  for (const std::int64_t at : {std::int64_t{0}, unit - 1, unit, unit + 1, 3 * unit, bytes - 1}) {
    const auto rest = from_byte(extents, at);
    const auto& whole = extents[static_cast<std::size_t>(at / unit)];
    CHECK(rest.first == at);
    CHECK(rest.file == whole.file);
    CHECK(rest.offset == whole.offset + at % unit);
    CHECK(rest.offset + rest.bytes == whole.offset + whole.bytes);
  }
}
