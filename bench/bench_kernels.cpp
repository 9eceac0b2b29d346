// SPDX-License-Identifier: BSD-3-Clause
/// The parts of an ultrasound step one by one: time of each transform with its data in cache and all threads
/// busy, and the bandwidth of the memory. Raw samples go to standard output as JSON; `tailrace bench
/// ultrasound` sets them against the time of a whole step.
#include <fmt/format.h>
#include <omp.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/aligned.hpp"
#include "base/system.hpp"
#include "spectral.hpp"
#include "tailrace/option_parser.hpp"
#include "triad.hpp"

using namespace tailrace;
using namespace tailrace::ultrasound;

namespace {

struct Settings {
  std::vector<std::int64_t> grid{128, 128, 128};
  int threads = 1, samples = 9;
  double sample_s = 0.02;
  std::int64_t triad_array_bytes = std::int64_t{256} << 20;
};

/// Seconds per call of `work(thread)`, called `calls` times by every thread at once.
double time_calls(const std::function<void(int)>& work, std::int64_t calls) {
  double start_s = 0;
#pragma omp parallel
  {
#pragma omp barrier
#pragma omp master
    start_s = monotonic_s();
    for (std::int64_t i = 0; i < calls; ++i) work(omp_get_thread_num());
  }
  return (monotonic_s() - start_s) / static_cast<double>(calls);
}

/// Samples of the time per call, each over about `sample_s` seconds; a first round warms up and is left out.
std::vector<double> sample_calls(const Settings& settings, const std::function<void(int)>& work) {
  const double guess_s = std::max(time_calls(work, 4), 1e-9);
  const auto calls = static_cast<std::int64_t>(std::ceil(settings.sample_s / guess_s));
  time_calls(work, calls);
  std::vector<double> samples;
  for (int i = 0; i < settings.samples; ++i) samples.push_back(time_calls(work, calls));
  return samples;
}

/// Data of one thread. All zeros: the transforms have no branches on values, and zeros stay finite however
/// often an unnormalised transform is repeated in place.
struct Buffers {
  Buffers(const Settings& settings, const PlaneTransform<float>& plane, const ColumnTransform<float>& column)
      : plane_scratch(plane.make_scratch()),
        column_scratch(column.make_scratch()),
        spectrum(static_cast<std::size_t>(plane.pitch() * settings.grid[1]), std::complex<float>{}),
        real(static_cast<std::size_t>(settings.grid[0] * settings.grid[1]), 0.0F),
        block(static_cast<std::size_t>(plane.pitch() * settings.grid[2]), std::complex<float>{}) {}
  FftScratch<float> plane_scratch, column_scratch;
  AlignedVector<std::complex<float>> spectrum;
  AlignedVector<float> real;
  AlignedVector<std::complex<float>> block;
};

void measure_transforms(const Settings& settings, nlohmann::json& result) {
  const auto nx = settings.grid[0], ny = settings.grid[1], nz = settings.grid[2];
  const PlaneTransform<float> plane(nx, ny);
  const ColumnTransform<float> column(nz);
  const std::int64_t pitch = plane.pitch();
  std::vector<Buffers> all;
  for (int i = 0; i < settings.threads; ++i) all.emplace_back(settings, plane, column);
  const auto measure = [&](const char* name, auto call) {
    result[name] = sample_calls(settings, [&](int thread) { call(all[static_cast<std::size_t>(thread)]); });
  };
  measure("plane_forward_s", [&](Buffers& b) {
    plane.forward({b.real.data(), nx}, {b.spectrum.data(), pitch}, ny, b.plane_scratch);
  });
  measure("plane_inverse_s", [&](Buffers& b) {
    plane.inverse({b.spectrum.data(), pitch}, {b.real.data(), nx}, ny, b.plane_scratch);
  });
  measure("column_forward_s",
          [&](Buffers& b) { column.forward(b.block.data(), pitch, pitch, b.column_scratch); });
  measure("column_inverse_s",
          [&](Buffers& b) { column.inverse(b.block.data(), pitch, pitch, b.column_scratch); });
  result["pitch"] = pitch;
  result["column_width"] = pitch;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  OptionParser parser("Times of the transforms of an ultrasound step and bandwidth of the memory, as JSON",
                      "tailrace-bench-kernels");
  parser.option("--grid", settings.grid, "points along x, y and z").values(3).positive();
  parser.option("-t", settings.threads, "threads").within(1, 4096);
  parser.option("--samples", settings.samples, "samples of each time").within(1, 10000);
  parser.option("--sample-time", settings.sample_s, "seconds of one sample of a transform").positive();
  parser.option("--triad-bytes", settings.triad_array_bytes, "size of each array of the bandwidth test")
      .within(std::int64_t{4096}, std::int64_t{1} << 40);
  if (const auto status = parser.read_or_end(argc, argv)) return *status;
  omp_set_num_threads(settings.threads);

  nlohmann::json result{{"grid", settings.grid}, {"threads", settings.threads}};
  measure_transforms(settings, result);
  result["triad_bytes_s"] = bench::triad_bytes_s(settings.triad_array_bytes, settings.samples);
  result["triad_array_bytes"] = settings.triad_array_bytes;
  fmt::print("{}\n", result.dump());
  return 0;
}
