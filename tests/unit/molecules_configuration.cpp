// SPDX-License-Identifier: BSD-3-Clause
#include "configuration.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "native_case.hpp"
#include "temp_dir.hpp"

/// Configurations of MarDyn and of ls1 mardyn.
namespace tailrace::molecules {

namespace {

std::string data(const std::string& name) {
  return TAILRACE_TEST_DATA "/molecules/" + name;
}

/// The message of the error with which a configuration is refused; nothing if it is read.
std::string refusal(const std::string& text) {
  const test::TempDir dir;
  std::ofstream(dir.file("case")) << text;
  try {
    read_configuration(dir.file("case"));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& message, const char* part) {
  INFO(message);
  const bool found = message.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

/// An XML configuration with something put into each of three places.
std::string xml(const std::string& components, const std::string& algorithm = "",
                const std::string& elsewhere = "") {
  return "<?xml version=\"1.0\"?>\n<mardyn version=\"20100525\">\n<simulation type=\"MD\">\n"
         "<integrator type=\"Leapfrog\"><timestep unit=\"reduced\">0.002</timestep></integrator>\n"
         "<run><currenttime>1.5</currenttime><production><steps>100</steps></production></run>\n"
         "<ensemble type=\"NVT\"><temperature unit=\"reduced\">0.9</temperature>\n"
         "<domain type=\"box\"><lx>20</lx><ly>21</ly><lz>22.5</lz></domain>\n<components>\n" +
         components +
         "</components>\n<phasespacepoint><file type=\"binary\"><header>a.xml</header><data> b.dat "
         "</data></file>"
         "<ignoreCheckpointTime>true</ignoreCheckpointTime></phasespacepoint>\n</ensemble>\n<algorithm>\n"
         "<cutoffs type=\"CenterOfMass\"><defaultCutoff>5</defaultCutoff><radiusLJ>4</radiusLJ></cutoffs>\n" +
         algorithm + "</algorithm>\n" + elsewhere + "</simulation>\n</mardyn>\n";
}

constexpr const char* two_types =
    "<moleculetype id=\"1\" name=\"a\">\n"
    "<site type=\"Stockmayer\" "
    "id=\"1\"><coords><x>0</x><y>0</y><z>0.1</z></coords><mass>1</mass><sigma>1.1</sigma>"
    "<epsilon>+0.9</epsilon><shifted>true</shifted>"
    "<dipolemoment><x>0</x><y>0</y><z>2</z><abs>1.3</abs></dipolemoment></site></moleculetype>\n"
    "<moleculetype id=\"2\" name=\"b\">\n"
    "<site type=\"Charge\"><coords><x>0</x><y>0</y><z>0</z></coords><mass>2</mass><charge>-1</charge></site>"
    "<site type=\"Quadrupole\"><coords><x>0</x><y>0</y><z>0</z></coords>"
    "<quadrupolemoment><x>1</x><y>0</y><z>0</z><abs>0.8</abs></quadrupolemoment></site>"
    "<momentsofinertia "
    "rotaxes=\"xyz\"><Ixx>0.5</Ixx><Iyy>0.25</Iyy><Izz>0</Izz></momentsofinertia></moleculetype>\n"
    "<mixing><rule type=\"LB\" cid1=\"2\" cid2=\"1\"><eta>0.97</eta><xi>1.05</xi></rule></mixing>\n";

}  // namespace

TEST_CASE("the configurations of the cases") {
  const auto shifted = read_configuration(data("argon-1clj/ls1-ts-nve.xml"));
  CHECK(shifted.dt == 0.004);
  CHECK(shifted.box == Vec3{18, 18, 18});
  CHECK(shifted.temperature == 0);
  CHECK(shifted.model.cutoff == 2.5);
  CHECK(shifted.model.lj_cutoff == 2.5);
  CHECK(shifted.model.long_range == LongRange::none);
  CHECK(shifted.model.components[0].lennard_jones[0].shifted);
  CHECK(shifted.start == PhaseSpaceFiles{PhaseSpaceFormat::ascii, "", data("argon-1clj/start.inp")});
  REQUIRE(shifted.outputs.size() == 1);
  CHECK(shifted.outputs[0].name == "ResultWriter");
  CHECK(shifted.outputs[0].every == 10);
  CHECK(shifted.outputs[0].options.at("writeprecision") == "16");
  CHECK(shifted.warnings.empty());

  const auto co2 = read_configuration(data("co2-3clj3c/ls1-lrc-nvt.xml"));
  CHECK(co2.temperature == 5.5);
  CHECK(co2.steps == 10000);
  CHECK(co2.time == 0);
  CHECK(co2.model.long_range == LongRange::homogeneous);
  REQUIRE(co2.model.components.size() == 1);
  const auto& component = co2.model.components[0];
  CHECK(component.lennard_jones.size() == 3);
  CHECK(component.charges[1] == Charge{.place = {0, 0, -0.35}, .mass = 0, .charge = -8});
  CHECK(component.inertia() == Vec3{0.1152, 0.1152, 0});
}

TEST_CASE("all of an XML configuration") {
  const test::TempDir dir;
  std::ofstream(dir.file("case.xml")) << xml(
      two_types,
      "<parallelisation type=\"KDDecomposition\"><updateFrequency>50</updateFrequency>"
      "<fullSearchThreshold>3</fullSearchThreshold><minNumCellsPerDimension>2</minNumCellsPerDimension>"
      "<rebalanceLimit>1.2</rebalanceLimit><splitBiggestDimension>true</splitBiggestDimension>"
      "<splitThreshold>2</splitThreshold></parallelisation>\n"
      "<electrostatic type=\"ReactionField\"><epsilon>78</epsilon></electrostatic>"
      "<datastructure type=\"LinkedCells\"><cellsInCutoffRadius>2</cellsInCutoffRadius></datastructure>",
      "<output><outputplugin name=\"CheckpointWriter\"><type>binary</type><writefrequency>20</writefrequency>"
      "<outputprefix>state</outputprefix><incremental>1</incremental></outputplugin></output>\n<options/>\n");
  const auto found = read_configuration(dir.file("case.xml"));
  CHECK(found.time == 1.5);
  CHECK(found.steps == 100);
  CHECK(found.temperature == 0.9);
  CHECK(found.ignore_start_time);
  CHECK(found.start == PhaseSpaceFiles{PhaseSpaceFormat::binary, dir.file("a.xml"), dir.file("b.dat")});
  CHECK(found.cells_per_cutoff == 2);
  CHECK(found.model.cutoff == 5);
  CHECK(found.model.lj_cutoff == 4);
  CHECK(found.model.reaction_field_epsilon == 78);
  CHECK(found.model.components[0].lennard_jones[0] ==
        LennardJones{.place = {0, 0, 0.1}, .mass = 1, .epsilon = 0.9, .sigma = 1.1, .shifted = true});
  CHECK(found.model.components[0].dipoles[0] ==
        Dipole{.place = {0, 0, 0.1}, .direction = {0, 0, 1}, .moment = 1.3});
  CHECK(found.model.components[1].quadrupoles[0].direction == Vec3{1, 0, 0});
  CHECK(found.model.components[1].inertia_override == Vec3{0.5, 0.25, 0});
  CHECK(found.model.mixing_of(0, 1) == Mixing{.xi = 1.05, .eta = 0.97});
  CHECK(found.parallelisation.division == Configuration::Division::kd);
  CHECK(found.parallelisation.every == 50);
  CHECK(found.parallelisation.full_search_ranks == 3);
  CHECK(found.parallelisation.min_cells == 2);
  CHECK(found.parallelisation.imbalance == 1.2);
  CHECK(found.parallelisation.split_longest == true);
  CHECK(found.outputs[0].options.at("type") == "binary");
  // What is not known is named, with its line.
  REQUIRE(found.warnings.size() == 2);
  CHECK(has(found.warnings[0], "parallelisation/splitThreshold is not known here"));
  CHECK(has(found.warnings[1], "line 22: mardyn/simulation/options is not known here"));
}

TEST_CASE("parts of a configuration in other files") {
  const test::TempDir dir;
  std::filesystem::create_directory(dir.file("models"));
  std::ofstream(dir.file("models/types.xml")) << "<components><all>" << two_types << "</all></components>";
  std::ofstream(dir.file("inner.xml"))
      << "<list><include query=\"/components/all/*\">models/types.xml</include></list>";
  std::ofstream(dir.file("case.xml")) << xml("<include query=\"/list/*\"> inner.xml </include>");
  const auto found = read_configuration(dir.file("case.xml"));
  CHECK(found.model.components.size() == 2);
  CHECK(found.model.mixing_of(0, 1).xi == 1.05);
  std::ofstream(dir.file("inner.xml")) << "<list><include>inner.xml</include></list>";
  CHECK_THROWS_AS(read_configuration(dir.file("case.xml")), Error);
  CHECK(has(refusal(xml("<include>absent.xml</include>")), "absent.xml"));
}

TEST_CASE("all problems of an XML configuration together, with their lines") {
  const auto message = refusal(
      xml("<moleculetype id=\"1\"><site type=\"Tersoff\"><coords><x>0</x><y>0</y><z>0</z></coords></site>\n"
          "<site type=\"LJ126\"><coords><x>0</x><y>a</y><z>0</z></coords><mass "
          "unit=\"u\">1</mass><sigma>1</sigma>"
          "</site></moleculetype>",
          "<thermostats><thermostat type=\"Andersen\"/></thermostats><longrange type=\"planar\"/>\n"
          "<parallelisation "
          "type=\"KDDecomposition\"><boundaries><x>reflecting</x></boundaries></parallelisation>"));
  CHECK(has(message, "7 problems"));
  CHECK(
      has(message, "line 9: mardyn/simulation/ensemble/components/moleculetype/site: unknown type Tersoff"));
  CHECK(has(message, "\"a\" is no number"));
  CHECK(has(message, "its unit is u"));
  CHECK(has(message, "epsilon is missing"));
  CHECK(has(message, "type Andersen is not known here"));
  CHECK(has(message, "type planar is not known here"));
  CHECK(has(message, "x: reflecting is not known here"));
  CHECK(has(refusal("<mardyn><simulation>"), "no XML"));
  CHECK(has(refusal(xml("<mixing><rule cid1=\"1\" cid2=\"3\"/></mixing>")), "no pair of components 1 and 3"));
}

TEST_CASE("a configuration of the old style") {
  const test::TempDir dir;
  std::ofstream(dir.file("case.cfg"))
      << "MDProjectConfig\n# a comment\ntimestepLength 0.002\ncutoffRadius 4.5\n"
         "phaseSpaceFile MPI-IO state.restart state.restart.mpi\n"
         "parallelization KDDecomposition 100 3\ndatastructure LinkedCells 2\n"
         "output ResultWriter 10 out\noutput MPI-IOCheckpointWriter 500 default\n"
         "initStatistics 1000\nNVE\n";
  const auto found = read_configuration(dir.file("case.cfg"));
  CHECK(found.dt == 0.002);
  CHECK(found.model.cutoff == 4.5);
  CHECK(found.model.lj_cutoff == 4.5);
  CHECK(found.model.components.empty());
  CHECK(found.start ==
        PhaseSpaceFiles{PhaseSpaceFormat::cells, dir.file("state.restart"), dir.file("state.restart.mpi")});
  CHECK(found.parallelisation.division == Configuration::Division::kd);
  CHECK(found.parallelisation.every == 100);
  CHECK(found.parallelisation.full_search_ranks == 3);
  CHECK(found.cells_per_cutoff == 2);
  CHECK(found.temperature == 0);
  CHECK(!found.steps);
  REQUIRE(found.outputs.size() == 2);
  CHECK(found.outputs[1].name == "MPI-IOCheckpointWriter");
  CHECK(found.outputs[1].every == 500);
  CHECK(found.outputs[1].prefix == "default");
  REQUIRE(found.warnings.size() == 1);
  CHECK(has(found.warnings[0], "line 10: initStatistics has no effect"));
}

TEST_CASE("all problems of an old configuration together, with their lines") {
  const auto message = refusal(
      "MDProjectConfig\ntimestepLength x\ncutoffRadius 2\nLJCutoffRadius 3\nphaseSpaceFile Generator lib.so "
      "a.cfg\n"
      "accelerate 1 2 3\nparallelization Scatter\noutput ResultWriter\nwarpDrive on\n");
  for (const char* part :
       {"line 2: timestepLength: x is no number", "the Lennard-Jones cutoff 3 is longer than the cutoff 2",
        "line 5: phaseSpaceFile: unknown kind Generator", "line 6: accelerate",
        "line 7: parallelization: unknown", "line 8: output wants steps", "line 8: output wants the prefix",
        "line 9: unknown word warpDrive"})
    CHECK(has(message, part));
  CHECK(has(refusal("MDPProjectConfig\n"), "MDProjectConfig as the first word"));
}

TEST_CASE("words for true and false") {
  const test::TempDir dir;
  const auto with = [](const std::string& word) {
    auto text = std::string(two_types);
    return xml(text.replace(text.find(">true<"), 6, ">" + word + "<"));
  };
  for (const auto& [word, meant] : {std::pair{"TRUE", true},
                                    {" yes ", true},
                                    {"On", true},
                                    {"1", true},
                                    {"FALSE", false},
                                    {"no", false},
                                    {"Off", false},
                                    {"0", false}}) {
    CAPTURE(word);
    std::ofstream(dir.file("case.xml")) << with(word);
    CHECK(read_configuration(dir.file("case.xml")).model.components[0].lennard_jones[0].shifted == meant);
  }
  CHECK(has(refusal(with("maybe")), "moleculetype/site/shifted: \"maybe\" is neither true nor false"));
}

TEST_CASE("an output that is not enabled is none") {
  const test::TempDir dir;
  std::ofstream(dir.file("case.xml"))
      << xml("", "",
             "<output><outputplugin name=\"ResultWriter\" enabled=\"no\"><writefrequency>0</writefrequency>"
             "<anything/></outputplugin><outputplugin name=\"XyzWriter\" enabled=\"yes\"/></output>");
  const auto found = read_configuration(dir.file("case.xml"));
  REQUIRE(found.outputs.size() == 1);
  CHECK(found.outputs[0].name == "XyzWriter");
  CHECK(found.warnings.empty());
}

TEST_CASE("a temperature that is none") {
  for (const char* value : {"nan", "-2", "inf"}) {
    auto text = xml("");
    text.replace(text.find(">0.9<"), 5, std::string(">") + value + "<");
    CHECK(has(refusal(text), value));
    CHECK(has(refusal(xml("", std::string("<thermostats><thermostat><temperature>") + value +
                                  "</temperature></thermostat></thermostats>")),
              "is no temperature"));
  }
}

TEST_CASE("what a configuration says of the time and the dielectric constant") {
  const test::TempDir dir;
  const auto settings = [&](std::string text, const std::string& old, const std::string& now) {
    if (!old.empty()) text.replace(text.find(old), old.size(), now);
    std::ofstream(dir.file("case.xml")) << text;
    std::vector<std::string> warnings;
    std::string all;
    for (const auto& one : settings_of(read_configuration(dir.file("case.xml")), warnings)) all += one + "\n";
    for (const auto& one : warnings) all += "warning: " + one + "\n";
    return all;
  };
  const std::string ignores = "<ignoreCheckpointTime>true</ignoreCheckpointTime>";
  const auto ignored = settings(xml(""), "", "");
  CHECK(has(ignored, "start.keep_time=false\n"));
  CHECK(has(ignored, "run/currenttime 1.5 has no effect: with ignoreCheckpointTime"));
  CHECK(has(settings(xml(""), ignores, ""), "run/currenttime 1.5 has no effect: the time in the state file"));
  auto text = xml("");
  text.replace(text.find("<file type=\"binary\">"),
               text.find("</file>") - text.find("<file type=\"binary\">"), "<file type=\"ASCII\">a.inp");
  CHECK(has(settings(text, ignores, ""), "start.time=1.5\n"));
  CHECK(settings(text, "", "").find("start.time") == std::string::npos);
  CHECK(ignored.find("reaction_field_epsilon") == std::string::npos);
  CHECK(has(settings(xml("", "<electrostatic type=\"ReactionField\"><epsilon>78</epsilon></electrostatic>"),
                     "", ""),
            "model.reaction_field_epsilon=78\n"));
}

TEST_CASE("a cutoff longer than half the box") {
  auto text = xml("");
  text.replace(text.find("<lx>20"), 6, "<lx>9");
  CHECK(has(refusal(text), "the cutoff 5 is longer than half the length 9 of the box"));
}

}  // namespace tailrace::molecules
