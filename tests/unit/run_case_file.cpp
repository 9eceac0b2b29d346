// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/run/case_file.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "temp_dir.hpp"

namespace tailrace::run {

namespace {

std::string message_of(CaseFile& file) {
  try {
    file.finish();
  } catch (const Error& error) {
    CHECK(error.info().kind == ErrorKind::input);
    return error.what();
  }
  return "";
}

const CaseSchema schema{
    .simulation = "test",
    .keys = {{.name = "time.steps", .type = KeyType::integer, .meaning = "", .limits = {.least = 1}},
             {.name = "time.dt_s", .type = KeyType::real, .meaning = "", .limits = {.least = 0}},
             {.name = "time.absent", .type = KeyType::integer, .meaning = "", .limits = {.least = 1}},
             {.name = "write.strategy", .meaning = "", .fallback = "auto"},
             {.name = "write.flag", .type = KeyType::boolean, .meaning = ""},
             {.name = "write.sink", .meaning = ""},
             {.name = "write.buffers", .type = KeyType::integer, .meaning = "", .fallback = "2"},
             {.name = "a.good", .type = KeyType::reals, .meaning = "", .limits = {.least = 0}},
             {.name = "a.low", .type = KeyType::reals, .meaning = "", .limits = {.least = 0}},
             {.name = "a.text", .type = KeyType::reals, .meaning = "", .limits = {.least = 0}},
             {.name = "a.plain", .type = KeyType::reals, .meaning = "", .limits = {.least = 0}},
             {.name = "a.s", .meaning = ""},
             {.name = "list[].kind", .meaning = "", .fallback = "one", .words = {"one", "two"}},
             {.name = "record.p_raw", .type = KeyType::boolean, .meaning = ""},
             {.name = "record.p_max", .type = KeyType::boolean, .meaning = ""},
             {.name = "input.file",
              .type = KeyType::file,
              .meaning = "",
              .fix = "file = \"x.h5\"",
              .required = true},
             {.name = "input.absolute", .type = KeyType::file, .meaning = ""}}};

struct Written {
  explicit Written(const std::string& text) { std::ofstream(path) << text; }
  test::TempDir directory;
  std::string path = directory.file("case.toml");
};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("values are read with their types") {
  const Written written("[time]\nsteps = 12\ndt_s = 1\n[write]\nstrategy = \"threads\"\nflag = true\n");
  auto file = CaseFile::read(written.path, {}, schema);
  CHECK(file.integer("time.steps") == 12);
  CHECK(file.real("time.dt_s") == 1.0);
  CHECK(file.text("write.strategy") == "threads");
  CHECK(file.boolean("write.flag") == true);
  CHECK_FALSE(file.integer("time.absent").has_value());
  CHECK(message_of(file).empty());
}

TEST_CASE("lists of numbers take integers too, and limits") {
  const Written written("[a]\ngood = [12.5, 10]\nlow = [1.0, -1.0]\ntext = [\"1\"]\nplain = 3.0\n");
  auto file = CaseFile::read(written.path, {}, schema);
  CHECK(file.reals("a.good") == std::vector<double>{12.5, 10});

  for (const char* key : {"a.low", "a.text", "a.plain"}) CHECK_FALSE(file.reals(key).has_value());
  const auto message = message_of(file);
  CHECK(holds(message, "a.low: [1.0,-1.0] is not a list of numbers of at least 0. Fix: write them as"));
  CHECK(holds(message, "a.text: [\"1\"] is not a list of numbers"));
  CHECK(holds(message, "a.plain: 3.0 is not a list of numbers"));
}

TEST_CASE("all problems come together, each with its key and a fix") {
  const Written written(
      "[time]\nsteps = 0\n[record]\np_raw = 1\np_mx = true\n[write]\nsink = 3\nstrategy = \"\"\n");
  auto file = CaseFile::read(written.path, {}, schema);
  file.integer("time.steps");
  file.boolean("record.p_raw");
  file.boolean("record.p_max");
  file.text("write.sink");
  CHECK(file.text("write.strategy") == "auto");
  file.text("input.file");
  const auto message = message_of(file);
  CHECK(holds(message, written.path + ": 6 problems"));
  CHECK(holds(message, "time.steps: 0 is not accepted. Fix: an integer of at least 1"));
  CHECK(holds(message, "record.p_raw: 1 is not true or false"));
  CHECK(holds(message, "write.sink: 3 is not a text"));
  CHECK(holds(message, "write.strategy: \"\" is empty. Fix: "));
  CHECK(holds(message, "input.file: is missing. Fix: file = \"x.h5\""));
  CHECK(holds(message, "record.p_mx: unknown key. Fix: did you mean record.p_max?"));
}

TEST_CASE("a key that others exclude is not called unknown") {
  const Written written("[time]\nsteps = 1\n[write]\nsink = \"x\"\n");
  auto file = CaseFile::read(written.path, {}, schema);
  file.integer("time.steps");
  const auto message = message_of(file);
  CHECK(holds(message, "write.sink: has no effect beside the other keys of this case. Fix: remove it"));
  CHECK(!holds(message, "unknown key"));
}

TEST_CASE("overrides replace values, make tables, and read as TOML or as text") {
  const Written written("[time]\nsteps = 12\n");
  auto file = CaseFile::read(
      written.path, {"time.steps=5", "write.strategy=threads:3", "a.b.c=[1, 2]", "a.s=\"x\""}, schema);
  CHECK(file.integer("time.steps") == 5);
  CHECK(file.text("write.strategy") == "threads:3");
  CHECK(file.text("a.s") == "x");
  CHECK(file.resolved()["a"]["b"]["c"] == nlohmann::json({1, 2}));
  CHECK_THROWS_AS(CaseFile::read(written.path, {"time.steps"}, schema), Error);
  CHECK_THROWS_AS(CaseFile::read(written.path, {"=5"}, schema), Error);
}

TEST_CASE("syntax errors and missing files name the place") {
  const Written written("[time]\nsteps = = 2\n");
  try {
    CaseFile::read(written.path, {}, schema);
    FAIL("read a broken file");
  } catch (const Error& error) {
    CHECK(holds(error.what(), written.path + ":2:9"));
  }
  CHECK_THROWS_AS(CaseFile::read(written.path + ".absent", {}, schema), Error);
}

TEST_CASE("file names are relative to the case file") {
  const Written written("[input]\nfile = \"in.h5\"\nabsolute = \"/data/in.h5\"\n");
  auto file = CaseFile::read(written.path, {}, schema);
  CHECK(file.file_name("input.file") == written.directory.file("in.h5"));
  CHECK(file.file_name("input.absolute") == "/data/in.h5");
  auto native = CaseFile::from_overrides("in.h5", {"input.file=in.h5"}, schema);
  CHECK(native.file_name("input.file") == "in.h5");
}

TEST_CASE("defaults fill the resolved case and leave given values alone") {
  auto file = CaseFile::from_overrides("in.h5", {"write.buffers=4"}, schema);
  file.set_default("write.buffers", "2");
  file.set_default("write.sink", "hdf5");
  CHECK(message_of(file).empty());
  CHECK(file.resolved()["write"] == nlohmann::json({{"buffers", 4}, {"sink", "hdf5"}}));
}

TEST_CASE("what the schema states holds: defaults, words, and nothing beyond it") {
  auto file = CaseFile::from_overrides("in.h5", {"list=[{kind = \"three\"}, {}]"}, schema);
  CHECK(file.text("write.strategy") == "auto");
  CHECK(file.integer("write.buffers") == 2);
  CHECK(file.choice("list[1].kind") == 0);
  CHECK(file.resolved()["list"].size() == 2);
  CHECK_THROWS_AS(file.text("write.unstated"), Error);
  CHECK(file.choice("list[0].kind") == 0);
  CHECK(holds(message_of(file), "list[0].kind: \"three\" is not accepted. Fix: one of one, two"));
}

TEST_CASE("a key of another choice is known, and a problem") {
  auto file = CaseFile::from_overrides("in.h5", {"time.steps=3"}, schema);
  CHECK(file.refuse("time.steps", "has no meaning", "leave it out"));
  CHECK_FALSE(file.refuse("time.dt_s", "has no meaning", "leave it out"));
  CHECK(holds(message_of(file), "time.steps: has no meaning. Fix: leave it out"));
}

TEST_CASE("a key is read at its older name too, and has the name of today afterwards") {
  CaseSchema renamed = schema;
  renamed.keys.push_back({.name = "old.sink", .meaning = "older name of `write.sink`", .now = "write.sink"});
  auto file = CaseFile::from_overrides("case", {"old.sink=tar", "input.file=x.h5"}, renamed);
  CHECK(file.text("write.sink") == "tar");
  file.file_name("input.file");
  CHECK(message_of(file).empty());
  CHECK(file.resolved()["write"]["sink"] == "tar");
  CHECK(!file.resolved().value("old", nlohmann::json::object()).contains("sink"));

  auto both =
      CaseFile::from_overrides("case", {"old.sink=tar", "write.sink=zip", "input.file=x.h5"}, renamed);
  CHECK(both.text("write.sink") == "zip");
  both.file_name("input.file");
  CHECK(holds(message_of(both), "old.sink: is the older name of write.sink, which is there too"));

  CHECK(!holds(case_template(renamed), "old"));
  CHECK(json_schema(renamed)["properties"]["old"]["properties"]["sink"]["deprecated"] == true);
}

TEST_CASE("template and JSON schema show what is stated") {
  const auto text = case_template(schema);
  CHECK(holds(text, "[input]\n#  (required)\nfile = \"x.h5\"\n"));
  CHECK(holds(text, "# strategy = \"auto\"\n"));
  const auto json = json_schema(schema);
  CHECK(json["properties"]["time"]["properties"]["steps"]["minimum"] == 1);
  CHECK(json["properties"]["input"]["required"] == nlohmann::json{"file"});
  CHECK(json["properties"]["list"]["items"]["properties"]["kind"]["enum"] == nlohmann::json{"one", "two"});
}

TEST_CASE("numbers that JSON does not have are shown as they are written") {
  auto file = CaseFile::from_overrides(
      "x", {"time.dt_s=nan", "a.low=[1.0, -inf]", "time.steps=inf", "input.file=x"}, schema);
  CHECK(!file.real("time.dt_s"));
  file.reals("a.low");
  file.integer("time.steps");
  file.file_name("input.file");
  const auto message = message_of(file);
  CHECK(holds(message, "time.dt_s: nan is not accepted"));
  CHECK(holds(message, "a.low: [1.0,-inf] is not a list of numbers"));
  CHECK(holds(message, "time.steps: inf is not accepted"));
}

TEST_CASE("a grid is three numbers of points, and not too many") {
  auto file = CaseFile::from_overrides("x", {}, schema);
  CHECK(file.grid("k", {4, 3, 2}) == Index3{4, 3, 2});
  CHECK(!file.grid("k", {4, 3}));
  CHECK(!file.grid("k", {4, 0, 2}));
  CHECK(!file.grid("k", {1 << 20, 1 << 20, 2}));
  CHECK(holds(message_of(file),
              "k: [1048576, 1048576, 2] is no grid. Fix: points along x, y, z, each 1 or more, and "
              "1099511627776 at most together"));
}

}  // namespace tailrace::run
