// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include <map>

#include "error_of.hpp"
#include "tailrace/option_parser.hpp"

namespace tailrace {
namespace {

using Words = std::vector<std::string>;

struct Values {
  int threads = 1;
  std::int64_t steps = 0;
  double scale = 0;
  std::string name = "none", kind = "first", file;
  std::optional<double> limit_s;
  std::optional<std::int64_t> every;
  std::vector<int> sizes;
  std::vector<std::string> settings;
  bool quiet = false;
};

void add_options(OptionParser& parser, Values& values) {
  const std::map<std::string, int> kinds{{"first", 1}, {"second", 2}};
  parser.option("-t,--threads", values.threads, "of each rank").within(1, 8).type("N").group("Run");
  const auto steps = parser.option("--steps", values.steps).positive();
  parser.option("--scale", values.scale).within(-0.5, 0.5);
  parser.option("--name", values.name).one_of({"some", "none"});
  parser.option("--kind", values.kind).name_in(kinds);
  parser.option("--limit", values.limit_s).not_negative().needs(steps);
  parser.option("--every", values.every);
  parser.option("--sizes", values.sizes).values(3);
  parser.option("--set", values.settings, "a key").repeated();
  parser.flag("-q,--quiet", values.quiet, "print errors only");
  parser.option("FILE", values.file, "to read");
}

Values read(const Words& words) {
  Values values;
  OptionParser parser("Tests", "test");
  add_options(parser, values);
  CHECK_FALSE(parser.read(words));
  return values;
}

/// The message of the error that these words are.
std::string refusal(const Words& words) {
  Values values;
  OptionParser parser("Tests", "test");
  add_options(parser, values);
  const auto error = test::error_info_of([&] { static_cast<void>(parser.read(words)); });
  CHECK(error.kind == ErrorKind::usage);
  return error.message;
}

TEST_CASE("options: values of all kinds, and those that are not given stay") {
  const auto some = read({"-t", "3", "--steps=7", "in.h5", "--limit", "2.5", "--sizes", "4", "5", "6"});
  CHECK(some.threads == 3);
  CHECK(some.steps == 7);
  CHECK(some.limit_s == 2.5);
  CHECK(some.sizes == std::vector{4, 5, 6});
  CHECK(some.file == "in.h5");
  CHECK(some.name == "none");
  CHECK_FALSE(some.quiet);
  const auto others = read({"-q", "--scale", "-0.5", "--kind", "second", "--name", "some"});
  CHECK(others.quiet);
  CHECK(others.scale == -0.5);
  CHECK(others.kind == "second");
  CHECK(others.name == "some");
  CHECK_FALSE(others.limit_s);
}

TEST_CASE("options: the last one counts, unless all are kept") {
  const auto values = read({"-t", "2", "--set", "a=1", "-t", "5", "in.h5", "--set", "b=2"});
  CHECK(values.threads == 5);
  CHECK(values.settings == Words{"a=1", "b=2"});
  CHECK(values.file == "in.h5");
}

TEST_CASE("options: what is wrong is named, and what to do") {
  CHECK(refusal({"-t", "9"}) == "--threads: Value 9 not in range 1 to 8. Fix: --help lists the options");
  CHECK(refusal({"--steps", "0"}) == "--steps: 0 is not above 0. Fix: --help lists the options");
  CHECK(refusal({"--limit", "-1", "--steps", "1"}) ==
        "--limit: -1 is not 0 or more. Fix: --help lists the options");
  for (const Words& words : std::vector<Words>{{"-t", "0"},
                                               {"-t", "two"},
                                               {"--steps", "0"},
                                               {"--steps", "99999999999999999999"},
                                               {"--scale", "0.51"},
                                               {"--kind", "third"},
                                               {"--name", "nobody"},
                                               {"--limit", "1"},
                                               {"--limit", "-1", "--steps", "1"},
                                               {"--every", "-99999999999999999999"},
                                               {"--sizes", "1", "2", "99999999999999999999"},
                                               {"--sizes", "1", "2"},
                                               {"--sizes", "1", "2", "3", "--sizes", "4", "5", "6"},
                                               {"--steps"},
                                               {"--unknown"},
                                               {"in.h5", "more"}}) {
    INFO(fmt::format("{}", fmt::join(words, " ")));
    CHECK_FALSE(refusal(words).empty());
  }
  CHECK(refusal({"-t", "99999999999999999999"}).find("1 to 8") != std::string::npos);
  CHECK(refusal({"--steps", "0"}).find("--steps") != std::string::npos);
  CHECK(refusal({"--kind", "third"}).find("first") != std::string::npos);
}

TEST_CASE("options: one that is required and missing is an error, for a program's main a status") {
  int ranks = 0;
  OptionParser parser("Tests", "test");
  parser.option("RANKS", ranks).required();
  const char* const none[]{"test"};
  const char* const help[]{"test", "--help"};
  const char* const one[]{"test", "4"};
  CHECK(parser.read_or_end(1, none, false) == 2);
  CHECK(parser.read_or_end(2, help, false) == 0);
  CHECK_FALSE(parser.read_or_end(2, one, false));
  CHECK(ranks == 4);
}

TEST_CASE("options: help has the program, the options under their headings, and the last words") {
  Values values;
  OptionParser parser("Tests everything", "test", "The end.");
  add_options(parser, values);
  CHECK(parser.program() == "test");
  const auto help = parser.read({"--help"});
  REQUIRE(help);
  for (const char* text :
       {"Tests everything", "test [OPTIONS]", "Run:", "-t,--threads N", "of each rank", "The end."})
    CHECK_MESSAGE(help->find(text) != std::string::npos, text);
}

TEST_CASE("options: words of no option are kept where that is wanted") {
  bool quiet = false;
  OptionParser all("Tests", "test");
  all.flag("--quiet", quiet);
  all.keep_unknown();
  CHECK_FALSE(all.read(Words{"--other", "word", "--quiet"}));
  CHECK(quiet);
  CHECK(all.rest() == Words{"--other", "word"});

  quiet = false;
  OptionParser first("Tests", "test");
  first.flag("--quiet", quiet);
  first.stop_at_first_word();
  CHECK_FALSE(first.read(Words{"p.fa", "--quiet"}));
  CHECK_FALSE(quiet);
  CHECK(first.rest() == Words{"p.fa", "--quiet"});
}

TEST_CASE("options: forms say how each is written and whether a value follows") {
  Values values;
  OptionParser parser("Tests", "test");
  add_options(parser, values);
  int with_value = 0, without = 0;
  for (const auto& form : parser.forms()) {
    if (form.short_name == "t" || form.long_name == "threads") with_value += form.takes_value ? 1 : 0;
    if (form.short_name == "q" || form.long_name == "quiet") without += form.takes_value ? 0 : 1;
  }
  CHECK(with_value == 2);
  CHECK(without == 2);
}

}  // namespace
}  // namespace tailrace
