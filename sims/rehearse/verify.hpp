// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formula.hpp"
#include "particle_formula.hpp"
#include "tailrace/file_content.hpp"
#include "tailrace/stream.hpp"

namespace tailrace::rehearse {

/// Returns what a rehearsal writes beside its samples, so that its file can be verified by itself.
output::FileHead make_head(const Formula& formula, const std::vector<output::Stream>& streams,
                           const std::optional<ParticleFormula>& particle_formula = {});
/// Says that the run ended in good order after `steps_done` steps, and which checksum its particles had then.
output::FileTail make_tail(StepIndex steps_done, std::optional<std::uint64_t> particle_sum = {});
/// Paths that these take.
std::vector<std::string> head_paths();

/// A value that is not the one of the formula.
struct Mismatch {
  std::string dataset;
  std::vector<std::int64_t> index;  ///< refers to the element
  Index3 point;
  StepIndex step = 0;
  double expected = 0, found = 0;
};

/// Describes what a look at every value of a file found.
struct Verdict {
  std::string path;
  std::int64_t datasets = 0, values = 0;   ///< that were compared
  StepIndex steps_done = 0, recorded = 0;  ///< 0 steps done: the run did not end in good order
  std::int64_t samples = 0,
               later = 0;  ///< series: samples that must be there; right ones after the commit mark
  std::int64_t reductions_left_out = 0;  ///< that an unfinished run did not write
  std::int64_t wrong = 0;                ///< values
  std::vector<Mismatch> first;           ///< that of them
  std::vector<std::string> problems;     ///< beside single values

  [[nodiscard]] bool good() const noexcept { return wrong == 0 && problems.empty(); }
};

/// Compares every value of a rehearsal's file with the formula: those up to the commit mark must be there,
/// later ones must be right or 0, or the first bytes of the right one: a killed writer may stop in a value.
/// Rms and mean may differ in the last digits. @local. Errors (input): the file cannot be read, or no
/// rehearsal wrote it.
Verdict verify(const std::string& path);

/// The verdict for people, with the first wrong values.
std::string to_string(const Verdict& verdict);

}  // namespace tailrace::rehearse
