// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/run/case_file.hpp"
#include "tailrace/run/case_output.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "temp_dir.hpp"

namespace tailrace::run {

namespace {

const std::vector<OfferedQuantity> offered{{"p", "Pa"}, {"ux", "m/s"}, {"uz", "m/s"}};

const CaseSchema schema = make_schema(
    "test", {"p", "ux", "uz"},
    {{.name = "output[].pml", .meaning = "", .fallback = "included", .words = {"included", "excluded"}}});

struct Parsed {
  std::vector<OutputTable> tables;
  std::string problems;
};

/// The tables of a case, and what is wrong with it by itself.
Parsed parse(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const test::TempDir directory;
  const auto path = directory.file("case.toml");
  std::ofstream(path) << text;
  Parsed parsed;
  auto file = CaseFile::read(path, overrides, schema);
  parsed.tables = read_output_tables(file, offered, "pml");
  try {
    file.finish();
  } catch (const Error& error) {
    CHECK(error.info().kind == ErrorKind::input);
    parsed.problems = error.what();
  }
  return parsed;
}

std::string problems_of(const std::string& lines) {
  return parse("[[output]]\nname = \"a\"\nquantity = \"p\"\n" + lines).problems;
}

/// 20 x 10 x 8 points, a layer of two of them all around, 100 steps.
OutputDomain small_domain() {
  return {.points = {20, 10, 8},
          .interior = {{2, 2, 2}, {18, 8, 6}},
          .steps = 100,
          .time_of_step_0_s = -0.5,
          .dt_s = 0.5,
          .quantities = {"p", "ux"},
          .taken_paths = {"/p", "/Nx"}};
}

/// The stream of a case with one table.
output::Stream stream_of(const std::string& lines) {
  const auto parsed = parse("[[output]]\nname = \"a\"\nquantity = \"p\"\n" + lines);
  CHECK(parsed.problems == "");
  return CaseOutputs(parsed.tables, small_domain(), "case").streams().at(0);
}

std::string unfit(const std::string& lines) {
  const auto parsed = parse("[[output]]\nname = \"a\"\nquantity = \"p\"\n" + lines);
  CHECK(parsed.problems == "");
  try {
    const CaseOutputs outputs(parsed.tables, small_domain(), "case");
  } catch (const Error& error) {
    CHECK(error.info().kind == ErrorKind::input);
    return error.what();
  }
  return "";
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<StepIndex> steps_of(const std::string& lines) {
  return stream_of(lines).cadence.steps();
}

using Steps = std::vector<StepIndex>;

std::int64_t integer_in(const std::vector<std::byte>& bytes) {
  std::int64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace

TEST_CASE("a table with nothing but the necessary takes the whole domain") {
  const auto stream = stream_of("every = 10");
  CHECK(stream.name == "a");
  CHECK(stream.quantity == "p");
  CHECK(stream.unit == "Pa");
  CHECK(stream.reduction == output::Reduction::none);
  CHECK(std::holds_alternative<output::Whole>(stream.selection));
  REQUIRE(stream.datasets.size() == 1);
  CHECK(stream.datasets[0].path == "/a/values");
  CHECK(stream.datasets[0].shape == h5::Shape{10, 8, 10, 20});
  CHECK(stream.datasets[0].type == h5::ElementType::float32);
}

TEST_CASE("samples are taken at multiples, from and up to given steps, or at a list") {
  CHECK(steps_of("every = 30") == Steps{30, 60, 90});
  CHECK(steps_of("every = 30\ninitial = true") == Steps{0, 30, 60, 90});
  CHECK(steps_of("every = 30\nfirst = 31") == Steps{60, 90});
  CHECK(steps_of("every = 30\nfirst = 60\nlast = 60") == Steps{60});
  CHECK(steps_of("every = 30\nfirst = 31\ninitial = true") == Steps{0, 60, 90});
  CHECK(steps_of("at = [0, 7, 100]") == Steps{0, 7, 100});
  CHECK(steps_of("reduce = \"rms\"").size() == 100);
  CHECK(steps_of("reduce = \"max\"\nevery = 50") == Steps{50, 100});
  CHECK(steps_of("reduce = \"final\"") == Steps{100});
}

TEST_CASE("cadences agree with the list of their steps") {
  for (const auto& lines : {"every = 7", "every = 30\ninitial = true", "at = [0, 3, 4, 99]"}) {
    const auto cadence = stream_of(lines).cadence;
    const auto steps = cadence.steps();
    CHECK(cadence.samples() == static_cast<StepIndex>(steps.size()));
    StepIndex taken = 0;
    for (std::size_t i = 0; i < steps.size(); ++i)
      CHECK(cadence.step_of(static_cast<StepIndex>(i)) == steps[i]);
    CHECK(cadence.step_of(cadence.samples()) > steps.back());
    for (StepIndex step = 0; step <= 100; ++step) {
      const bool due = std::count(steps.begin(), steps.end(), step) == 1;
      taken += due ? 1 : 0;
      CHECK(cadence.is_due(step) == due);
      CHECK(cadence.samples_until(step) == taken);
    }
  }
}

TEST_CASE("boxes and planes are inclusive, and the layers may be left out") {
  const auto box_of = [](const std::string& lines) {
    const auto stream = stream_of("every = 50\n" + lines);
    const auto boxes = std::get<output::Boxes>(stream.selection).boxes;
    REQUIRE(boxes.size() == 1);
    const Index3 n = boxes[0].extents();
    const auto extent = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
    CHECK(stream.datasets[0].shape == h5::Shape{2, extent(n.z), extent(n.y), extent(n.x)});
    return boxes[0];
  };
  CHECK(box_of("select = {box = [[1, 2, 3], [4, 2, 7]]}") == Box{{1, 2, 3}, {5, 3, 8}});
  CHECK(box_of("select = {box = [[1, 2, 3], [4, 2, 7]]}\npml = \"excluded\"") == Box{{2, 2, 3}, {5, 3, 6}});
  CHECK(box_of("select = {plane = {x = 19}}") == Box{{19, 0, 0}, {20, 10, 8}});
  CHECK(box_of("select = {plane = {y = 0}}\npml = \"included\"") == Box{{0, 0, 0}, {20, 1, 8}});
  CHECK(box_of("select = {plane = {z = 4}}\npml = \"excluded\"") == Box{{2, 2, 4}, {18, 8, 5}});
  CHECK(box_of("select = \"whole\"\npml = \"excluded\"") == Box{{2, 2, 2}, {18, 8, 6}});
}

TEST_CASE("points keep their order") {
  const auto stream =
      stream_of("at = [1]\nselect = {points = [[3, 2, 1], [0, 0, 0], [3, 2, 1]]}\ntype = \"float64\"");
  const auto points = std::get<output::Points>(stream.selection).points;
  CHECK(points == std::vector<Index3>{{3, 2, 1}, {0, 0, 0}, {3, 2, 1}});
  CHECK(stream.datasets[0].shape == h5::Shape{1, 3});
  CHECK(stream.datasets[0].type == h5::ElementType::float64);
}

TEST_CASE("a box of the whole domain is the whole") {
  CHECK(std::holds_alternative<output::Whole>(
      stream_of("every = 1\nselect = {box = [[0, 0, 0], [19, 9, 7]]}").selection));
}

TEST_CASE("every wrong key is named with its fix") {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"", "output[0].every: is missing. Fix: every = 10, every_s = 0.01, or at = [100, 250]"},
      {"every = 0", "output[0].every: 0 is not accepted. Fix: an integer of at least 1"},
      {"every = \"x\"", "output[0].every: \"x\" is not accepted"},
      {"every = 1\nfirst = 0", "output[0].first: 0 is not accepted"},
      {"every = 1\nlast = -1", "output[0].last: -1 is not accepted"},
      {"every = 1\ninitial = 1", "output[0].initial: 1 is not true or false"},
      {"at = 5", "output[0].at: 5 is not a list of integers. Fix: write them as [10, 20]"},
      {"at = [1.5]", "output[0].at: [1.5] is not a list of integers"},
      {"at = []", "output[0].at: is not a list of ascending steps"},
      {"at = [3, 3]", "output[0].at: is not a list of ascending steps"},
      {"at = [-1, 3]", "output[0].at: is not a list of ascending steps"},
      {"at = [3]\nevery = 2", "output[0].at: conflicts with every, first, last or initial"},
      {"at = [3]\ninitial = true", "output[0].at: conflicts with every, first, last or initial"},
      {"every = 1\nreduce = \"sum\"",
       "output[0].reduce: \"sum\" is not accepted. Fix: one of none, min, max, rms, mean, final"},
      {"every = 1\nreduce = \"final\"", "output[0].reduce: \"final\" takes the last step of the run alone"},
      {"every = 1\ntype = \"int\"", "output[0].type: \"int\" is not accepted. Fix: one of float32, float64"},
      {"every = 1\npml = true", "output[0].pml: true is not a text"},
      {"every = 1\npml = \"no\"", "output[0].pml: \"no\" is not accepted. Fix: one of included, excluded"},
      {"every = 1\nselect = \"all\"", "output[0].select: \"all\" is not accepted. Fix: one of whole"},
      {"every = 1\nselect = 3", "output[0].select: 3 is not a text"},
      {"every = 1\nselect = {box = [[0, 0, 0]]}",
       "output[0].select.box: is not accepted. Fix: two corners, as in [[0, 0, 0], [9, 19, 29]]"},
      {"every = 1\nselect = {box = [[0, 0], [1, 1]]}", "output[0].select.box: is not accepted"},
      {"every = 1\nselect = {box = [0, 1]}",
       "output[0].select.box: [0,1] is not a list of lists of integers"},
      {"every = 1\nselect = {points = []}", "output[0].select.points: is not accepted"},
      {"every = 1\nselect = {points = [[1, 2, 3]]}\npml = \"excluded\"",
       "output[0].pml: says nothing of single points. Fix: leave it out"},
      {"every = 1\nselect = {plane = {x = 1, y = 2}}", "output[0].select.plane: is not one plane"},
      {"every = 1\nselect = {plane = {w = 1}}", "output[0].select.plane.w: unknown key"},
      {"every = 1\nselect = {plane = {x = -1}}", "output[0].select.plane.x: -1 is not accepted"},
      {"every = 1\nselect = {plane = {x = 1}, points = [[1, 2, 3]]}",
       "output[0].select: names more than one place. Fix: give one of box, points, plane"},
      {"every = 1\nselect = {bx = [[0, 0, 0], [1, 1, 1]]}",
       "output[0].select.bx: unknown key. Fix: did you mean output[0].select.box?"},
      {"evry = 1", "output[0].evry: unknown key. Fix: did you mean output[0].every?"}};
  for (const auto& [lines, message] : wrong) {
    const auto found = problems_of(lines);
    CHECK_MESSAGE(holds(found, message), lines << " gave " << found);
  }
}

TEST_CASE("names and quantities are checked") {
  CHECK(holds(parse("[[output]]\nevery = 1\n").problems, "output[0].name: is missing"));
  CHECK(holds(parse("[[output]]\nevery = 1\n").problems,
              "output[0].quantity: is missing. Fix: one of p, ux, uz"));
  const std::string two =
      "[[output]]\nname = \"a\"\nquantity = \"p\"\nevery = 1\n[[output]]\nname = \"a\"\nquantity = "
      "\"q\"\nevery = 1\n";
  const auto message = parse(two).problems;
  CHECK(holds(message, "output[1].name: \"a\" is taken by another output. Fix: choose another name"));
  CHECK(holds(message, "output[1].quantity: \"q\" is not computed here. Fix: one of p, ux, uz"));
  for (const auto& name : {"a/b", "a b", ".."})
    CHECK(holds(
        parse(std::string("[[output]]\nquantity = \"p\"\nevery = 1\nname = \"") + name + "\"\n").problems,
        "output[0].name: "));
}

TEST_CASE("what is no list of tables is refused") {
  CHECK(holds(parse("output = 3\n").problems,
              "output: is not a list of tables. Fix: head each of them with [[output]]"));
  CHECK(holds(parse("[output]\nname = \"a\"\n").problems, "output: is not a list of tables"));
  CHECK(parse("output = []\n").tables.empty());
  CHECK(parse("").tables.empty());
}

TEST_CASE("keys of a table are overridden by its number") {
  const std::string text = "[[output]]\nname = \"a\"\nquantity = \"p\"\nevery = 1\n";
  CHECK(parse(text, {"output[0].every=5"}).tables.at(0).every == 5);
  CHECK_THROWS_WITH_AS(parse(text, {"output[1].every=5"}), "--set output[1]: the case has no such table",
                       Error);
}

TEST_CASE("what does not fit the domain is named") {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"at = [100, 101]", "case: output[0].at: step 101 comes after the last. Fix: the run has 100 steps"},
      {"every = 1\nlast = 101", "output[0].last: step 101 comes after the last"},
      {"every = 200", "output[0].every: no multiple of 200 lies between step 1 and step 100"},
      {"every = 10\nfirst = 41\nlast = 49",
       "output[0].every: no multiple of 10 lies between step 41 and step 49"},
      {"every = 1\nselect = {box = [[0, 0, 0], [20, 9, 7]]}",
       "output[0].select.box: [20, 9, 7] (number 1) is outside the domain. Fix: indices count from 0, the "
       "domain has "
       "20 x 10 x 8 points"},
      {"every = 1\nselect = {box = [[0, 0, 0], [9223372036854775807, 0, 0]]}", "is outside the domain"},
      {"every = 1\nselect = {box = [[5, 0, 0], [4, 9, 7]]}", "output[0].select.box: is empty"},
      {"every = 1\nselect = {points = [[0, 0, 0], [0, -1, 0], [99, 0, 0]]}",
       "output[0].select.points: [0, -1, 0] (number 1) is outside the domain"},
      {"every = 1\nselect = {plane = {z = 8}}",
       "output[0].select.plane.z: 8 is outside the domain. Fix: a number from 0 to 7"},
      {"every = 1\nselect = {plane = {z = 1}}\npml = \"excluded\"",
       "output[0].select: lies in the layers at the boundaries. Fix: include them"}};
  for (const auto& [lines, message] : wrong)
    CHECK_MESSAGE(holds(unfit(lines), message), lines << " gave " << unfit(lines));
  auto domain = small_domain();
  domain.taken_paths = {"/a"};
  const auto tables = parse("[[output]]\nname = \"a\"\nquantity = \"uz\"\nevery = 1\n").tables;
  try {
    const CaseOutputs outputs(tables, domain, "case");
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(holds(error.what(), "output[0].name: \"a\" is the name of something else in the output file"));
    CHECK(holds(error.what(), "output[0].quantity: \"uz\" does not exist in this domain. Fix: one of p, ux"));
  }
}

TEST_CASE("more samples than anybody can hold are refused at once") {
  auto domain = small_domain();
  domain.steps = 1'000'000'000'000;
  const auto message_of = [&](const std::string& lines) -> std::string {
    try {
      const auto tables = parse("[[output]]\nname = \"a\"\nquantity = \"p\"\n" + lines).tables;
      static_cast<void>(CaseOutputs(tables, domain, "case"));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(holds(message_of("every = 10\n"),
              "output[0].every: makes 1e+11 samples. Fix: at most 134217728: a larger every"));
  CHECK(holds(message_of("every_s = 5.0\ninitial = true\n"), "output[0].every_s: makes 1e+11 samples"));
  CHECK(message_of("every = 100000000000\n") == "");
}

TEST_CASE("the file gets steps, times and what the values are") {
  const auto tables =
      parse(
          "[[output]]\nname = \"a\"\nquantity = \"p\"\nat = [2, 5]\nselect = {points = [[3, 2, 1]]}\n"
          "[[output]]\nname = \"b\"\nquantity = \"ux\"\nreduce = \"max\"\nevery = 40\npml = \"excluded\"\n")
          .tables;
  const CaseOutputs outputs(tables, small_domain(), "case");
  output::FileHead head;
  outputs.add_to(head);
  REQUIRE(head.datasets.size() == 5);
  CHECK(head.datasets[0].spec.path == "/a/step");
  CHECK(integer_in(head.datasets[0].values) == 2);
  CHECK(head.datasets[1].spec.path == "/a/time_s");
  double time_s = 0;
  std::memcpy(&time_s, head.datasets[1].values.data() + sizeof time_s, sizeof time_s);
  CHECK(time_s == 2.0);  // of step 5: -0.5 + 5 * 0.5
  CHECK(head.datasets[2].spec.path == "/a/points");
  CHECK(head.datasets[2].spec.shape == h5::Shape{1, 3});
  CHECK(head.datasets[3].spec.path == "/b/step");
  CHECK(integer_in(head.datasets[3].values) == 0);
  std::vector<std::string> texts;
  for (const auto& [group, attribute] : head.group_attributes)
    texts.push_back(group + " " + attribute.name + " " + std::get<std::string>(attribute.value));
  CHECK(texts == std::vector<std::string>{"/a quantity p", "/a unit Pa",
                                          "/a selection {\"points\":[[3,2,1]]}", "/a reduction none",
                                          "/b quantity ux", "/b unit m/s",
                                          "/b selection {\"box\":[[2,2,2],[17,7,5]]}", "/b reduction max"});
}

TEST_CASE("the file says where points lie whose first one is not at 0") {
  const auto tables = parse(
                          "[[output]]\nname = \"a\"\nquantity = \"p\"\nat = [2, 5]\nselect = {box = [[2, 0, "
                          "1], [3, 1, 1]]}\n")
                          .tables;
  auto domain = small_domain();
  domain.spacing_m = {0.5, 0.25, 2};
  domain.origin_m = {0.25, 0, 1};
  output::FileHead head;
  CaseOutputs(tables, domain, "case").add_to(head);
  std::string places;
  for (const auto& [group, attribute] : head.group_attributes)
    if (attribute.name == "origin_m" || attribute.name == "spacing_m")
      places += group + " " + attribute.name + " " + std::get<std::string>(attribute.value) + "\n";
  CHECK(places == "/a origin_m [0.25,0,1]\n/a spacing_m [0.5,0.25,2]\n");
  const auto& axes = head.axes.at("/a/values");  // as formats that count axes have them: time, z, y, x
  REQUIRE(axes.size() == 4);
  CHECK(axes[1].origin == 3);
  CHECK(axes[2].origin == 0);
  CHECK(axes[3].origin == 1.25);
}

TEST_CASE("the numbers of steps come first, unless the format of the simulation has them") {
  const CaseOutputs outputs({}, small_domain(), "case");
  output::FileHead head;
  head.datasets.push_back({{"/a", {1}, h5::ElementType::float64, {}}, {}});
  CHECK(outputs.add_step_counts(head));
  REQUIRE(head.datasets.size() == 3);
  CHECK(head.datasets[0].spec.path == "/Nt");
  CHECK(integer_in(head.datasets[0].values) == 100);
  CHECK(head.datasets[1].spec.path == "/t_index");
  CHECK(integer_in(head.datasets[1].values) == 0);
  CHECK_FALSE(outputs.add_step_counts(head));
  CHECK(head.datasets.size() == 3);
  output::FileTail tail;
  outputs.add_step_count(tail, 70);
  CHECK(integer_in(tail.datasets.at(0).second) == 70);
}

TEST_CASE("a reduction gets the step of its last sample at the end") {
  const auto tables = parse(
                          "[[output]]\nname = \"b\"\nquantity = \"p\"\nreduce = \"max\"\nevery = 40\n"
                          "[[output]]\nname = \"c\"\nquantity = \"p\"\nreduce = \"final\"\n")
                          .tables;
  const CaseOutputs outputs(tables, small_domain(), "case");
  const auto steps_at = [&](StepIndex done) {
    output::FileTail tail;
    outputs.add_to(tail, done);
    REQUIRE(tail.datasets.size() == 4);
    CHECK(tail.datasets[0].first == "/b/step");
    CHECK(tail.datasets[2].first == "/c/step");
    return Steps{integer_in(tail.datasets[0].second), integer_in(tail.datasets[2].second)};
  };
  CHECK(steps_at(100) == Steps{80, 100});
  CHECK(steps_at(50) == Steps{40, 50});
  CHECK(steps_at(10) == Steps{0, 10});
}

TEST_CASE("a quantity that is no field on the grid lies where its simulation says") {
  auto tables = parse("[[output]]\nname = \"a\"\nquantity = \"p\"\nevery = 25\n").tables;
  tables.front().place = SamplePlace{.box = {{0, 0, 0}, {3, 7, 1}}, .shape = {7, 3}, .source = "p of seven"};
  const CaseOutputs outputs(tables, small_domain(), "case");
  const auto& stream = outputs.streams().front();
  CHECK(stream.quantity == "p of seven");
  CHECK(std::get<output::Boxes>(stream.selection).boxes.front() == Box{{0, 0, 0}, {3, 7, 1}});
  CHECK(stream.datasets.front().shape == h5::Shape{4, 7, 3});
  output::FileHead head;
  outputs.add_to(head);
  CHECK(head.axes.empty());
  CHECK(std::get<std::string>(head.group_attributes.front().second.value) == "p");
  const test::TempDir directory;
  outputs.describe_grids(directory.file("out.h5"));
  CHECK(!std::filesystem::exists(directory.file("out.xdmf")));
}

}  // namespace tailrace::run
