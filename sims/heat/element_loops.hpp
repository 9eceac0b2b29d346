// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <utility>

#include "base/system.hpp"
#include "elements.hpp"

/// Loops over batches that the sources of elements share.
namespace tailrace::heat {

template <class Body>
void Elements::for_each_batch(Body body) {
  const auto count = static_cast<std::int64_t>(batches());
#pragma omp parallel for schedule(static)
  for (std::int64_t b = 0; b < count; ++b) body(static_cast<std::size_t>(b));
}

template <class Body>
void Elements::for_each_batch(std::span<const std::uint32_t> some, Body body) {
  const auto count = static_cast<std::int64_t>(some.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i) body(std::size_t{some[static_cast<std::size_t>(i)]});
}

template <class Body>
void Elements::overlap(const std::vector<std::uint32_t>& some, exchange::Flight flight, double& seconds,
                       Body body) {
  constexpr std::size_t parts = 4;  // between which messages are looked after
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t begin = some.size() * part / parts, end = some.size() * (part + 1) / parts;
    for_each_batch(std::span(some).subspan(begin, end - begin), body);
    const double start_s = monotonic_s();
    flight.progress();
    seconds += monotonic_s() - start_s;
  }
  finish(flight, seconds);
}

template <class Body>
void Elements::exchange_around(std::vector<double>& mortar_values, std::vector<double>& sums, Body body) {
  overlap(early_, begin_gather(mortar_values), phases_.gather_s, body);
  for_each_batch(rim_, body);
  overlap(late_, begin_scatter(sums), phases_.scatter_s, body);
}

template <class Body>
void Elements::for_each_lane(std::size_t batch, Body body) const {
  const std::size_t first = batch * batch_elements, count = std::min(batch_elements, elements() - first);
  for (std::size_t lane = 0; lane < count; ++lane) body(first + lane, lane);
}

}  // namespace tailrace::heat
