// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tailrace/option_parser.hpp"

/// The keys of cases, each stated once: what reads a case, the defaults in run.json, the reference page, the
/// template of a case and the JSON schema for editors all come from these tables.
namespace tailrace::run {

/// The value that a key takes. `any` represents one that a function of the simulation reads.
enum class KeyType { boolean, integer, real, text, file, texts, files, integers, reals, integer_lists, any };

/// Accepted values of a number.
struct Limits {
  double least = std::numeric_limits<double>::lowest(), most = std::numeric_limits<double>::max();
};

/// One key of a case.
struct Key {
  std::string name;  ///< with its table, "time.steps"; in a list of tables "output[].every"
  KeyType type = KeyType::text;
  std::string meaning;               ///< for people, in Markdown, without the limits and the default
  std::string fallback{};            ///< the default, texts without quotes; empty: there is none
  std::string otherwise{};           ///< says what holds instead of a default, in words
  Limits limits{};                   ///< refers to a number, or of each in a list
  std::vector<std::string> words{};  ///< the only texts that are accepted; empty: any
  std::string fix{};  ///< says how a value is written, such as `steps = 600`; shown where it is missing
  bool required = false;
  std::string now{};  ///< the key that it is the older name of; empty: it is current

  /// The default as TOML writes it; empty if there is none.
  [[nodiscard]] std::string toml_fallback() const;
};

/// All keys that a program knows.
struct CaseSchema {
  std::string simulation;
  std::vector<Key> keys;

  /// The row of a key, which may name an element of a list of tables: "output[0].every"; null if there is
  /// none.
  [[nodiscard]] const Key* find(const std::string& key) const;
  /// The same. Errors (internal): there is none, so that nothing can be read that is not stated.
  [[nodiscard]] const Key& at(const std::string& key) const;
};

/// The schema of a simulation: its own keys among those that all have. `quantities` are what [[output]] may
/// name. @local
CaseSchema make_schema(const std::string& simulation, const std::vector<std::string>& quantities,
                       std::vector<Key> own);

/// A case with all keys, of which those that need not be there are commented out. @local
std::string case_template(const CaseSchema& schema);
/// The JSON Schema (draft 7) of a case, for editors. @local
nlohmann::ordered_json json_schema(const CaseSchema& schema);

struct RunWords;
/// Adds --case-template and --case-schema to the options of a program; `words` outlives the parser.
void add_schema_options(OptionParser& parser, RunWords& words);
/// Returns what to print for them, if one of them is given. @local
std::optional<std::string> answer_schema(const RunWords& words, const CaseSchema& schema);

}  // namespace tailrace::run
