// SPDX-License-Identifier: BSD-3-Clause
#include "results.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "basis.hpp"

namespace tailrace::heat {

namespace {

/// A number as Fortran's E20.13 writes it: 0.1890013110963E-02.
std::string fortran(double value) {
  if (!std::isfinite(value)) return fmt::format("{:>20}", value);
  constexpr int digits = 13;
  const auto plain = fmt::format("{:.{}E}", value, digits - 1);  // 1.890013110963E-03
  const auto e = plain.find('E');
  const bool negative = plain.front() == '-';
  std::string mantissa = plain.substr(negative ? 1 : 0, e - (negative ? 1 : 0));
  mantissa.erase(1, 1);
  const int exponent = value == 0 ? 0 : std::stoi(plain.substr(e + 1)) + 1;
  return fmt::format("{:>20}", fmt::format("{}0.{}E{}{:02}", negative ? "-" : "", mantissa,
                                           exponent < 0 ? '-' : '+', std::abs(exponent)));
}

std::string row(const char* name, const std::string& value) {
  return fmt::format(" {:<15} = {:>24}\n", name, value);
}

const char* verdict(const Result& result) {
  if (!result.reference()) return "NOT PERFORMED";
  return *result.verified() ? "SUCCESSFUL" : "UNSUCCESSFUL";
}

std::string verification(const Result& result) {
  if (!result.reference())
    return fmt::format(" No reference values provided\n           {}\n No verification performed\n",
                       fortran(result.integral));
  const bool good = *result.verified();
  return fmt::format(
      " Verification being performed for class {}\n accuracy setting for epsilon = {}\n Comparison of "
      "temperature "
      "integrals\n{}{}{}{}\n Verification {}\n",
      result.name(), fortran(accepted_difference),
      good ? "          " : " FAILURE: ", fortran(result.integral), fortran(*result.reference()),
      fortran(*result.difference()), good ? "Successful" : "failed");
}

nlohmann::json phases_json(const Phases& phases) {
  return {{"convection_s", phases.convection_s},
          {"diffusion_s", phases.diffusion_s},
          {"adaptation_s", phases.adaptation_s},
          {"gather_s", phases.gather_s},
          {"scatter_s", phases.scatter_s},
          {"reduction_s", phases.reduction_s},
          {"tree_s", phases.tree_s},
          {"transfer_s", phases.transfer_s},
          {"numbering_s", phases.numbering_s},
          {"map_s", phases.map_s},
          {"fields_s", phases.fields_s},
          {"diagonal_s", phases.diagonal_s}};
}

/// What ranks sent to each other for a mesh, part by part.
nlohmann::json traffic_json(StepIndex step, const MeshTraffic& traffic) {
  constexpr std::array parts{"transfer", "surroundings", "numbering", "map"};
  static_assert(parts.size() == MeshTraffic::parts);
  nlohmann::json json{{"step", step}};
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const auto &all = traffic.all[part], &most = traffic.most[part];
    json[parts[part]] = {
        {"items", all.items},      {"messages", all.messages},      {"bytes", all.bytes},
        {"max_items", most.items}, {"max_messages", most.messages}, {"max_bytes", most.bytes}};
  }
  return json;
}

}  // namespace

std::optional<double> Result::difference() const noexcept {
  if (!reference()) return {};
  return std::abs(integral - *reference()) / *reference();
}

std::optional<bool> Result::verified() const noexcept {
  if (!reference()) return {};
  return *difference() <= accepted_difference;  // false of what is no number
}

Result result_of(const Problem& problem, Solver& solver) {
  constexpr double points_per_mega = 1e-6;
  const double work = static_cast<double>(solver.element_steps() + solver.element_iterations()) *
                      static_cast<double>(element_points_of(problem.order));
  return {.npb_class = class_of(problem),
          .integral = solver.integral(),
          .mops = points_per_mega * work / solver.computed_s()};
}

std::string npb_head(const Problem& problem) {
  const auto tolerance = problem.solver == SolverRule::converged
                             ? fmt::format(" at most, to a tolerance of {}", problem.cg_tolerance)
                             : "";
  const auto order =
      problem.order == npb_order ? "" : fmt::format(" Order of polynomials:        {:8}\n", problem.order);
  return fmt::format(
      " Levels of refinement:        {:8}\n Adaptation frequency:        {:8}\n Time steps:                  "
      "{:8}    dt: "
      "{:14.6E}\n CG iterations:               {:8}{}\n Heat source radius:          {:8.4f}\n{}\n",
      problem.level, problem.adapt_every, problem.steps, problem.dt, problem.cg_iterations, tolerance,
      problem.radius, order);
}

std::string npb_adaptation(const Adaptation& done) {
  return fmt::format("  Step {:4}: elements refined, merged, total:{:6} {:6} {:6}\n", done.step, done.splits,
                     done.merged, done.elements);
}

std::string npb_timers(const Phases& phases, double total_s) {
  const std::array rows{std::pair{"total", total_s},
                        std::pair{"convect", phases.convection_s},
                        std::pair{"diffusion", phases.diffusion_s},
                        std::pair{"adaptation", phases.adaptation_s},
                        std::pair{"- tree", phases.tree_s},
                        std::pair{"- transfer", phases.transfer_s},
                        std::pair{"- numbering", phases.numbering_s},
                        std::pair{"- map", phases.map_s},
                        std::pair{"- fields", phases.fields_s},
                        std::pair{"- diagonal", phases.diagonal_s},
                        std::pair{"transf (gather)", phases.gather_s},
                        std::pair{"transfb (scatter)", phases.scatter_s},
                        std::pair{"reductions", phases.reduction_s}};
  std::string text = "  SECTION           Time (secs)\n";
  for (const auto& [name, seconds] : rows)
    text += fmt::format("  {:<18}:{:9.3f}  ({:6.2f}%)\n", name, seconds,
                        total_s > 0 ? 100 * seconds / total_s : 0.0);
  return text;
}

std::string npb_result(const Problem& problem, const Result& result, double seconds, int ranks, int threads) {
  const double each = result.mops / (static_cast<double>(ranks) * threads);
  return verification(result) + "\n\n UA Benchmark Completed.\n" +
         row("Class", std::string(1, result.name())) + row("Size", fmt::format("{}", problem.level)) +
         row("Iterations", fmt::format("{}", problem.steps)) +
         row("Time in seconds", fmt::format("{:.2f}", seconds)) +
         row("Total processes", fmt::format("{}", ranks)) +
         row("Total threads", fmt::format("{}", ranks * threads)) +
         row("Mop/s total", fmt::format("{:.2f}", result.mops)) +
         row("Mop/s/thread", fmt::format("{:.2f}", each)) + row("Operation type", "coll. point advanced") +
         row("Verification", verdict(result)) + row("Version", TAILRACE_VERSION);
}

nlohmann::json to_json(const Problem& problem, const Solver& solver, const std::optional<Result>& result) {
  const NpbClass* const known = class_of(problem);
  nlohmann::json json{{"class", std::string(1, known == nullptr ? 'U' : known->name)},
                      {"order", problem.order},
                      {"computed_s", solver.computed_s()},
                      {"element_steps", solver.element_steps()},
                      {"element_iterations", solver.element_iterations()},
                      {"phases", phases_json(solver.phases())}};
  auto& list = json["adaptations"] = nlohmann::json::array();
  for (const auto& done : solver.adaptations())
    list.push_back({{"step", done.step},
                    {"refined", done.splits},
                    {"merged", done.merged},
                    {"elements", done.elements},
                    {"mortars", done.mortars}});
  auto& shares = json["max_on_a_rank"] = nlohmann::json::array();
  for (const auto& done : solver.adaptations())
    if (done.max_elements > 0)  // of this run
      shares.push_back({{"step", done.step}, {"elements", done.max_elements}, {"mortars", done.max_mortars}});
  auto& traffic = json["traffic"] = nlohmann::json::array();
  for (const auto& done : solver.adaptations())
    if (done.max_elements > 0) traffic.push_back(traffic_json(done.step, done.traffic));
  auto& accesses = json["accesses"] = nlohmann::json::array();
  for (const auto& access : solver.accesses())
    accesses.push_back({{"step", access.step}, {"bins", Mortars::access_bins}, {"counts", access.counts}});
  if (!result) return json;
  json["integral"] = result->integral;
  json["mops"] = result->mops;
  if (result->reference()) {
    json["reference"] = *result->reference();
    json["difference"] = *result->difference();
    json["verified"] = *result->verified();
  }
  return json;
}

}  // namespace tailrace::heat
