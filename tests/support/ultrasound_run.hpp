// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "h5/file.hpp"
#include "program.hpp"

/// Runs of the ultrasound program within a test, and comparisons of what they wrote with a reference.
namespace tailrace::ultrasound::test {

/// The program's exit status for these words after its name. @collective{comm}
inline int run(mpi::CommView comm, std::vector<std::string> words) {
  words.insert(words.begin(), "tailrace-ultrasound");
  words.emplace_back("--quiet");
  std::vector<const char*> argv;
  for (const auto& word : words) argv.push_back(word.c_str());
  return run_program(comm, static_cast<int>(argv.size()), argv.data());
}

inline std::vector<double> values_of(const h5::File& file, const std::string& path) {
  std::vector<double> values(h5::element_count(file.shape(path)));
  file.read<double>(path, values);
  return values;
}

inline double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double v : values) most = std::max(most, std::abs(v));
  return most;
}

/// Largest value of a stream: for velocities and intensities of all components.
inline double scale_of(const h5::File& reference, const std::string& path) {
  if (path[0] != 'u' && path[0] != 'I') return largest(values_of(reference, path));
  double most = 0;
  for (const char axis : {'x', 'y', 'z'}) {
    std::string component = path;
    component[1] = axis;
    if (reference.has_dataset(component)) most = std::max(most, largest(values_of(reference, component)));
  }
  return most;
}

/// Largest difference of a dataset relative to its stream; values that are not finite count as 1e30.
inline double difference(const h5::File& reference, const h5::File& output, const std::string& path) {
  CHECK_MESSAGE(reference.shape(path) == output.shape(path), path);
  const auto a = values_of(reference, path), b = values_of(output, path);
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::isfinite(b[i]) ? std::abs(a[i] - b[i]) : 1e30);
  return most / scale_of(reference, path);
}

/// Returns what single precision is allowed: more for final fields, where most of the wave has left the grid.
inline double limit_for(const std::string& path) {
  return path.find("final") == std::string::npos ? 1e-5 : 1e-4;
}

}  // namespace tailrace::ultrasound::test
