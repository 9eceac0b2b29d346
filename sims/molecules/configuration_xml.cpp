// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "configuration.hpp"
#include "xml_reader.hpp"

namespace tailrace::molecules {

namespace {

using Node = pugi::xml_node;

class Reader {
 public:
  Reader(const std::string& text, const std::string& path) : xml_(text, path) { result_.path = path; }

  Configuration read() {
    const auto root = xml_.find(xml_.root(), "mardyn");
    if (!root) xml_.problems().add("has no element mardyn", "a configuration of ls1 mardyn");
    xml_.problems().throw_if_any();
    if (const auto units = xml_.find(root, "refunits")) xml_.pass_over(units);
    const auto simulation = xml_.find(root, "simulation");
    expect_type(simulation, "MD");
    read_time(simulation);
    const auto ensemble = xml_.find(simulation, "ensemble");
    expect_type(ensemble, "NVT");
    read_temperature(ensemble);
    read_box(ensemble);
    read_components(xml_.find(ensemble, "components"));
    read_start(xml_.find(ensemble, "phasespacepoint"));
    read_algorithm(xml_.find(simulation, "algorithm"));
    for (const auto plugin : xml_.find_all(xml_.find(simulation, "output"), "outputplugin"))
      read_output(plugin);
    check_configuration(result_, xml_.problems());
    xml_.problems().throw_if_any();
    const auto unknown = xml_.unknown();
    result_.warnings.insert(result_.warnings.end(), unknown.begin(), unknown.end());
    return result_;
  }

 private:
  /// Refuses an element whose attribute `type` is another.
  void expect_type(Node node, const std::string& type) {
    const std::string found = node.attribute("type").value();
    if (node && !found.empty() && found != type)
      xml_.problem(node, fmt::format("type {} is not known here", found), type);
  }

  void read_time(Node simulation) {
    const auto integrator = xml_.find(simulation, "integrator");
    expect_type(integrator, "Leapfrog");
    result_.dt = xml_.needed(integrator ? integrator : simulation, "timestep");
    const auto run = xml_.find(simulation, "run");
    result_.time = xml_.number(run, "currenttime");
    if (!std::isfinite(result_.time.value_or(0)))
      xml_.problem(run, fmt::format("currenttime: {} is no time", *result_.time), "a number");
    result_.steps = xml_.number<std::int64_t>(run, "production/steps");
    if (const auto steps = xml_.number<std::int64_t>(run, "equilibration/steps"); steps.value_or(0) > 0)
      result_.warnings.push_back(
          fmt::format("{}: run/equilibration/steps has no effect: all steps are alike", result_.path));
  }

  /// Of the ensemble, or of a thermostat in its place; 0 says that there is none.
  void read_temperature(Node node) {
    const auto target = xml_.number(node, "temperature");
    if (!target) return;
    if (!(*target >= 0) || !std::isfinite(*target))
      xml_.problem(xml_.find(node, "temperature"), fmt::format("{} is no temperature", *target),
                   "a number above 0, or 0 for no thermostat");
    result_.temperature = target;
  }

  void read_box(Node ensemble) {
    const auto domain = xml_.find(ensemble, "domain");
    if (!domain) return;
    expect_type(domain, "box");
    result_.box = Vec3{xml_.needed(domain, "lx"), xml_.needed(domain, "ly"), xml_.needed(domain, "lz")};
  }

  Vec3 vector(Node node, const std::string& path) {
    return {xml_.needed(node, path + "/x"), xml_.needed(node, path + "/y"), xml_.needed(node, path + "/z")};
  }
  /// The unit vector and the moment of a dipole or quadrupole.
  std::pair<Vec3, double> moment(Node site, const std::string& path) {
    const auto direction = vector(site, path);
    const double length = std::sqrt(dot(direction, direction));
    if (!(length > 0)) xml_.problem(site, fmt::format("{} has no direction", path), "a vector that is not 0");
    return {1 / length * direction, xml_.needed(site, path + "/abs")};
  }

  void read_components(Node components) {
    auto& model = result_.model;
    for (const auto type : xml_.find_all(components, "moleculetype")) {
      model.components.emplace_back();
      model.components.back().name = type.attribute("name").value();
      for (const auto site : xml_.find_all(type, "site")) read_site(site, model.components.back());
      if (const auto moments = xml_.find(type, "momentsofinertia"))
        model.components.back().inertia_override = {xml_.number(moments, "Ixx").value_or(0),
                                                    xml_.number(moments, "Iyy").value_or(0),
                                                    xml_.number(moments, "Izz").value_or(0)};
    }
    const std::size_t n = model.components.size();
    if (n > 1) model.mixing.resize(n * (n - 1) / 2);
    for (const auto rule : xml_.find_all(xml_.find(components, "mixing"), "rule")) read_rule(rule);
  }

  void read_site(Node site, Component& component) {
    const std::string type = site.attribute("type").value();
    const auto place = vector(site, "coords");
    const auto add_centre = [&] {
      component.lennard_jones.push_back({.place = place,
                                         .mass = xml_.needed(site, "mass"),
                                         .epsilon = xml_.needed(site, "epsilon"),
                                         .sigma = xml_.needed(site, "sigma"),
                                         .shifted = xml_.truth(site, "shifted", false)});
    };
    const auto add_dipole = [&] {
      const auto [direction, size] = moment(site, "dipolemoment");
      component.dipoles.push_back({place, direction, size});
    };
    if (type == "LJ126") {
      add_centre();
    } else if (type == "Charge") {
      component.charges.push_back({place, xml_.needed(site, "mass"), xml_.needed(site, "charge")});
    } else if (type == "Dipole") {
      add_dipole();
    } else if (type == "Quadrupole") {
      const auto [direction, size] = moment(site, "quadrupolemoment");
      component.quadrupoles.push_back({place, direction, size});
    } else if (type == "Stockmayer") {
      add_centre();
      add_dipole();
    } else {
      xml_.problem(site, fmt::format("unknown type {}", type),
                   "LJ126, Charge, Dipole, Quadrupole or Stockmayer");
    }
  }

  void read_rule(Node rule) {
    expect_type(rule, "LB");
    auto& model = result_.model;
    const auto n = static_cast<long long>(model.components.size());
    const auto [low, high] =
        std::minmax({rule.attribute("cid1").as_llong(), rule.attribute("cid2").as_llong()});
    const double xi = xml_.number(rule, "xi").value_or(1), eta = xml_.number(rule, "eta").value_or(1);
    if (low < 1 || high > n || low == high)
      return xml_.problem(rule, fmt::format("there is no pair of components {} and {}", low, high),
                          "two different components, counted from 1");
    const long long i = low - 1, j = high - 1;
    model.mixing[static_cast<std::size_t>(i * n - i * (i + 1) / 2 + (j - i - 1))] = {.xi = xi, .eta = eta};
  }

  void read_start(Node start) {
    if (!start) return;
    result_.ignore_start_time = xml_.truth(start, "ignoreCheckpointTime", false);
    const auto file = xml_.find(start, "file");
    const std::string type = file.attribute("type").value();
    if (type == "ASCII") {
      result_.start = {PhaseSpaceFormat::ascii, "", beside(result_.path, xml_.text(start, "file").value())};
    } else if (type == "binary") {
      result_.start = {PhaseSpaceFormat::binary, beside(result_.path, xml_.text(file, "header").value_or("")),
                       beside(result_.path, xml_.text(file, "data").value_or(""))};
    } else {
      const auto generator = xml_.find(start, "generator");
      const auto node = generator ? generator : start;
      xml_.problem(node, generator ? "generators are not known here" : "no file is named",
                   "<file type=\"ASCII\">NAME</file>, or one of type binary with header and data");
    }
  }

  void read_algorithm(Node algorithm) {
    read_parallelisation(xml_.find(algorithm, "parallelisation"));
    const auto cells = xml_.find(algorithm, "datastructure");
    const std::string structure = cells.attribute("type").value();
    if (structure != "AdaptiveSubCells") expect_type(cells, "LinkedCells");
    result_.cells_per_cutoff = xml_.number<int>(cells, "cellsInCutoffRadius");
    if (result_.cells_per_cutoff && *result_.cells_per_cutoff < 1)
      xml_.problem(cells, "cellsInCutoffRadius is less than 1", "1 or more");

    auto& model = result_.model;
    const auto cutoffs = xml_.find(algorithm, "cutoffs");
    expect_type(cutoffs, "CenterOfMass");
    const auto all = xml_.number(cutoffs, "defaultCutoff"), centres = xml_.number(cutoffs, "radiusLJ");
    model.cutoff = all ? *all : centres.value_or(0);
    model.lj_cutoff = centres ? *centres : model.cutoff;

    const auto field = xml_.find(algorithm, "electrostatic");
    expect_type(field, "ReactionField");
    if (const auto epsilon = xml_.number(field, "epsilon")) {
      model.reaction_field_epsilon = *epsilon;
      result_.states_field = true;
    }
    const auto range = xml_.find(algorithm, "longrange");
    if (std::string_view(range.attribute("type").value()) == "none")
      model.long_range = LongRange::none;
    else
      expect_type(range, "homogeneous");
    read_thermostats(xml_.find(algorithm, "thermostats"));
  }

  void read_parallelisation(Node node) {
    auto& parallel = result_.parallelisation;
    const std::string type = node.attribute("type").value();
    if (type == "KDDecomposition")
      parallel.division = Configuration::Division::kd;
    else
      expect_type(node, "DomainDecomposition");
    parallel.every = xml_.number<std::int64_t>(node, "updateFrequency");
    parallel.full_search_ranks = xml_.number<int>(node, "fullSearchThreshold");
    parallel.min_cells = xml_.number<int>(node, "minNumCellsPerDimension");
    parallel.imbalance = xml_.number(node, "rebalanceLimit");
    if (xml_.find(node, "splitBiggestDimension"))
      parallel.split_longest = xml_.truth(node, "splitBiggestDimension", false);
    if (const auto grid = xml_.find(node, "MPIGridDims")) {
      std::array<int, 3> ranks{};
      for (std::size_t d = 0; d < 3; ++d)
        ranks[d] = xml_.number<int>(grid, std::string(1, "xyz"[d])).value_or(0);
      if (std::any_of(ranks.begin(), ranks.end(), [](int n) { return n < 0; }))
        xml_.problem(grid, "a number of ranks is negative");
      parallel.grid = ranks;
    }
    const auto boundaries = xml_.find(node, "boundaries");
    for (const char* axis : {"x", "y", "z"})
      if (const auto kind = xml_.text(boundaries, axis); kind && *kind != "periodic")
        xml_.problem(boundaries, fmt::format("{}: {} is not known here", axis, *kind), "periodic");
  }

  void read_thermostats(Node thermostats) {
    if (const auto control = xml_.find(thermostats, "TemperatureControl"))
      xml_.problem(control, "thermostats of regions are not known here",
                   "one thermostat of type VelocityScaling");
    for (const auto thermostat : xml_.find_all(thermostats, "thermostat")) {
      expect_type(thermostat, "VelocityScaling");
      const std::string component = thermostat.attribute("componentId").value();
      if (!component.empty() && component != "global")
        xml_.problem(thermostat, "thermostats of components are not known here", "componentId=\"global\"");
      read_temperature(thermostat);
    }
  }

  void read_output(Node plugin) {
    if (!xml_.truth_of_attribute(plugin, "enabled", true)) return xml_.pass_over(plugin);
    xml_.truth(plugin, "incremental", true);
    Configuration::Output output;
    output.name = plugin.attribute("name").value();
    output.every = xml_.number<std::int64_t>(plugin, "writefrequency").value_or(1);
    if (output.every < 1) xml_.problem(plugin, "writefrequency is less than 1", "1 or more");
    output.prefix = xml_.text(plugin, "outputprefix").value_or("");
    for (const auto child : plugin.children()) {
      const std::string name = child.name();
      if (child.type() == pugi::node_element && name != "writefrequency" && name != "outputprefix")
        output.options[name] = xml_.text(plugin, name).value_or("");
    }
    result_.outputs.push_back(output);
  }

  XmlReader xml_;
  Configuration result_;
};

}  // namespace

Configuration read_xml_configuration(const std::string& text, const std::string& path) {
  return Reader(text, path).read();
}

}  // namespace tailrace::molecules
