// SPDX-License-Identifier: BSD-3-Clause
#include "triad.hpp"

#include "base/aligned.hpp"
#include "base/system.hpp"

namespace tailrace::bench {

std::vector<double> triad_bytes_s(std::int64_t array_bytes, int samples) {
  const auto n = array_bytes / static_cast<std::int64_t>(sizeof(float));
  AlignedVector<float> a(static_cast<std::size_t>(n)), b(a.size()), c(a.size());
  float* const to = a.data();
  float *const from = b.data(), *const other = c.data();
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) {
    to[i] = 0;
    from[i] = 1;
    other[i] = 2;
  }
  std::vector<double> rates;
  for (int round = 0; round <= samples; ++round) {
    const double start_s = monotonic_s();
#pragma omp parallel for simd schedule(static)
    for (std::int64_t i = 0; i < n; ++i) to[i] = from[i] + 3.0F * other[i];
    const double rate = 4 * static_cast<double>(array_bytes) / (monotonic_s() - start_s);
    if (round > 0) rates.push_back(rate);
  }
  return rates;
}

}  // namespace tailrace::bench
