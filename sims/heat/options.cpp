// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <fstream>

#include "command_line.hpp"
#include "tailrace/error.hpp"

namespace tailrace::heat {

namespace {

/// Finds out what the case is: a file, or a class of NPB.
void finalize_case(CommandLine& line, int argc, const char* const* argv) {
  if (line.case_file.empty() == line.npb_class.empty())
    throw Error(ErrorKind::usage,
                line.npb_class.empty()
                    ? "no case. Fix: give a class, such as S, or --case FILE.toml"
                    : "a case and a class. Fix: give a class, such as S, or --case FILE.toml");
  if (!line.npb_input.empty() && line.npb_class.empty())
    throw Error(ErrorKind::usage,
                "--input belongs to a class. Fix: give a class, such as S, or write the keys into the case");
  run::finalize(line, argc, argv, line.npb_class.empty() ? "" : "heat-" + line.npb_class + ".h5",
                line.options);
  line.options.verbose = line.verbose;
}

}  // namespace

std::variant<Options, run::Notice> parse_options(int argc, const char* const* argv, NumberRule own) {
  CommandLine line;
  line.options.exchange.own_rule = std::move(own);
  auto parser = run::make_parser(program_info);
  run::add_case_options(parser, line);
  run::add_exchange_option(parser, line);
  parser.option("class", line.npb_class, "instead of a case: a class of NPB, S, W, A, B, C, D or E")
      .type("CLASS")
      .group("Files");
  parser
      .option("--input", line.npb_input,
              "with a class: NPB's inputua.data, which replaces four of its values")
      .type("FILE")
      .group("Files");
  parser.flag("--verbose", line.verbose,
              "a line for each adaptation, and the times of the phases, as NPB prints them");
  if (auto notice = run::read_words(parser, program_info, line, argc, argv)) return std::move(*notice);
  finalize_case(line, argc, argv);
  apply_case(line);
  return std::move(line.options);
}

std::vector<std::string> npb_settings(const CommandLine& line) {
  if (line.npb_class.empty()) return {};
  std::vector<std::string> settings{"case.simulation=\"heat\"",
                                    fmt::format("heat.class=\"{}\"", line.npb_class)};
  if (line.npb_input.empty()) return settings;
  struct NpbLine {
    const char *key, *meaning;
  };
  constexpr std::array rows{NpbLine{"heat.adapt_every", "the adaptation interval"},
                            NpbLine{"time.steps", "the number of steps"},
                            NpbLine{"heat.cg_iterations", "the iterations of conjugate gradients"},
                            NpbLine{"heat.radius", "the radius of the ball"}};
  Problems problems(line.npb_input);
  std::ifstream file(line.npb_input);
  if (!file) problems.add("cannot be read", "the path of an inputua.data");
  for (std::size_t i = 0; file.is_open() && i < rows.size(); ++i) {
    std::string text, word;
    if (std::getline(file, text))
      word = text.substr(0, text.find_first_of(" \t\r", text.find_first_not_of(" \t")));
    word.erase(0, word.find_first_not_of(" \t"));
    for (char& letter : word)
      if (letter == 'd' || letter == 'D') letter = 'e';  // as Fortran writes powers of ten
    double number = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (word.empty() || error != std::errc() || stop != word.data() + word.size())
      problems.add(fmt::format("line {} is no number: \"{}\"", i + 1, text),
                   fmt::format("{}", rows[i].meaning));
    else
      settings.push_back(fmt::format("{}={}", rows[i].key, word));
  }
  problems.throw_if_any();
  return settings;
}

}  // namespace tailrace::heat
