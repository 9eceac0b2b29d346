// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "configuration.hpp"
#include "words.hpp"

namespace tailrace::molecules {

namespace {

/// Words of special ensembles and of sampling that have no effect here, and such without which the physics
/// would be another.
constexpr std::array without_effect{"initCanonical",
                                    "initStatistics",
                                    "initGrandCanonical",
                                    "RDF",
                                    "RDFOutputTimesteps",
                                    "RDFOutputPrefix",
                                    "profile",
                                    "profileRecordingTimesteps",
                                    "profileOutputTimesteps",
                                    "profiledComponent",
                                    "profileOutputPrefix",
                                    "planckConstant",
                                    "collectThermostatDirectedVelocity",
                                    "tersoffCutoffRadius"};
constexpr std::array refused{"accelerate",  "constantAccelerationTimesteps",
                             "zetaFlow",    "tauPrimeFlow",
                             "zOscillator", "chemicalPotential"};

/// The kinds of phase-space files by their names, with the number of their files.
struct Kind {
  const char* name;
  PhaseSpaceFormat format;
  bool has_header;
};
constexpr std::array kinds{
    Kind{"OldStyle", PhaseSpaceFormat::ascii, false}, Kind{"Binary", PhaseSpaceFormat::binary, true},
    Kind{"PnetCDF", PhaseSpaceFormat::netcdf, true}, Kind{"MPI-IO", PhaseSpaceFormat::cells, true}};

template <class List>
bool holds(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

class Reader {
 public:
  Reader(const std::string& text, const std::string& path) : words_(words_of(text)), problems_(path) {
    result_.path = path;
  }

  Configuration read() {
    if (words_.empty() || words_[0].text != "MDProjectConfig") {
      problems_.add("does not begin as a configuration", "MDProjectConfig as the first word");
      problems_.throw_if_any();
    }
    for (at_ = 1; at_ < words_.size();) read_entry();
    if (result_.model.lj_cutoff == 0) result_.model.lj_cutoff = result_.model.cutoff;
    check_configuration(result_, problems_);
    problems_.throw_if_any();
    return result_;
  }

 private:
  void problem(const std::string& what, const std::string& fix) {
    problems_.add(fmt::format("line {}: {}", line_, what), fix);
  }

  /// Returns whether a word follows in the same line.
  [[nodiscard]] bool more_in_line() const { return at_ < words_.size() && words_[at_].line == line_; }
  std::string_view word(const char* what) {
    if (more_in_line()) return words_[at_++].text;
    problem(fmt::format("{} wants {}", key_, what), "");
    return {};
  }
  template <class T>
  T number(const char* what) {
    const auto text = word(what);
    const auto value = number_in<T>(text);
    if (!value && !text.empty()) problem(fmt::format("{}: {} is no number", key_, text), what);
    return value.value_or(T{});
  }
  void skip_line() {
    while (more_in_line()) ++at_;
  }

  void read_entry() {
    key_ = words_[at_].text;
    line_ = words_[at_++].line;
    auto& model = result_.model;
    if (key_ == "timestepLength") {
      result_.dt = number<double>("the time step");
    } else if (key_ == "cutoffRadius") {
      model.cutoff = number<double>("the cutoff");
    } else if (key_ == "LJCutoffRadius") {
      model.lj_cutoff = number<double>("the cutoff of Lennard-Jones centres");
    } else if (key_ == "phaseSpaceFile") {
      read_start();
    } else if (key_ == "parallelization" || key_ == "parallelisation") {
      read_parallelisation();
    } else if (key_ == "datastructure") {
      read_cells();
    } else if (key_ == "output") {
      read_output();
    } else if (key_ == "NVE") {
      result_.temperature = 0;
    } else if (holds(without_effect, key_)) {
      result_.warnings.push_back(fmt::format("{}: line {}: {} has no effect", result_.path, line_, key_));
      skip_line();
    } else if (holds(refused, key_)) {
      problem(fmt::format("{}: this kind of ensemble is not known here", key_), "leave it out");
      skip_line();
    } else {
      problem(fmt::format("unknown word {}", key_), "the words in docs/formats/molecules.md");
      skip_line();
    }
  }

  void read_start() {
    const auto name = word("a kind of file");
    const auto* const kind =
        std::find_if(kinds.begin(), kinds.end(), [&](const auto& one) { return name == one.name; });
    if (kind == kinds.end()) {
      problem(fmt::format("{}: unknown kind {}", key_, name), "OldStyle, Binary, PnetCDF or MPI-IO");
      return skip_line();
    }
    PhaseSpaceFiles files{.format = kind->format, .header = {}, .data = {}};
    if (kind->has_header) files.header = beside(result_.path, std::string(word("the name of the header")));
    files.data = beside(result_.path, std::string(word("the name of the file")));
    result_.start = files;
  }

  void read_parallelisation() {
    const auto name = word("a decomposition");
    auto& parallel = result_.parallelisation;
    if (name == "KDDecomposition") {
      parallel.division = Configuration::Division::kd;
      if (more_in_line()) parallel.every = number<std::int64_t>("steps between updates");
      if (more_in_line()) parallel.full_search_ranks = number<int>("a number of ranks");
    } else if (name != "DomainDecomposition" && !name.empty()) {
      problem(fmt::format("{}: unknown decomposition {}", key_, name),
              "DomainDecomposition or KDDecomposition");
      skip_line();
    }
  }

  void read_cells() {
    const auto name = word("LinkedCells or AdaptiveSubCells");
    if (name == "LinkedCells") {
      if (more_in_line()) result_.cells_per_cutoff = number<int>("cells per cutoff");
      if (result_.cells_per_cutoff && *result_.cells_per_cutoff < 1)
        problem("cells per cutoff: at least one", "1");
    } else if (name == "AdaptiveSubCells") {
      skip_line();
    } else if (!name.empty()) {
      problem(fmt::format("{}: unknown data structure {}", key_, name), "LinkedCells or AdaptiveSubCells");
      skip_line();
    }
  }

  void read_output() {
    Configuration::Output output;
    output.name = word("a writer");
    output.every = number<std::int64_t>("steps between outputs");
    output.prefix = word("the prefix of its files");
    if (output.every < 1) problem(fmt::format("output {}: at least every step", output.name), "1 or more");
    result_.outputs.push_back(output);
  }

  std::vector<Word> words_;
  Problems problems_;
  Configuration result_;
  std::size_t at_ = 0;
  std::string_view key_;
  int line_ = 0;
};

}  // namespace

Configuration read_old_configuration(const std::string& text, const std::string& path) {
  return Reader(text, path).read();
}

}  // namespace tailrace::molecules
