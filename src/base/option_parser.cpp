// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/option_parser.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/system.hpp"
#include "tailrace/error.hpp"

namespace tailrace {

namespace {

/// What one word becomes.
template <class Value>
struct Word {
  using Type = Value;
  static constexpr bool is_one_of_many = false;
};
template <class Value>
struct Word<std::optional<Value>> : Word<Value> {};
template <class Value>
struct Word<std::vector<Value>> : Word<Value> {
  static constexpr bool is_one_of_many = true;
};

/// Refuses what CLI11 would change into the nearest number that there is.
const CLI::Validator fits_64_bits(
    [](const std::string& text) {
      errno = 0;
      static_cast<void>(std::strtoll(text.c_str(), nullptr, 0));
      return errno == ERANGE ? fmt::format("{} is too large a number", text) : std::string();
    },
    "");

/// Bounds of one side, of which CLI11 would print the other one, too, with 309 digits.
CLI::Validator bounded(const char* type, bool zero_too) {
  return {[zero_too](std::string& text) {
            double value = 0;
            if (!CLI::detail::lexical_cast(text, value)) return fmt::format("{} is no number", text);
            if (value > 0 || (zero_too && value == 0)) return std::string();
            return fmt::format("{} is not {}", text, zero_too ? "0 or more" : "above 0");
          },
          type};
}

}  // namespace

Option Option::group(const std::string& heading) const {
  option_->group(heading);
  return *this;
}

Option Option::type(const std::string& word) const {
  option_->type_name(word);
  return *this;
}

Option Option::within_integers(std::int64_t least, std::int64_t most) const {
  // The first of all checks, because it names the bounds.
  option_->transform(CLI::Range(least, most).description(""));
  return *this;
}

Option Option::within(double least, double most) const {
  option_->check(CLI::Range(least, most).description(""));
  return *this;
}

Option Option::positive() const {
  option_->check(bounded("POSITIVE", false));
  return *this;
}

Option Option::not_negative() const {
  option_->check(bounded("NONNEGATIVE", true));
  return *this;
}

Option Option::one_of(const std::vector<std::string>& words) const {
  option_->check(CLI::IsMember(words));
  return *this;
}

Option Option::values(int count) const {
  option_->expected(count);
  return *this;
}

Option Option::repeated() const {
  option_->allow_extra_args(false)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return *this;
}

Option Option::required() const {
  option_->required();
  return *this;
}

Option Option::needs(const Option& other) const {
  option_->needs(other.option_);
  return *this;
}

OptionParser::OptionParser(const std::string& purpose, std::string program, const std::string& footer)
    : program_(std::move(program)), app_(std::make_unique<CLI::App>(purpose, program_)) {
  constexpr std::size_t column = 34;
  app_->get_formatter()->column_width(column);
  app_->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app_->footer(footer);
}

OptionParser::~OptionParser() = default;

template <class Value>
Option OptionParser::option(const std::string& names, Value& value, const std::string& help) {
  auto* const option = app_->add_option(names, value, help);
  using One = typename Word<Value>::Type;
  if constexpr (std::integral<One> && !std::same_as<One, char>) option->check(fits_64_bits);
  // The last one of several may count for an option of one value; too few of a list are an error.
  if constexpr (Word<Value>::is_one_of_many) option->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  return Option(option);
}

template Option OptionParser::option(const std::string&, int&, const std::string&);
template Option OptionParser::option(const std::string&, unsigned&, const std::string&);
template Option OptionParser::option(const std::string&, std::int64_t&, const std::string&);
template Option OptionParser::option(const std::string&, std::size_t&, const std::string&);
template Option OptionParser::option(const std::string&, double&, const std::string&);
template Option OptionParser::option(const std::string&, char&, const std::string&);
template Option OptionParser::option(const std::string&, std::string&, const std::string&);
template Option OptionParser::option(const std::string&, std::optional<std::int64_t>&, const std::string&);
template Option OptionParser::option(const std::string&, std::optional<double>&, const std::string&);
template Option OptionParser::option(const std::string&, std::vector<int>&, const std::string&);
template Option OptionParser::option(const std::string&, std::vector<std::int64_t>&, const std::string&);
template Option OptionParser::option(const std::string&, std::vector<std::size_t>&, const std::string&);
template Option OptionParser::option(const std::string&, std::vector<std::string>&, const std::string&);

Option OptionParser::flag(const std::string& names, bool& value, const std::string& help) {
  return Option(app_->add_flag(names, value, help));
}

void OptionParser::keep_unknown() {
  app_->allow_extras();
}

void OptionParser::stop_at_first_word() {
  app_->prefix_command();
}

std::optional<std::string> OptionParser::read(std::vector<std::string> words) {
  try {
    std::ranges::reverse(words);  // as CLI11 wants them
    app_->parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return app_->help();
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorKind::usage, fmt::format("{}. Fix: --help lists the options", error.what()));
  }
  return {};
}

std::optional<std::string> OptionParser::read(int argc, const char* const* argv) {
  return read({argv + std::min(argc, 1), argv + argc});
}

std::optional<int> OptionParser::read_or_end(int argc, const char* const* argv, bool says) {
  try {
    const auto help = read(argc, argv);
    if (!help) return {};
    if (says) say(stdout, *help);
    return 0;
  } catch (const Error& error) {
    if (says) say(stderr, fmt::format("{}: {}\n", program_, error.what()));
    return 2;
  }
}

std::vector<std::string> OptionParser::rest() const {
  return app_->remaining();
}

std::vector<OptionForm> OptionParser::forms() const {
  std::vector<OptionForm> forms;
  for (const auto* option : app_->get_options()) {
    const bool takes_value = option->get_items_expected_max() > 0;
    for (const auto& name : option->get_snames()) forms.push_back({name, "", takes_value});
    for (const auto& name : option->get_lnames()) forms.push_back({"", name, takes_value});
  }
  return forms;
}

}  // namespace tailrace
