// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tailrace {

/// Says more of an option, in a chain behind the call that added it; each function returns the same option.
/// All of it @local.
class Option {
 public:
  explicit Option(CLI::Option* option) noexcept : option_(option) {}

  /// Heading under which --help lists it.
  Option group(const std::string& heading) const;
  /// The word for its value in --help, such as FILE.
  Option type(const std::string& word) const;
  /// Bounds of each of its values, which belong to them.
  Option within(double least, double most) const;
  Option within(std::integral auto least, std::integral auto most) const {
    return within_integers(static_cast<std::int64_t>(least), static_cast<std::int64_t>(most));
  }
  Option positive() const;
  Option not_negative() const;
  /// The only words that it takes.
  Option one_of(const std::vector<std::string>& words) const;
  /// The only words are the names in a table, which has pairs of a name and what it means.
  template <class Table>
  Option name_in(const Table& table) const {
    std::vector<std::string> names;
    for (const auto& entry : table) names.push_back(entry.first);
    return one_of(names);
  }
  /// How many values it takes at once.
  Option values(int count) const;
  /// It takes one value each time that it is given, and keeps all.
  Option repeated() const;
  Option required() const;
  /// It is an error without the other one.
  Option needs(const Option& other) const;

 private:
  [[nodiscard]] Option within_integers(std::int64_t least, std::int64_t most) const;
  CLI::Option* option_;
};

/// How an option is written on a command line.
struct OptionForm {
  std::string short_name;  ///< one letter, or empty
  std::string long_name;   ///< without the dashes, or empty
  bool takes_value = false;
};

/// Reads the words of a command line into variables:
///
///     OptionParser parser("Waves on a string", "string");
///     parser.option("--steps", steps, "of the run").within(1, 1000).type("N");
///     parser.flag("--quiet", quiet, "print errors only");
///     if (const auto help = parser.read(argc, argv)) ...  // print it, and end
///
/// The variables outlive the parser; those whose options are not given keep their values. Of an option of
/// one value that is given more than once the last one counts. CLI11 does the work, and only one source
/// includes it: g++ 12 needs 4 to 9 s of processor time for its header alone.
class OptionParser {
 public:
  /// `footer` is printed below the options by --help.
  OptionParser(const std::string& purpose, std::string program, const std::string& footer = {});
  ~OptionParser();
  OptionParser(const OptionParser&) = delete;
  OptionParser& operator=(const OptionParser&) = delete;

  /// Adds an option "-x,--long", or without a dash an argument without a name. `Value` is int, unsigned,
  /// std::int64_t, std::size_t, double, char, std::string, an optional std::int64_t or double, or a vector of
  /// int, std::int64_t, std::size_t or std::string, which takes as many words as follow.
  template <class Value>
  Option option(const std::string& names, Value& value, const std::string& help = {});
  /// Adds an option without a value.
  Option flag(const std::string& names, bool& value, const std::string& help = {});

  /// Words that no option takes are no error, but left to `rest`.
  void keep_unknown();
  /// All words behind the first that belongs to no option are left to `rest`, with it.
  void stop_at_first_word();

  /// Reads the words behind the name of the program. Returns the text of --help if that is one of them.
  /// @local Errors (usage): a word that no option takes, a wrong value, a required option that is missing.
  std::optional<std::string> read(std::vector<std::string> words);
  std::optional<std::string> read(int argc, const char* const* argv);
  /// The same for a program whose command line is all that it reads: prints help or error if `says`, and
  /// returns the exit status, 0 or 2, with which the program ends then. @local
  std::optional<int> read_or_end(int argc, const char* const* argv, bool says = true);

  [[nodiscard]] const std::string& program() const noexcept { return program_; }
  /// What `read` left.
  [[nodiscard]] std::vector<std::string> rest() const;
  /// All options that there are, --help among them.
  [[nodiscard]] std::vector<OptionForm> forms() const;

 private:
  std::string program_;
  std::unique_ptr<CLI::App> app_;
};

}  // namespace tailrace
