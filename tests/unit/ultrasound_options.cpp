// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include <fstream>

#include "options.hpp"
#include "output/registry/options.hpp"
#include "tailrace/error.hpp"
#include "temp_dir.hpp"

namespace tailrace::ultrasound {

namespace {

using Words = std::vector<std::string>;

std::variant<Options, run::Notice> parse(const Words& words) {
  std::vector<const char*> argv{"tailrace-ultrasound"};
  for (const auto& word : words) argv.push_back(word.c_str());
  return parse_options(static_cast<int>(argv.size()), argv.data());
}

/// The options of a run with both files named.
Options options_of(const Words& words) {
  Words all{"-i", "in.h5", "-o", "out.h5"};
  all.insert(all.end(), words.begin(), words.end());
  return std::get<Options>(parse(all));
}

std::string message_of(const Words& words) {
  try {
    parse(words);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

std::string message_with_files(const Words& words) {
  Words all{"-i", "in.h5", "-o", "out.h5"};
  all.insert(all.end(), words.begin(), words.end());
  return message_of(all);
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<std::string> recorded(const Options& options) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < sensor_quantities.size(); ++i)
    if (options.sensor_data.wanted[i]) names.emplace_back(sensor_quantities[i].name);
  return names;
}

}  // namespace

TEST_CASE("k-Wave's command line with nothing but files") {
  const auto options = options_of({});
  CHECK(options.input == "in.h5");
  CHECK(options.output == "out.h5");
  CHECK(recorded(options) == Words{"p_raw"});
  CHECK(options.sensor_data.start == 1);
  CHECK(options.progress_percent == 5);
  CHECK(options.write.sink == "hdf5");
  CHECK(options.precision == Precision::float32);
  CHECK_FALSE(options.kwave_checkpoint);
  CHECK(options.takes_checkpoints);
  CHECK(options.steps == 0);
  CHECK(options.device.text.empty());
}

TEST_CASE("attached, shortened and repeated options") {
  const auto options = options_of({"-t2", "-s31", "-r", "10", "--p_ra", "--bench", "5", "--verb=1", "-pu"});
  CHECK(options.threads == 2);
  CHECK(options.sensor_data.start == 31);
  CHECK(options.progress_percent == 10);
  CHECK(options.steps == 5);
  CHECK(options.verbosity == 1);
  CHECK(recorded(options) == Words{"p_raw", "u_raw"});
  const auto repeated = options_of({"-t", "2", "-t", "3", "-o", "b.h5", "--p_max", "--p_max"});
  CHECK(repeated.threads == 3);
  CHECK(repeated.output == "b.h5");
  CHECK(recorded(repeated) == Words{"p_max"});
}

TEST_CASE("a file name that looks like an option is a missing one") {
  CHECK(message_of({"-o", "out.h5"}) == "-i: the file name is missing. Fix: add -i FILE");
  CHECK(message_of({"-i", "-o", "out.h5"}).starts_with("-i: the file name is missing"));
  CHECK(message_of({"-i", "--p_raw", "-o", "out.h5"}).starts_with("-i: the file name is missing"));
  CHECK(message_of({"-i", "in.h5", "-o", "-p"}).starts_with("-o: the file name is missing"));
  CHECK(message_of({"-i", "in.h5"}).starts_with("-o: the file name is missing"));
}

TEST_CASE("intensity samples the series that it is computed from") {
  CHECK(recorded(options_of({"--I_avg"})) == Words{"p_raw", "u_non_staggered_raw", "I_avg"});
  CHECK(recorded(options_of({"--Q_term"})) == Words{"p_raw", "u_non_staggered_raw", "Q_term"});
  CHECK(recorded(options_of({"--u_non_staggered_raw"})) == Words{"u_non_staggered_raw"});
}

TEST_CASE("k-Wave's number of a GPU is a device, or the processor where there is none") {
  for (const auto& words : {Words{"-g", "2"}, Words{"-g2"}}) {
    const auto device = options_of(words).device;
    CHECK(device.source == "-g");
    CHECK(device.text == "2");
    CHECK(device.or_processor);
  }
  CHECK_FALSE(options_of({"--device", "2"}).device.or_processor);
  CHECK(holds(message_with_files({"-g", "0", "--device", "1"}), "-g and --device both choose what computes"));
}

TEST_CASE("the level of compression chooses the sink") {
  CHECK(options_of({"-c", "0"}).write.sink == "hdf5");
  CHECK(output::sink_text(options_of({"-c", "3"}).write) == "hdf5-chunked:3");
  CHECK(output::sink_text(options_of({"-c9"}).write) == "hdf5-chunked:9");
  CHECK(holds(message_with_files({"-c", "10"}), "-c"));
  CHECK(holds(message_with_files({"-c", "3", "--sink", "hdf5"}), "-c and --sink both"));
}

TEST_CASE("checkpoint options come together") {
  const auto options = options_of({"--checkpoint_file", "c.h5", "--checkpoint_interval", "60"});
  REQUIRE(options.kwave_checkpoint);
  CHECK_FALSE(options.takes_checkpoints);
  CHECK(options.kwave_checkpoint->file == "c.h5");
  CHECK(options.kwave_checkpoint->interval_s == 60.0);
  CHECK_FALSE(options.kwave_checkpoint->timesteps);
  const auto both = options_of({"--checkpoint_t=7", "--checkpoint_f", "c.h5", "--checkpoint_i=5"});
  CHECK(both.kwave_checkpoint->timesteps == 7);
  CHECK(both.kwave_checkpoint->interval_s == 5.0);
  CHECK(holds(message_with_files({"--checkpoint_interval", "60"}), "add --checkpoint_file FILE"));
  CHECK(holds(message_with_files({"--checkpoint_file", "c.h5"}), "--checkpoint_timesteps N"));
  CHECK(holds(message_with_files({"--checkpoint_file=c.h5", "--checkpoint_timesteps=0"}),
              "checkpoint_timesteps"));
  CHECK(holds(message_with_files({"--checkpoint_file=c.h5", "--checkpoint_interval=1.5"}),
              "checkpoint_interval"));
}

TEST_CASE("precision is one of two") {
  CHECK(options_of({"--precision", "float64"}).precision == Precision::float64);
  CHECK(message_with_files({"--precision", "half"}) ==
        "--precision half: unknown. Fix: one of float32, float64");
}

TEST_CASE("what is not understood is named") {
  CHECK(message_with_files({"--nonsense", "3"}) ==
        "not understood: --nonsense 3. Fix: --help lists the options");
  CHECK(message_of({"--nonsense"}) == "not understood: --nonsense. Fix: --help lists the options");
  CHECK(holds(message_with_files({"-t", "zero"}), "zero"));
  CHECK(holds(message_with_files({"-r", "101"}), "101"));
}

TEST_CASE("help and version end the program") {
  for (const auto& word : {"-h", "--help", "--hel", "--version", "--vers"}) {
    const auto parsed = parse({word});
    REQUIRE(std::holds_alternative<run::Notice>(parsed));
    CHECK_FALSE(std::get<run::Notice>(parsed).text.empty());
  }
}

TEST_CASE("the command line goes before the case") {
  const test::TempDir directory;
  std::ofstream(directory.file("a.toml"))
      << "[case]\nsimulation = \"ultrasound\"\n[input]\nfile = \"in.h5\"\n[model]\nprecision = \"float64\"\n"
         "[record]\nI_avg = true\nstart = 4\n[time]\nsteps = 9\n";
  const Words words{"--case", directory.file("a.toml"), "--out", directory.file("run")};
  const auto options = std::get<Options>(parse(words));
  CHECK(options.precision == Precision::float64);
  CHECK(options.sensor_data.start == 4);
  CHECK(options.steps == 9);
  CHECK(recorded(options) == Words{"p_raw", "u_non_staggered_raw", "I_avg"});
  CHECK(options.resolved["model"]["precision"] == "float64");
  CHECK(options.resolved["record"]["p_raw"] == true);
  auto more = words;
  more.insert(more.end(), {"--precision", "float32", "-s", "5"});
  const auto typed = std::get<Options>(parse(more));
  CHECK(typed.precision == Precision::float32);
  CHECK(typed.sensor_data.start == 5);
  more.insert(more.end(), {"--checkpoint_file=c", "--checkpoint_timesteps=4"});
  CHECK(holds(message_of(more), "--checkpoint options belong to -i and -o"));
}

TEST_CASE("what intensity is computed from is recorded beside outputs, too") {
  const test::TempDir directory;
  const auto recorded_with = [&](const std::string& record) {
    std::ofstream(directory.file("a.toml"))
        << "[case]\nsimulation = \"ultrasound\"\n[input]\nfile = \"in.h5\"\n" + record +
               "[[output]]\nname = \"w\"\nquantity = \"p\"\nevery = 20\n";
    return recorded(
        std::get<Options>(parse({"--case", directory.file("a.toml"), "--out", directory.file("run")})));
  };
  CHECK(recorded_with("[record]\nI_avg = true\n") == Words{"p_raw", "u_non_staggered_raw", "I_avg"});
  CHECK(recorded_with("") == Words{});
}

TEST_CASE("all problems of a case come together") {
  const test::TempDir directory;
  std::ofstream(directory.file("a.toml"))
      << "[case]\nsimulation = \"seismic\"\n[model]\nprecision = \"half\"\n"
         "[record]\np_rw = true\nstart = 0\n";
  const auto message = message_of({"--case", directory.file("a.toml"), "--out", directory.file("run")});
  for (const auto& part :
       {"case.simulation: \"seismic\" is not what this program computes", "model.precision half: unknown",
        "record.p_rw: unknown key. Fix: did you mean record.p_raw?", "record.start: 0 is not accepted",
        "input.file: is missing"})
    CHECK_MESSAGE(holds(message, part), message);
}

}  // namespace tailrace::ultrasound
