// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tailrace/box.hpp"
#include "tailrace/error.hpp"
#include "tailrace/run/case_schema.hpp"

namespace tailrace::run {

/// A case: a TOML file with overrides from the command line, whose keys a schema states. Reading a key marks
/// it as known; `finish` reports every key that nobody asked for, together with all other problems. Keys are
/// written with dots ("record.p_max"), elements of lists of tables with their number ("output[0].name").
class CaseFile {
 public:
  /// Reads `path` and applies "key=value" overrides, whose values are read as TOML and otherwise taken as
  /// text. The schema outlives the case. Errors (input): unreadable file, TOML syntax with line and column,
  /// an override without "=".
  static CaseFile read(const std::string& path, const std::vector<std::string>& overrides,
                       const CaseSchema& schema);
  /// A case without a file, for native inputs: only overrides.
  static CaseFile from_overrides(const std::string& subject, const std::vector<std::string>& overrides,
                                 const CaseSchema& schema);

  CaseFile(CaseFile&&) noexcept;
  CaseFile& operator=(CaseFile&&) noexcept;
  ~CaseFile();

  /// The value of a key; if it is absent, its default, which `resolved` says then, or nothing if it has
  /// none. A value of another type or outside the limits becomes a problem, and so does the absence of a
  /// required one.
  std::optional<bool> boolean(const std::string& key);
  std::optional<std::int64_t> integer(const std::string& key);
  std::optional<double> real(const std::string& key);
  std::optional<std::string> text(const std::string& key);
  std::optional<std::vector<std::string>> texts(const std::string& key);
  std::optional<std::vector<std::int64_t>> integers(const std::string& key);
  std::optional<std::vector<double>> reals(const std::string& key);
  std::optional<std::vector<std::vector<std::int64_t>>> integer_lists(const std::string& key);
  /// As `text` and `texts`, for file names: relative ones are taken from the directory of the case file.
  std::optional<std::string> file_name(const std::string& key);
  std::optional<std::vector<std::string>> file_names(const std::string& key);
  /// As `text`, for the name of a file to be written below the run directory: one that leads out of it
  /// becomes a problem, unless `allow_outside` was called.
  std::optional<std::string> output_name(const std::string& key);
  void allow_outside() noexcept;
  /// The position of a text among those that the schema accepts; 0 if it is absent or wrong.
  std::size_t choice(const std::string& key);
  /// How many steps of `dt` to compute: "time.steps", or as many as reach the time of `end_key`. Neither,
  /// both, or a number that nobody can compute becomes a problem, and 1 is returned. `dt_name` is in its
  /// words.
  StepIndex steps(const std::string& end_key, const char* dt_name, double dt);
  /// A key that goes with other choices than this case's: known, and a problem if it is there. Returns
  /// whether it is.
  bool refuse(const std::string& key, const std::string& what, const std::string& fix);
  /// Number of tables that are under [[key]]; their keys are written "key[0].name". Something else than
  /// tables there becomes a problem.
  std::size_t tables(const std::string& key);
  /// The names in a table, without reading any; empty if there is no table at the key.
  [[nodiscard]] std::vector<std::string> names(const std::string& key) const;
  /// Returns whether the case has the key, whatever it holds; this does not make it known.
  [[nodiscard]] bool has(const std::string& key) const;
  /// Returns whether it holds a text there; this does not make it known.
  [[nodiscard]] bool is_text(const std::string& key) const;
  /// A file name as the case means it: a relative one is taken from the directory of the case file.
  [[nodiscard]] std::string resolve_file_name(const std::string& name) const;

  /// For the reader of the case: something is wrong with a key, or, if it is empty, as `what` says by itself.
  void add_problem(const std::string& key, const std::string& what, const std::string& fix);
  /// Runs a parser; the error that it throws becomes a problem of the case.
  template <class Parse>
  void try_to(const Parse& parse) {
    try {
      parse();
    } catch (const Error& error) {
      add_problem("", error.info().message, error.info().hint);
    }
  }
  /// A value for `finish` to set where the case left it open, so that `resolved` is complete.
  void set_default(const std::string& key, const std::string& toml_value);

  /// Three numbers of points as a grid; a problem of the key, and nothing, if they make none that can be.
  std::optional<Index3> grid(const std::string& key, const std::vector<std::int64_t>& points);

  /// Throws an `Error` (input) with all problems and all unknown keys, the nearest known key named beside
  /// each.
  void finish();
  /// The whole case after overrides and defaults.
  [[nodiscard]] nlohmann::json resolved() const;

 private:
  struct State;
  template <class T, class Take>
  std::optional<T> value(const std::string& key, const Take& take, const std::string& what,
                         const std::string& fix);
  void add_unknown_key(const std::string& key);
  explicit CaseFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tailrace::run
