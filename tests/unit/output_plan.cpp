// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "error_of.hpp"
#include "output/core/pack.hpp"
#include "output/core/plan.hpp"
#include "output_pattern.hpp"
#include "tailrace/error.hpp"
#include "tailrace/output.hpp"

using namespace tailrace;
using namespace tailrace::output;

namespace {

using Random = std::mt19937;

std::int64_t pick(Random& random, std::int64_t low, std::int64_t high) {
  return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

Box random_box(Random& random, Index3 n) {
  const auto range = [&](std::int64_t size) {
    const std::int64_t a = pick(random, 0, size - 1);
    return Range{a, pick(random, a + 1, size)};
  };
  const Range x = range(n.x), y = range(n.y), z = range(n.z);
  return {{x.begin, y.begin, z.begin}, {x.end, y.end, z.end}};
}

Boxes random_boxes(Random& random, Index3 n, int count) {
  Boxes boxes;
  for (int i = 0; i < count; ++i) boxes.boxes.push_back(random_box(random, n));
  return boxes;
}

Points random_points(Random& random, Index3 n, int count) {
  Points points;
  for (int i = 0; i < count; ++i)
    points.points.push_back({pick(random, 0, n.x - 1), pick(random, 0, n.y - 1), pick(random, 0, n.z - 1)});
  return points;
}

/// Writes the values of all ranks into arrays by the plan's runs and compares them with the definition of the
/// selection.
void check_selection(const Selection& selection, Index3 domain, const std::vector<Box>& own_boxes) {
  const Cadence cadence{.first = 1, .every = 1, .last = 2};
  std::vector<std::vector<double>> found(pattern::part_count(selection));
  for (std::size_t part = 0; part < found.size(); ++part)
    found[part].assign(pattern::part_points(selection, part, domain).size(), -1);
  for (const Box& own : own_boxes) {
    const Plan plan = make_plan(
        {pattern::make_stream("s", selection, Reduction::none, cadence, h5::ElementType::float64, domain)},
        own, domain);
    pattern::Field<float> field(own);
    field.set(7);
    for (const auto& share : plan.streams.at(0).shares) {
      std::vector<double> values(static_cast<std::size_t>(share.values));
      pack(field.view(), share, own, 0, share.values, std::as_writable_bytes(std::span(values)));
      std::size_t next = 0;
      std::int64_t end_of_last = -1;
      for (const auto& run : share.runs) {
        REQUIRE(run.offset > end_of_last);  // ascending and not touching: neighbours are merged
        end_of_last = run.offset + run.length;
        for (std::int64_t i = 0; i < run.length; ++i) {
          double& place = found[share.dataset][static_cast<std::size_t>(run.offset + i)];
          REQUIRE(place == -1);
          place = values[next++];
        }
      }
      REQUIRE(next == values.size());
    }
  }
  for (std::size_t part = 0; part < found.size(); ++part) {
    const auto points = pattern::part_points(selection, part, domain);
    for (std::size_t i = 0; i < points.size(); ++i) REQUIRE(found[part][i] == pattern::value(points[i], 7));
  }
}

void check_on_all_layouts(const Selection& selection, Index3 domain) {
  for (const int ranks : {1, 2, 3, 4, 7, 12}) {
    check_selection(selection, domain, pattern::slabs(domain, ranks));
    check_selection(selection, domain, pattern::pencils(domain, ranks));
    check_selection(selection, domain, pattern::one_owner(domain, ranks));
  }
}

Plan plan_of(const Selection& selection, const Box& own, Index3 domain) {
  return make_plan({pattern::make_stream("s", selection, Reduction::none, {.first = 1, .every = 1, .last = 3},
                                         h5::ElementType::float32, domain)},
                   own, domain);
}

std::string message_of(const std::vector<Stream>& streams, Index3 domain) {
  try {
    make_plan(streams, Box::whole(domain), domain);
  } catch (const Error& error) {
    CHECK(error.info().kind == ErrorKind::input);
    return error.what();
  }
  return {};
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("random selections on random domains land where their definition says") {
  Random random(20);
  for (int round = 0; round < 12; ++round) {
    const Index3 domain{pick(random, 1, 13), pick(random, 1, 11), pick(random, 1, 7)};
    check_on_all_layouts(random_boxes(random, domain, 5), domain);
    check_on_all_layouts(random_points(random, domain, 40), domain);
    check_on_all_layouts(Whole{}, domain);
  }
}

TEST_CASE("prime sizes, more ranks than planes, and 256 overlapping boxes") {
  Random random(3);
  const Index3 domain{17, 13, 5};
  check_on_all_layouts(random_boxes(random, domain, 256), domain);
  check_on_all_layouts(Whole{}, domain);
}

TEST_CASE("points may be unsorted and named twice") {
  const Index3 domain{5, 4, 3};
  check_on_all_layouts(Points{{{4, 3, 2}, {0, 0, 0}, {4, 3, 2}, {1, 0, 0}, {0, 0, 0}}}, domain);
}

TEST_CASE("boxes over full rows and planes become one run") {
  const Index3 domain{8, 6, 4};
  const Box slab{{0, 0, 1}, {8, 6, 3}};
  CHECK(plan_of(Whole{}, slab, domain).streams[0].shares[0].runs == std::vector<Run>{{48, 96}});
  const Box part_of_rows{{2, 0, 1}, {8, 6, 3}};
  CHECK(plan_of(Whole{}, part_of_rows, domain).streams[0].shares[0].runs.size() == 12);
  const Box part_of_planes{{0, 3, 0}, {8, 6, 4}};
  CHECK(plan_of(Whole{}, part_of_planes, domain).streams[0].shares[0].runs.size() == 4);
  // Full rows of the box, though not of the domain.
  const Boxes boxes{{{{2, 1, 0}, {5, 4, 4}}}};
  CHECK(plan_of(boxes, slab, domain).streams[0].shares[0].runs == std::vector<Run>{{9, 18}});
}

TEST_CASE("sorted points of a slab become one run") {
  const Index3 domain{16, 16, 16};
  Points points;
  for (std::int64_t z = 0; z < 16; ++z)
    for (std::int64_t y = 3; y < 9; y += 2) points.points.push_back({5, y, z});
  const auto plan = plan_of(points, {{0, 0, 4}, {16, 16, 9}}, domain);
  CHECK(plan.streams[0].shares[0].runs == std::vector<Run>{{12, 15}});
}

TEST_CASE("a rank holds only what it owns") {
  Random random(11);
  const Index3 domain{12, 12, 12};
  const auto boxes = random_boxes(random, domain, 300);
  CHECK(plan_of(boxes, Box{}, domain).streams[0].shares.empty());
  CHECK(plan_of(boxes, Box{}, domain).staging_bytes() == 0);
  const Box corner{{0, 0, 0}, {1, 1, 1}};
  const auto touching = std::count_if(boxes.boxes.begin(), boxes.boxes.end(),
                                      [&](const Box& box) { return !intersect(box, corner).empty(); });
  CHECK(plan_of(boxes, corner, domain).streams[0].shares.size() == static_cast<std::size_t>(touching));
}

TEST_CASE("bytes of buffers and accumulators are known in advance") {
  const Index3 domain{100, 100, 10};
  const Cadence cadence{.first = 1, .every = 1, .last = 5};
  const auto stream = [&](const char* name, Reduction reduction) {
    return pattern::make_stream(name, Whole{}, reduction, cadence, h5::ElementType::float32, domain);
  };
  constexpr std::int64_t whole = 400'000;
  const Plan plan = make_plan(
      {stream("raw", Reduction::none), stream("more", Reduction::none), stream("max", Reduction::max),
       stream("rms", Reduction::rms), stream("last", Reduction::final)},
      Box::whole(domain), domain);
  CHECK(plan.step_bytes() == 2 * whole);
  CHECK(plan.staging_bytes() == 3 * whole);  // the reductions are written through the same buffers
  CHECK(plan.accumulator_bytes() == whole + 2 * whole);
  CHECK(plan.total_bytes() == 2 * 5 * whole + 3 * whole);
  CHECK(plan.file_bytes() == plan.total_bytes());
  CHECK(plan.memory_bytes(3) >= 3 * 3 * whole + 3 * whole);
  CHECK(plan.memory_bytes(3) < 3 * 3 * whole + 3 * whole + 4000);
  CHECK(contains(to_string(plan), "rms: p (rms), steps 1 to 5 by 1"));
}

TEST_CASE("buffers hold several steps where single samples would make small writes, within limits") {
  const Index3 domain{256, 256, 256};
  const auto steps = [&](const Selection& selection, const Box& own) {
    return plan_of(selection, own, domain).steps_per_buffer();
  };
  const Box all = Box::whole(domain);
  CHECK(steps(Points{{{1, 2, 3}}}, all) == 64);                // 4 bytes: as many as ever
  CHECK(steps(Boxes{{{{0, 0, 0}, {32, 16, 16}}}}, all) == 4);  // 32 KiB
  CHECK(steps(Boxes{{{{0, 0, 0}, {32, 32, 32}}}}, all) == 1);  // 128 KiB
  CHECK(steps(Whole{}, {{0, 0, 0}, {256, 256, 64}}) == 1);     // 16 MiB
  CHECK(steps(Boxes{{{{0, 0, 0}, {8, 8, 8}}}}, {{0, 0, 0}, {256, 256, 4}}) == 64);  // half of 2 KiB
  CHECK(steps(Points{{{1, 2, 3}}}, Box{}) == 1);
  Boxes boxes;  // 256 boxes of 64 KiB: two steps would do, and fill the 32 MiB that are allowed
  for (std::int64_t i = 0; i < 256; ++i) boxes.boxes.push_back({{0, 0, i % 128}, {64, 64, i % 128 + 4}});
  CHECK(steps(boxes, all) == 2);
  boxes.boxes.push_back(boxes.boxes[0]);
  CHECK(steps(boxes, all) == 1);
}

TEST_CASE("all that is wrong with the streams is reported together") {
  const Index3 domain{10, 8, 6};
  const Cadence cadence{.first = 1, .every = 1, .last = 4};
  auto points = pattern::make_stream("points", Points{{{0, 0, 0}, {10, 0, 0}, {0, -1, 0}}}, Reduction::none,
                                     cadence, h5::ElementType::float32, domain);
  auto boxes = pattern::make_stream("boxes", Boxes{{{{0, 0, 0}, {2, 2, 7}}, {{3, 3, 3}, {3, 4, 4}}}},
                                    Reduction::none, cadence, h5::ElementType::float32, domain);
  auto shape =
      pattern::make_stream("shape", Whole{}, Reduction::max, cadence, h5::ElementType::float32, domain);
  shape.datasets[0].shape = {4, 480};
  auto type = pattern::make_stream("type", Whole{}, Reduction::max, cadence, h5::ElementType::int64, domain);
  auto count =
      pattern::make_stream("count", Whole{}, Reduction::max, cadence, h5::ElementType::float32, domain);
  count.datasets.push_back(count.datasets[0]);
  auto every =
      pattern::make_stream("every", Whole{}, Reduction::max, cadence, h5::ElementType::float32, domain);
  every.cadence.every = 0;
  const auto message = message_of({points, boxes, shape, type, count, every, type}, domain);
  CHECK(contains(message, "2 points lie outside the domain, first point number 1 at (x=10, y=0, z=0)"));
  CHECK(contains(message, "box 0 from (x=0, y=0, z=0) up to (x=2, y=2, z=7), exclusive reaches outside"));
  CHECK(contains(message, "box 1 from"));
  CHECK(contains(message,
                 "dataset /shape of shape (4, 480) has 1920 elements, but 1 samples of 480 values come"));
  CHECK(contains(message, "dataset /type has elements of 64-bit integer"));
  CHECK(contains(message, "2 datasets for 1 parts"));
  CHECK(contains(message, "samples every 0 steps"));
  CHECK(contains(message, "dataset /type is named twice"));
}

TEST_CASE("make_stream and of_list refuse cadences without an end or a distance") {
  const auto refusal = [](const Cadence& cadence, const Selection& selection = Whole{}) {
    return test::error_info_of([&] {
             make_stream("p", "p", selection, cadence, Reduction::none, {2, 2, 2});
           })
        .message;
  };
  CHECK(refusal({.first = 1, .every = 0, .last = 4}).find("samples every 0 steps") != std::string::npos);
  CHECK(refusal({.last = Cadence::open_end}).find("no last step") != std::string::npos);
  CHECK(refusal({.last = 1}, Boxes{}).find("0 boxes") != std::string::npos);
  CHECK(refusal({.last = 1}).empty());
  CHECK(test::error_info_of([] { Cadence::of_list({}); }).message == "a cadence of no steps");
}
