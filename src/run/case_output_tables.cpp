// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

#include "output/core/groups.hpp"
#include "tailrace/run/case_file.hpp"
#include "tailrace/run/case_output.hpp"

namespace tailrace::run {

namespace {

std::string listed(const std::vector<std::string>& names) {
  return fmt::format("one of {}", fmt::join(names, ", "));
}

/// Reads one [[output]] table.
class TableReader {
 public:
  TableReader(CaseFile& file, std::string key) : file_(file), key_(std::move(key)) {}

  OutputTable read(const std::vector<OfferedQuantity>& offered, const std::string& layers) {
    OutputTable table;
    table.key = key_;
    read_name(table);
    read_quantity(offered, table);
    read_select(table);
    if (!layers.empty()) read_layers(layers, table);
    read_reduce(table);
    read_steps(table);
    const auto type = file_.choice(at("type"));
    table.type = type == 1 ? h5::ElementType::float64 : h5::ElementType::float32;
    using output::OnFailure;
    constexpr std::array policies{OnFailure::stop, OnFailure::retry, OnFailure::drop,
                                  OnFailure::switch_directory};
    table.on_failure = policies[file_.choice(at("on_failure"))];
    return table;
  }

 private:
  [[nodiscard]] std::string at(const std::string& name) const { return key_ + "." + name; }
  void problem(const std::string& name, const std::string& what, const std::string& fix) {
    file_.add_problem(at(name), what, fix);
  }

  void read_name(OutputTable& table) {
    table.name = file_.text(at("name")).value_or("");
    const auto word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; };
    const bool good = table.name.size() <= 64 && std::all_of(table.name.begin(), table.name.end(), word);
    if (!good)
      problem("name", fmt::format("\"{}\" is not accepted", table.name), "up to 64 letters, digits, _ and -");
  }

  void read_quantity(const std::vector<OfferedQuantity>& offered, OutputTable& table) {
    std::vector<std::string> names;
    for (const auto& quantity : offered) names.push_back(quantity.name);
    table.quantity = file_.text(at("quantity")).value_or("");
    if (table.quantity.empty()) return;
    const auto found = std::find(names.begin(), names.end(), table.quantity);
    if (found == names.end())
      problem("quantity", fmt::format("\"{}\" is not computed here", table.quantity), listed(names));
    else
      take(offered[static_cast<std::size_t>(found - names.begin())], table);
  }

  static void take(const OfferedQuantity& offered, OutputTable& table) {
    table.unit = offered.unit;
    table.offset_cells = offered.offset_cells;
    if (offered.components == 0) return;
    table.shape = OutputTable::Shape::rows;
    table.components = offered.components;
  }

  /// Rows have no places to choose, and no two samples of them the same.
  void refuse_for_rows(const char* name, const OutputTable& table) {
    if (file_.has(at(name)))
      problem(name, fmt::format("does not go with \"{}\", which has any number of rows", table.quantity),
              "leave it out");
  }

  void read_select(OutputTable& table) {
    if (table.shape == OutputTable::Shape::rows) return refuse_for_rows("select", table);
    const auto shapes = file_.names(at("select"));
    const auto has = [&](const char* name) { return std::count(shapes.begin(), shapes.end(), name) > 0; };
    const int given = has("box") + has("points") + has("plane");
    if (shapes.empty()) {
      read_place();
    } else if (given != 1) {
      if (given > 1 || shapes.empty())
        problem("select", "names more than one place", "give one of box, points, plane");
      for (const char* name : {"box", "points"}) file_.integer_lists(at("select.") + name);
      if (has("plane")) read_plane(table);
    } else if (has("plane")) {
      read_plane(table);
    } else {
      table.shape = has("box") ? OutputTable::Shape::box : OutputTable::Shape::points;
      read_corners(has("box") ? "select.box" : "select.points", table);
    }
  }

  void read_place() {
    const auto text = file_.text(at("select"));
    if (text && *text != "whole")
      problem("select", fmt::format("\"{}\" is not accepted", *text), "one of whole");
  }

  void read_corners(const std::string& name, OutputTable& table) {
    table.corners = file_.integer_lists(at(name)).value_or(std::vector<std::vector<std::int64_t>>());
    const bool box = table.shape == OutputTable::Shape::box;
    const bool triples = std::all_of(table.corners.begin(), table.corners.end(), [](const auto& corner) {
      return corner.size() == output::axis_names.size();
    });
    const bool counted = box ? table.corners.size() == 2 : !table.corners.empty();
    if (triples && counted) return;
    table.corners.clear();
    problem(name, "is not accepted",
            box ? "two corners, as in [[0, 0, 0], [9, 19, 29]]" : "points as in [[0, 0, 0], [9, 19, 29]]");
  }

  void read_plane(OutputTable& table) {
    table.shape = OutputTable::Shape::plane;
    int given = 0;
    for (std::size_t axis = 0; axis < output::axis_names.size(); ++axis) {
      const auto index = file_.integer(at("select.plane.") + output::axis_names[axis]);
      if (!index) continue;
      ++given;
      table.plane_axis = axis;
      table.plane_index = *index;
    }
    if (given != 1) problem("select.plane", "is not one plane", "write {plane = {x = 12}}");
  }

  void read_layers(const std::string& layers, OutputTable& table) {
    const bool given = file_.has(at(layers));
    table.interior = file_.choice(at(layers)) == 1;
    if (given && table.shape == OutputTable::Shape::points)
      problem(layers, "says nothing of single points", "leave it out");
  }

  void read_reduce(OutputTable& table) {
    if (table.shape == OutputTable::Shape::rows) return refuse_for_rows("reduce", table);
    using output::Reduction;
    const std::array all{Reduction::none, Reduction::min,  Reduction::max,
                         Reduction::rms,  Reduction::mean, Reduction::final};
    table.reduction = all[file_.choice(at("reduce"))];
  }

  void read_steps(OutputTable& table) {
    table.every = file_.integer(at("every")).value_or(0);
    table.first = file_.integer(at("first")).value_or(0);
    table.last = file_.integer(at("last")).value_or(0);
    table.every_s = file_.real(at("every_s")).value_or(0);
    table.initial = *file_.boolean(at("initial"));
    const auto list = file_.integers(at("at"));
    if (list) table.at = *list;
    const bool ascending =
        std::adjacent_find(table.at.begin(), table.at.end(), std::greater_equal<>()) == table.at.end();
    if (list && (list->empty() || list->front() < 0 || !ascending)) {
      problem("at", "is not a list of ascending steps", "such as [100, 250]");
      table.at = {0};
    }
    read_period(list.has_value(), table);
    const bool rhythm =
        table.every > 0 || table.first > 0 || table.last > 0 || table.initial || table.every_s > 0;
    table.open = file_.choice(at("samples")) == 1;
    if (table.open &&
        (list || table.last > 0 || table.every_s > 0 || table.reduction != output::Reduction::none))
      problem("samples", "\"open\" conflicts with at, last, every_s or reduce",
              "leave them out: samples continue as long as the run, and all are kept");
    if (list && rhythm) problem("at", "conflicts with every, first, last or initial", "give at alone");
    if (table.reduction == output::Reduction::final) {
      if (list || rhythm)
        problem("reduce", "\"final\" takes the last step of the run alone",
                "leave at, every, first, last and initial out");
    } else if (!list && table.every == 0 && table.every_s == 0) {
      if (table.reduction == output::Reduction::none && !file_.has(at("every")))
        problem("every", "is missing", "every = 10, every_s = 0.01, or at = [100, 250]");
      table.every = 1;
    }
  }

  /// The time between samples, where the case gives that instead of a number of steps.
  void read_period(bool list, OutputTable& table) {
    if (!file_.has(at("every_s"))) return;
    if (list || table.every > 0 || table.first > 0 || table.last > 0)
      problem("every_s", "conflicts with at, every, first or last", "give one of them");
    if (table.every_s > 0) return;
    problem("every_s", "is no time between samples", "every_s = 0.01");
    table.every = 1;
  }

  CaseFile& file_;
  std::string key_;
};

}  // namespace

std::vector<OutputTable> read_output_tables(CaseFile& file, const std::vector<OfferedQuantity>& offered,
                                            const std::string& layers) {
  std::vector<OutputTable> tables;
  std::set<std::string> names;
  const auto count = file.tables("output");
  for (std::size_t i = 0; i < count; ++i) {
    tables.push_back(TableReader(file, fmt::format("output[{}]", i)).read(offered, layers));
    const auto& name = tables.back().name;
    if (!name.empty() && !names.insert(name).second)
      file.add_problem(fmt::format("output[{}].name", i),
                       fmt::format("\"{}\" is taken by another output", name), "choose another name");
  }
  return tables;
}

}  // namespace tailrace::run
