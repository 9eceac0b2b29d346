// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <cfloat>
#include <cmath>
#include <limits>

#include "output/core/accumulator.hpp"
#include "output/core/pack.hpp"
#include "output_pattern.hpp"

using namespace tailrace;
using namespace tailrace::output;

namespace {

/// The only share of a stream on one rank that owns the domain.
Share share_of(const Selection& selection, Index3 domain, h5::ElementType type) {
  const Plan plan = make_plan({pattern::make_stream("s", selection, Reduction::max,
                                                    {.first = 1, .every = 1, .last = 9}, type, domain)},
                              Box::whole(domain), domain);
  return plan.streams.at(0).shares.at(0);
}

template <class T, class Field>
std::vector<T> reduced(const Share& share, Reduction reduction, const std::vector<Field>& samples,
                       Index3 domain) {
  Accumulator accumulator(share, reduction);
  for (const auto& sample : samples)
    accumulator.add({.data = sample.data(),
                     .type = h5::element_type_of<typename Field::value_type>(),
                     .box = Box::whole(domain),
                     .stride_y = domain.x,
                     .stride_z = domain.x * domain.y},
                    Box::whole(domain));
  std::vector<T> out(static_cast<std::size_t>(share.values));
  // In two batches, as a small staging buffer would ask for them.
  const auto all = std::as_writable_bytes(std::span(out));
  const auto half = share.values / 2;
  const auto samples_taken = static_cast<std::int64_t>(samples.size());
  accumulator.result(samples_taken, 0, half, all.first(static_cast<std::size_t>(half) * sizeof(T)));
  accumulator.result(samples_taken, half, share.values - half,
                     all.subspan(static_cast<std::size_t>(half) * sizeof(T)));
  return out;
}

}  // namespace

TEST_CASE("reductions of known samples") {
  const Index3 domain{3, 1, 1};
  const std::vector<std::vector<float>> samples{{1, -2, 5}, {3, -4, 5}, {-1, 0, 5}};
  const auto share = share_of(Whole{}, domain, h5::ElementType::float32);
  CHECK(reduced<float>(share, Reduction::max, samples, domain) == std::vector<float>{3, 0, 5});
  CHECK(reduced<float>(share, Reduction::min, samples, domain) == std::vector<float>{-1, -4, 5});
  CHECK(reduced<float>(share, Reduction::mean, samples, domain) == std::vector<float>{1, -2, 5});
  const auto rms = reduced<float>(share, Reduction::rms, samples, domain);
  CHECK(rms[0] == static_cast<float>(std::sqrt(11.0 / 3)));
  CHECK(rms[1] == static_cast<float>(std::sqrt(20.0 / 3)));
  CHECK(rms[2] == 5);
}

TEST_CASE("extremes start at the ends of single precision, as in k-Wave, and pass over NaN") {
  const Index3 domain{2, 1, 1};
  const auto share = share_of(Whole{}, domain, h5::ElementType::float64);
  const std::vector<std::vector<float>> nothing{{NAN, NAN}};
  CHECK(reduced<double>(share, Reduction::max, nothing, domain)[0] == -static_cast<double>(FLT_MAX));
  CHECK(reduced<double>(share, Reduction::min, nothing, domain)[0] == static_cast<double>(FLT_MAX));
}

TEST_CASE("sums of squares are kept in double precision") {
  const Index3 domain{1, 1, 2};
  const auto share = share_of(Whole{}, domain, h5::ElementType::float32);
  std::vector<std::vector<float>> samples(2000, {0.1F, 1e-3F});
  samples[0] = {1e4F, 1e4F};
  const auto rms = reduced<float>(share, Reduction::rms, samples, domain);
  const auto square = [](float v) { return static_cast<double>(v) * static_cast<double>(v); };
  CHECK(rms[0] == static_cast<float>(std::sqrt((1e8 + 1999 * square(0.1F)) / 2000)));
  CHECK(rms[1] == static_cast<float>(std::sqrt((1e8 + 1999 * square(1e-3F)) / 2000)));
}

TEST_CASE("fields and files of either precision, points and boxes, in one or many threads") {
  const Index3 domain{40, 30, 20};  // large enough for several threads
  const Points points{{{39, 29, 19}, {0, 0, 0}, {7, 3, 11}, {0, 0, 0}}};
  for (const Selection& selection :
       {Selection(Whole{}), Selection(points), Selection(Boxes{{{{1, 2, 3}, {38, 29, 17}}}})}) {
    const auto places = pattern::part_points(selection, 0, domain);
    const auto share = share_of(selection, domain, h5::ElementType::float32);
    pattern::Field<double> field(Box::whole(domain));
    Accumulator max(share, Reduction::max);
    for (StepIndex step = 0; step < 3; ++step) {
      field.set(step);
      max.add(field.view(), Box::whole(domain));
    }
    std::vector<float> out(places.size()), packed(places.size());
    max.result(3, 0, share.values, std::as_writable_bytes(std::span(out)));
    pack(field.view(), share, Box::whole(domain), 0, share.values, std::as_writable_bytes(std::span(packed)));
    for (std::size_t i = 0; i < places.size(); ++i) {
      REQUIRE(out[i] == pattern::value(places[i], 2));
      REQUIRE(packed[i] == out[i]);
    }
  }
}

TEST_CASE("any extent of a share can be packed alone") {
  const Index3 domain{7, 5, 3};
  const auto share = share_of(Boxes{{{{1, 1, 0}, {6, 4, 3}}}}, domain, h5::ElementType::float32);
  const auto places = pattern::part_points(Boxes{{{{1, 1, 0}, {6, 4, 3}}}}, 0, domain);
  pattern::Field<float> field(Box::whole(domain));
  field.set(1);
  for (std::int64_t first = 0; first < share.values; ++first)
    for (std::int64_t count = 0; first + count <= share.values; ++count) {
      std::vector<float> out(static_cast<std::size_t>(count));
      pack(field.view(), share, Box::whole(domain), first, count, std::as_writable_bytes(std::span(out)));
      for (std::size_t i = 0; i < out.size(); ++i)
        REQUIRE(out[i] == pattern::value(places[static_cast<std::size_t>(first) + i], 1));
    }
}
