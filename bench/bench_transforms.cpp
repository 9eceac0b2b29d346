// SPDX-License-Identifier: BSD-3-Clause
/// Transforms of single lengths: nanoseconds of CPU time per column of a block of 40, data in cache, one
/// thread; ours, and, where FFTW was found, its estimated and its measured plan of the same block. The ways
/// take turns, so that a machine that is busy is so for all of them. Medians go to standard output as JSON.
#ifdef TAILRACE_HAVE_FFTW
#include <fftw3.h>
#endif
#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <ctime>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/aligned.hpp"
#include "spectral.hpp"
#include "tailrace/option_parser.hpp"

using namespace tailrace;
using namespace tailrace::ultrasound;

namespace {

constexpr std::int64_t width = 40, pitch = 44;
using Block = AlignedVector<std::complex<float>>;

struct Way {
  std::string name;
  std::function<void()> transform;
  std::vector<double> samples;
};

double thread_cpu_s() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

#ifdef TAILRACE_HAVE_FFTW
Way fftw(const char* name, std::int64_t n, Block& block, unsigned flags) {
  const int length = static_cast<int>(n);
  auto* values = reinterpret_cast<fftwf_complex*>(block.data());
  const std::shared_ptr<fftwf_plan_s> plan(
      fftwf_plan_many_dft(1, &length, width, values, nullptr, pitch, 1, values, nullptr, pitch, 1,
                          FFTW_FORWARD, flags),
      fftwf_destroy_plan);
  return {name, [plan] { fftwf_execute(plan.get()); }, {}};
}
#endif

/// Zeros: the transforms have no branches on values, and zeros stay finite.
nlohmann::json measure(std::int64_t n, int samples) {
  Block block(static_cast<std::size_t>(pitch * n));
  const ColumnTransform<float> transform(n);
  auto scratch = transform.make_scratch();
  std::vector<Way> ways{{"tailrace", [&] { transform.forward(block.data(), pitch, width, scratch); }, {}}};
#ifdef TAILRACE_HAVE_FFTW
  ways.push_back(fftw("fftw_estimate", n, block, FFTW_ESTIMATE));
  ways.push_back(fftw("fftw_measure", n, block, FFTW_MEASURE));
#endif
  std::fill(block.begin(), block.end(), std::complex<float>{});
  const auto calls = std::max<std::int64_t>(2, 400000 / (n * width));
  for (int sample = 0; sample <= samples; ++sample)
    for (auto& way : ways) {
      const double start_s = thread_cpu_s();
      for (std::int64_t i = 0; i < calls; ++i) way.transform();
      if (sample > 0) way.samples.push_back((thread_cpu_s() - start_s) / static_cast<double>(calls * width));
    }
  nlohmann::json found{{"n", n}};
  for (auto& way : ways) {
    std::sort(way.samples.begin(), way.samples.end());
    found[way.name + "_ns"] = 1e9 * way.samples[way.samples.size() / 2];
  }
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::int64_t> lengths{64,  72,  80,  96,  100, 108, 120, 125, 127, 128, 135, 144,
                                    160, 162, 176, 192, 208, 243, 256, 343, 384, 480, 512, 1024};
  int samples = 25;
  OptionParser parser("CPU time of transforms of single lengths, as JSON", "tailrace-bench-transforms");
  parser.option("lengths", lengths, "lengths to measure").within(1, 1 << 20);
  parser.option("--samples", samples, "samples of each time").within(1, 10000);
  if (const auto status = parser.read_or_end(argc, argv)) return *status;
  nlohmann::json results = nlohmann::json::array();
  for (const auto n : lengths) results.push_back(measure(n, samples));
  fmt::print("{}\n", results.dump(1));
  return 0;
}
