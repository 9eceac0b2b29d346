// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <optional>

#include "command_line.hpp"
#include "numbers.hpp"
#include "tailrace/error.hpp"

namespace tailrace::rehearse {

namespace {

/// An option that represents a key of the case.
struct KeyOption {
  const char *name, *key, *type, *help;
  enum class Form {
    plain,  ///< a number, or a text
    list,   ///< numbers separated by commas
    texts,  ///< several texts, one by one
  };
  Form form = Form::plain;
};

constexpr auto list_form = KeyOption::Form::list;
constexpr auto texts_form = KeyOption::Form::texts;
const std::array key_options{
    KeyOption{"--cells", "domain.cells", "N | NX,NY,NZ", "points of the cube or box (default: 64)",
              list_form},
    KeyOption{"--steps", "time.steps", "N", "steps (default: 50)"},
    KeyOption{"--precision", "model.precision", "TYPE", "of field and datasets: float32, float64 (default)"},
    KeyOption{"--decomposition", "rehearse.decomposition", "HOW",
              "who owns which points: slabs (default), pencils, uneven, one-owner[:RANK]"},
    KeyOption{"--select", "rehearse.select", "WHERE",
              "what is written, see below; once for each selection (default: whole)", texts_form},
    KeyOption{"--every", "rehearse.every", "N", "steps from one output to the next (default: 1)"},
    KeyOption{"--reduce", "rehearse.reduce", "HOW", "none (default), min, max, rms, mean, final"},
    KeyOption{"--data-multiplier", "rehearse.data_multiplier", "N", "write every dataset N times"},
    KeyOption{"--write-multiplier", "rehearse.write_multiplier", "N", "cut every dataset into N"},
    KeyOption{"--particles", "rehearse.particles", "N", "that move from rank to rank (default: 0)"},
    KeyOption{"--clustering", "rehearse.clustering", "N",
              "1 (default): they begin all over the domain; above, the more of them near its low corner"},
    KeyOption{"--drift", "rehearse.drift", "X", "points that they move on in a step (default: 1)"},
    KeyOption{"--compute", "rehearse.compute", "WORK",
              "work of a step: matmul (default; in the cache), memory, broadcast, none"},
    KeyOption{"--compute-ms", "rehearse.compute_ms", "MS",
              "its duration when nothing disturbs it (default: 0); becomes a number of units at the start"},
    KeyOption{"--compute-units", "rehearse.compute_units", "N",
              "its amount instead, as an earlier run printed it"},
    KeyOption{"--imbalance", "rehearse.imbalance", "X",
              "0.2: from 20 % less than the mean on the first rank to 20 % more on the last"},
    KeyOption{"--slow-rank", "rehearse.slow_rank", "RANK", "this rank does more work than the others"},
    KeyOption{"--slow-factor", "rehearse.slow_factor", "X", "namely so many times as much (default: 2)"},
    KeyOption{"--buffers", "write.buffers", "N", "staging buffers per rank (default: 2)"},
};

/// Describes what is typed for the options of a key; the first index is that of `key_options`.
using KeyTexts = std::array<std::vector<std::string>, key_options.size()>;

/// A text as TOML has it in quotes.
std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// "key=value" of an option.
std::string setting_of(const KeyOption& option, const std::vector<std::string>& texts) {
  if (option.form == KeyOption::Form::list) return fmt::format("{}=[{}]", option.key, texts.back());
  if (option.form == KeyOption::Form::plain) return fmt::format("{}={}", option.key, texts.back());
  std::vector<std::string> list;
  for (const auto& text : texts) list.push_back(quoted(text));
  return fmt::format("{}=[{}]", option.key, fmt::join(list, ", "));
}

void add_verify_options(OptionParser& parser, bool& verify, std::string& file) {
  const std::string group = "Files";
  parser
      .flag("--verify", verify,
            "compare every value with the formula after the run, or of FILE and do nothing else")
      .group(group);
  parser.option("FILE", file, "with --verify: the file of an earlier run").type("").group(group);
}

void add_key_options(OptionParser& parser, KeyTexts& texts) {
  for (std::size_t i = 0; i < key_options.size(); ++i)
    parser.option(key_options[i].name, texts[i], key_options[i].help)
        .type(key_options[i].type)
        .values(1)
        .repeated()
        .group("Load (each is a key of a case)");
}

/// A look at a file instead of a run, if that is what was asked for.
std::optional<Options> verification(const CommandLine& line, const std::string& file) {
  if (file.empty()) return {};
  const bool runs = !line.out_directory.empty() || !line.output.empty() || !line.case_file.empty();
  if (runs || !line.options.verify)
    throw Error(ErrorKind::usage,
                fmt::format("{}: what is to be done with this file? Fix: -o FILE writes it, "
                            "--case FILE runs it, --verify FILE without a run looks at it",
                            file));
  Options options;
  options.verify_only = file;
  options.check_only = true;
  return options;
}

}  // namespace

std::variant<Options, run::Notice> parse_options(int argc, const char* const* argv) {
  CommandLine line;
  KeyTexts texts;
  std::string file;
  auto parser = run::make_parser(program_info);
  run::add_case_options(parser, line);
  add_verify_options(parser, line.options.verify, file);
  add_key_options(parser, texts);
  if (auto notice = run::read_words(parser, program_info, line, argc, argv)) return std::move(*notice);
  if (auto options = verification(line, file)) return std::move(*options);
  run::finalize(line, argc, argv, "", line.options);
  for (std::size_t i = 0; i < key_options.size(); ++i)
    if (!texts[i].empty()) line.settings.push_back(setting_of(key_options[i], texts[i]));
  apply_case(line);
  return std::move(line.options);
}

}  // namespace tailrace::rehearse
