// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <fstream>

#include "base/text.hpp"
#include "options.hpp"
#include "tailrace/error.hpp"
#include "temp_dir.hpp"

namespace tailrace::rehearse {

namespace {

using Words = std::vector<std::string>;

std::variant<Options, run::Notice> parse(const Words& words) {
  std::vector<const char*> argv{"tailrace-rehearse"};
  for (const auto& word : words) argv.push_back(word.c_str());
  return parse_options(static_cast<int>(argv.size()), argv.data());
}

/// The options of a run with an output file.
Options options_of(const Words& words) {
  Words all{"-o", "out.h5"};
  all.insert(all.end(), words.begin(), words.end());
  return std::get<Options>(parse(all));
}

std::string message_of(const Words& words) {
  try {
    parse(words);
  } catch (const Error& error) {
    CHECK(error.info().kind != ErrorKind::internal);
    return error.what();
  }
  return "";
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("defaults of a rehearsal") {
  const auto options = options_of({});
  CHECK(options.formula.cells == Index3{64, 64, 64});
  CHECK(options.formula.type == h5::ElementType::float64);
  CHECK(options.steps == 50);
  CHECK(options.load.work == Work::matmul);
  CHECK(options.load.step_ms == 0);
  REQUIRE(options.selections.size() == 1);
  CHECK(options.selections[0].kind == Selection::Kind::whole);
  CHECK(options.run_directory.empty());
  CHECK(options.resolved["domain"]["cells"] == nlohmann::json{64, 64, 64});
}

TEST_CASE("options become keys of the case") {
  const auto options =
      options_of(split_text("--cells 8,6,4 --steps 7 --precision float32 --compute memory --compute-ms 1.5 "
                            "--imbalance 0.25 --slow-rank 1 --slow-factor 3 --select x=2 "
                            "--select boxes:4,size=1x2x3,share=one,rank=1,seed=9 --every 2 --write threads:3 "
                            "--decomposition one-owner:1 --write-multiplier 5",
                            ' '));
  CHECK(options.formula.cells == Index3{8, 6, 4});
  CHECK(options.steps == 7);
  CHECK(options.formula.type == h5::ElementType::float32);
  CHECK(options.load.work == Work::memory);
  CHECK(options.load.step_ms == 1.5);
  CHECK(options.load.imbalance == 0.25);
  CHECK(options.load.slow_rank == 1);
  CHECK(options.load.slow_factor == 3);
  REQUIRE(options.selections.size() == 2);
  CHECK(options.selections[0].index == 2);
  CHECK(options.selections[1].size == Index3{1, 2, 3});
  CHECK(options.selections[1].share == Selection::Share::one);
  CHECK(options.selections[1].owner == 1);
  CHECK(options.selections[1].seed == 9);
  CHECK(options.selection_context.every == 2);
  CHECK(options.selection_context.write_multiplier == 5);
  CHECK(options.write.buffers == 3);
  CHECK(options.ownership.owner == 1);
  CHECK(options.resolved["rehearse"]["compute"] == "memory");
}

TEST_CASE("particles, and what belongs to them") {
  const auto options = options_of({"--particles", "500", "--clustering", "3", "--drift", "-0.5"});
  CHECK(options.particle_formula.count == 500);
  CHECK(options.particle_formula.clustering == 3);
  CHECK(options.particle_formula.drift_cells == -0.5);
  CHECK(options.resolved["rehearse"]["drift"] == -0.5);
  CHECK(options_of({"--particles", "5"}).resolved["rehearse"]["clustering"] == 1);
  CHECK_FALSE(options_of({}).resolved["rehearse"].contains("drift"));
  const auto message = message_of({"-o", "a.h5", "--clustering", "2", "--drift", "1"});
  CHECK(count(message, "belongs to no particles") == 2);
}

TEST_CASE("all problems of a command line are reported together, each with its fix") {
  const auto message = message_of(
      {"-o",        "a.h5",   "--cells",         "0",          "--steps",  "-1",  "--precision", "int",
       "--compute", "sleep",  "--imbalance",     "2",          "--select", "u=1", "--every",     "0",
       "--write",   "nobody", "--decomposition", "one-owner:x"});
  for (const char* part :
       {"domain.cells", "time.steps", "model.precision", "rehearse.compute", "rehearse.imbalance",
        "rehearse.select", "rehearse.every", "--write nobody", "rehearse.decomposition"})
    CHECK_MESSAGE(message.find(part) != std::string::npos, part << " in " << message);
  CHECK(count(message, "Fix: ") == 9);
  CHECK(message.find("9 problems") != std::string::npos);
}

TEST_CASE("what does not fit together is refused") {
  CHECK(message_of({}).find("--out DIR or -o FILE") != std::string::npos);
  CHECK(message_of({"file.h5"}).find("what is to be done with this file") != std::string::npos);
  CHECK(message_of({"-o", "a.h5", "--verify", "b.h5"}).find("b.h5") != std::string::npos);
  CHECK(message_of({"-o", "a.h5", "--compute-ms", "1", "--compute-units", "5"}).find("compute_units") !=
        std::string::npos);
  CHECK(message_of({"-o", "a.h5", "--slow-factor", "3"}).find("belongs to no rank") != std::string::npos);
  CHECK(message_of({"-o", "a.h5", "--compute", "broadcast", "--slow-rank", "0"})
            .find("keeps the ranks together") != std::string::npos);
  CHECK(message_of({"-o", "a.h5", "--cells", "1000000", "--steps", "1"})
            .find("[1000000, 1000000, 1000000] is no grid") != std::string::npos);
  CHECK(message_of({"-o", "a.h5", "--cells", "8192", "--steps", "20000"}).find("no exact numbers") !=
        std::string::npos);
  CHECK(message_of({"-o", "a.h5", "--no-such"}).find("--no-such") != std::string::npos);
}

TEST_CASE("requests without a run") {
  CHECK(std::get<Options>(parse({"--verify", "some.h5"})).verify_only == "some.h5");
  CHECK(std::get<run::Notice>(parse({"--help"})).text.find("Selections:") != std::string::npos);
  const auto list = std::get<run::Notice>(parse({"--list"})).text;
  CHECK(list.find("blocking\tblocking\thdf5") != std::string::npos);
}

TEST_CASE("a case file, and options before it") {
  const test::TempDir directory;
  const auto path = directory.file("case.toml");
  std::ofstream(path)
      << "[case]\nsimulation = \"rehearse\"\n[domain]\ncells = [4, 5, 6]\n[time]\nsteps = 9\n"
         "[rehearse]\ncompute = \"none\"\n[[output]]\nname = \"a\"\nquantity = \"v\"\nevery = 3\n";
  const auto options = options_of({"--case", path, "--steps", "8", "--set", "rehearse.verify=true"});
  CHECK(options.formula.cells == Index3{4, 5, 6});
  CHECK(options.steps == 8);
  CHECK(options.verify);
  CHECK(options.selections.empty());
  CHECK(options.outputs.size() == 1);
  CHECK(options.title == "case");
  const auto message = message_of({"-o", "a.h5", "--case", path, "--set", "rehearse.computer=1"});
  CHECK(message.find("did you mean rehearse.compute?") != std::string::npos);
  CHECK(message_of({"-o", "a.h5", "--case", path, "--set", "case.simulation=heat"}).find("case.simulation") !=
        std::string::npos);
}

}  // namespace tailrace::rehearse
