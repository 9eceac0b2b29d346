// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <bit>

#include <cmath>
#include <fstream>
#include <functional>
#include <span>

#include "h5/file.hpp"
#include "tailrace/error.hpp"
#include "temp_dir.hpp"
#include "verify.hpp"

namespace tailrace::rehearse {

namespace {

constexpr Index3 cells{5, 4, 3};
constexpr StepIndex steps = 6;

/// Writes what a rehearsal of the whole domain leaves, value by value.
class Sample {
 public:
  explicit Sample(h5::ElementType type = h5::ElementType::float64) : formula_{cells, type} {}

  /// `values` may change what is written; `recorded` and `done` are what the file says of the run.
  std::string write(StepIndex recorded, StepIndex done,
                    const std::function<void(std::vector<double>&)>& change = {}) {
    std::vector<double> values;
    auto file = h5::File::create(directory_.file("rehearsal.h5"));
    output::Stream stream;
    stream.name = "whole";
    auto head = make_head(formula_, {stream});
    for (const auto& attribute : head.attributes) file.create_attribute("/", attribute);
    put(file, "/rehearsal_steps_done", std::vector<std::int64_t>{done});
    put(file, output::commit_mark_path,
        std::vector<std::uint64_t>{static_cast<std::uint64_t>(recorded), steps});
    std::vector<std::int64_t> list;
    for (StepIndex t = 1; t <= steps; ++t) {
      list.push_back(t);
      for (std::int64_t i = 0; i < cells.volume(); ++i)
        values.push_back(formula_.value({i % 5, i / 5 % 4, i / 20}, t));
    }
    if (change) change(values);
    put(file, "/whole/values", values);
    put(file, "/whole/step", list);
    file.create_attribute("/whole", {.name = "selection", .value = std::string("whole")});
    file.create_attribute("/whole", {.name = "reduction", .value = std::string("none")});
    file.close();
    return directory_.file("rehearsal.h5");
  }

 private:
  template <class T>
  void put(h5::File& file, const std::string& path, const std::vector<T>& values) {
    file.create_dataset({path, {values.size()}, h5::element_type_of<T>(), {}});
    file.write(path, std::span<const T>(values));
  }

  Formula formula_;
  test::TempDir directory_;
};

}  // namespace

TEST_CASE("the formula counts points and times") {
  const Formula cube{{7, 7, 7}};
  CHECK(cube.exact({1, 2, 3}, 4) == 1 + 2 * 7 + 3 * 49 + 4 * 343);
  const Formula rounded{{7, 7, 7}, h5::ElementType::float32};
  CHECK(rounded.value({1, 0, 0}, 0) == 1);
  CHECK(rounded.value({1, 0, 0}, 100'000'000) == 34'300'000'256.0);  // 34300000001 in 24 bits
}

TEST_CASE("a right file is right") {
  for (const auto type : {h5::ElementType::float32, h5::ElementType::float64}) {
    Sample sample(type);
    const auto verdict = verify(sample.write(steps, steps));
    CHECK(verdict.good());
    CHECK(verdict.values == steps * cells.volume());
    CHECK(verdict.samples == steps);
  }
}

TEST_CASE("a wrong value is found at its index") {
  Sample sample;
  const std::size_t sample_values = 60;
  const auto path =
      sample.write(steps, steps, [](auto& values) { values[2 * sample_values + 1 * 20 + 3 * 5 + 4] += 1; });
  const auto verdict = verify(path);
  CHECK_FALSE(verdict.good());
  CHECK(verdict.wrong == 1);
  REQUIRE(verdict.first.size() == 1);
  CHECK(verdict.first[0].index == std::vector<std::int64_t>{2, 1, 3, 4});
  CHECK(verdict.first[0].point == Index3{4, 3, 1});
  CHECK(verdict.first[0].step == 3);
  CHECK(verdict.first[0].expected == 4 + 3 * 5 + 20 + 3 * 60);
  CHECK(verdict.first[0].found == verdict.first[0].expected + 1);
  CHECK(to_string(verdict).find("/whole/values[2, 1, 3, 4]: expected 219, found 220") != std::string::npos);
}

TEST_CASE("NaN, and many wrong values") {
  Sample sample;
  const auto nan = verify(sample.write(steps, steps, [](auto& values) { values[7] = std::nan(""); }));
  CHECK(nan.wrong == 1);
  const auto many =
      verify(sample.write(steps, steps, [](auto& values) { values.assign(values.size(), -1); }));
  CHECK(many.wrong == steps * cells.volume());
  CHECK(many.first.size() == 10);
  CHECK(to_string(many).find("and 350 more") != std::string::npos);
}

TEST_CASE("after the commit mark values are absent or right") {
  Sample sample;
  const auto later = [](auto& values) { std::fill(values.begin() + 200, values.end(), 0.0); };
  auto verdict = verify(sample.write(3, 0, later));
  CHECK(verdict.good());
  CHECK(verdict.samples == 3);
  CHECK(verdict.recorded == 3);
  CHECK(to_string(verdict).find("did not end in good order") != std::string::npos);
  // The fourth sample is recorded but not whole.
  CHECK_FALSE(verify(sample.write(4, 0, later)).good());
  // A later value that is neither.
  verdict = verify(sample.write(3, 0, [](auto& values) { values.back() = 5; }));
  CHECK(verdict.wrong == 1);
  // A later value of which a killed writer put six of the eight bytes; one that was counted on is wrong.
  const auto cut = [](double& value) {
    value = std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & 0xffffffffffffU);
  };
  const auto cut_at = [&](std::size_t at) {
    return verify(sample.write(3, 0, [&](auto& values) { cut(values[at]); })).wrong;
  };
  CHECK(cut_at(301) == 0);
  CHECK(cut_at(100) == 1);
  // Nothing recorded at all.
  CHECK(verify(sample.write(0, 0)).good());
}

TEST_CASE("a commit mark that is behind the steps done, and lost datasets") {
  Sample sample;
  CHECK(to_string(verify(sample.write(steps - 1, steps))).find("the commit mark holds 5 of the 6") !=
        std::string::npos);
  const auto path = sample.write(steps, steps);
  h5::File::open_for_update(path).update_text_attribute("/", "rehearsal_datasets", "2");
  CHECK(to_string(verify(path)).find("has 1 of its 2 datasets") != std::string::npos);
}

TEST_CASE("other files are refused") {
  const test::TempDir directory;
  CHECK_THROWS_AS(verify(directory.file("missing.h5")), Error);
  const auto path = directory.file("other.h5");
  h5::File::create(path).close();
  CHECK_THROWS_WITH(verify(path), doctest::Contains("no rehearsal wrote this file"));
  std::ofstream(path) << "not HDF5";
  CHECK_THROWS_AS(verify(path), Error);
}

}  // namespace tailrace::rehearse
