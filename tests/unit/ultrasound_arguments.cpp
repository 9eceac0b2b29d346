// SPDX-License-Identifier: BSD-3-Clause
#include <doctest/doctest.h>

#include "arguments.hpp"
#include "tailrace/error.hpp"

namespace tailrace::ultrasound {

namespace {

using Arguments = std::vector<std::string>;

const std::vector<OptionForm> options{{"i", "", true},
                                      {"t", "", true},
                                      {"p", "", false},
                                      {"u", "", false},
                                      {"", "p_raw", false},
                                      {"", "p_rms", false},
                                      {"", "p_max", false},
                                      {"", "p_max_all", false},
                                      {"", "benchmark", true},
                                      {"", "check", false},
                                      {"", "checkpoint_file", true},
                                      {"", "checkpoint_interval", true}};

Arguments resolve(const Arguments& arguments) {
  return resolve_arguments(arguments, options);
}

std::string message_of(const Arguments& arguments) {
  try {
    resolve(arguments);
  } catch (const Error& error) {
    CHECK(error.info().kind == ErrorKind::usage);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a long option may be shortened while it is the only one") {
  CHECK(resolve({"--p_ra"}) == Arguments{"--p_raw"});
  CHECK(resolve({"--b", "5"}) == Arguments{"--benchmark=5"});
  CHECK(resolve({"--bench=5"}) == Arguments{"--benchmark=5"});
  CHECK(resolve({"--checkpoint_i", "3", "--checkpoint_f=a=b"}) ==
        Arguments{"--checkpoint_interval=3", "--checkpoint_file=a=b"});
}

TEST_CASE("a name that is written out goes before longer ones") {
  CHECK(resolve({"--p_max", "--check"}) == Arguments{"--p_max", "--check"});
  CHECK(resolve({"--p_max_"}) == Arguments{"--p_max_all"});
}

TEST_CASE("an ambiguous prefix is refused with its candidates") {
  CHECK(message_of({"--p_r"}) == "--p_r is ambiguous. Fix: write one of --p_raw, --p_rms");
  CHECK(message_of({"--ch"}) ==
        "--ch is ambiguous. Fix: write one of --check, --checkpoint_file, --checkpoint_interval");
  CHECK(message_of({"--p_m=1"}) == "--p_m is ambiguous. Fix: write one of --p_max, --p_max_all");
}

TEST_CASE("the argument behind an option is its value, whatever it looks like") {
  CHECK(resolve({"-i", "--p_ra"}) == Arguments{"-i--p_ra"});
  CHECK(resolve({"--benchmark", "--p_raw"}) == Arguments{"--benchmark=--p_raw"});
  CHECK(resolve({"-pi", "--p_ra", "--p_ra"}) == Arguments{"-pi--p_ra", "--p_raw"});
  CHECK(resolve({"-t2", "--p_ra"}) == Arguments{"-t2", "--p_raw"});
  CHECK(resolve({"-pu", "--p_ra"}) == Arguments{"-pu", "--p_raw"});
}

TEST_CASE("values that are missing or superfluous are named") {
  CHECK(message_of({"-p", "--bench"}) == "--benchmark: the value is missing");
  CHECK(message_of({"--benchmark="}) == "--benchmark: the value is missing");
  CHECK(message_of({"-i"}) == "-i: the value is missing");
  CHECK(message_of({"-i", ""}) == "-i: the value is missing");
  CHECK(message_of({"--p_raw=1"}) == "--p_raw takes no value. Fix: write --p_raw alone");
}

TEST_CASE("unknown options, plain words and all behind two dashes stay as they are") {
  CHECK(resolve({"--nonsense=3", "-x", "word", "-"}) == Arguments{"--nonsense=3", "-x", "word", "-"});
  CHECK(resolve({"--p_ra", "--", "--p_ra"}) == Arguments{"--p_raw", "--", "--p_ra"});
}

}  // namespace tailrace::ultrasound
