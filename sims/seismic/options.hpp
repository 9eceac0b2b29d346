// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "solver.hpp"
#include "tailrace/run/program.hpp"

namespace tailrace::seismic {

extern const run::ProgramInfo program_info;

/// Values in a file that a case names, as "FILE:/DATASET", or as "FILE" where the file holds one array.
struct DatasetName {
  std::string key;  ///< refers to the case
  std::string file;
  std::string dataset;  ///< empty for a file of one array
};

/// A property of the medium as the case gives it.
struct PropertyText {
  std::string key;
  double value = 0;
  std::optional<DatasetName> dataset;  ///< one value per point instead
};

/// The medium as the case gives it.
struct ModelTexts {
  PropertyText vp_m_s{"model.vp_m_s", 0, {}}, epsilon{"model.epsilon", 0, {}}, delta{"model.delta", 0, {}},
      dip_rad{"model.dip_rad", 0, {}}, azimuth_rad{"model.azimuth_rad", 0, {}}, sigma{"model.sigma", 0, {}};
  std::optional<PropertyText> vs_m_s;
};

/// Sources that share a wavelet.
struct SourceTexts {
  std::vector<Index3> cells;
  std::vector<double> amplitudes, delays_s;  ///< one per cell
  double cutoff_hz = 0;
  std::optional<std::vector<double>> samples;  ///< instead of the Ricker wavelet
  std::optional<DatasetName> dataset;          ///< the same, in a file
};

/// All that a user decides about a run.
struct Options : run::CaseOptions {
  Problem problem;  ///< without properties and sources that files hold
  ModelTexts model;
  SourceTexts sources;
  std::string proxy_form;  ///< ISO, VTI or TTI on a command line of the public programs; else empty
  std::vector<std::string> receivers;  ///< outputs that become SEG-Y files too
};

/// Reads the command line, and the case file it names. @local
/// Errors: (usage) a bad command line; (input) a bad case; all problems together.
std::variant<Options, run::Notice> parse_options(int argc, const char* const* argv);

}  // namespace tailrace::seismic
