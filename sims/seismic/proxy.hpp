// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "options.hpp"

/// The command line of the public Fletcher programs, and what they print.
namespace tailrace::seismic {

/// The settings of a case that mean the same as FORM NX NY NZ ABSORB DX DY DZ DT TMAX [WRITERS].
/// Errors (usage): another number of words, an unknown form, words that are no numbers.
std::vector<std::string> proxy_settings(const std::vector<std::string>& words);

/// Has the fields of a problem show the layer of the boundary and the halo of zeros around it, as the arrays
/// of these programs do.
void show_everything(Problem& problem) noexcept;

/// Returns what they print before the first step, with the time step that they advise.
std::string proxy_summary(const Options& options, double speed_m_s);

/// Describes how a run went.
struct ProxyResult {
  std::int64_t started_ns = 0, ended_ns = 0;  ///< since 1970
  double computed_s = 0, total_s = 0;
  double samples = 0;
  std::int64_t peak_memory_bytes = 0;  ///< refers to the rank that took most
};
/// Returns what they print in the end; the last line has commas between its values.
std::string proxy_result(const Options& options, const ProxyResult& result);

}  // namespace tailrace::seismic
