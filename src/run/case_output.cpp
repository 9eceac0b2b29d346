// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/run/case_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/system.hpp"
#include "output/core/groups.hpp"
#include "run/xdmf.hpp"

namespace tailrace::run {

namespace {

/// Compares one table with the domain and the steps of the run.
class Resolver {
 public:
  Resolver(const OutputTable& table, const OutputDomain& domain, Problems& problems)
      : table_(table), domain_(domain), problems_(problems) {}

  output::Stream resolve() {
    output::Stream stream{.name = table_.name,
                          .quantity = table_.quantity,
                          .unit = table_.unit,
                          .reduction = table_.reduction,
                          .cadence = cadence(),
                          .datasets = {}};
    const auto& offered = domain_.quantities;
    if (std::find(offered.begin(), offered.end(), table_.quantity) == offered.end())
      problem("quantity", fmt::format("\"{}\" does not exist in this domain", table_.quantity),
              fmt::format("one of {}", fmt::join(offered, ", ")));
    const bool rows = table_.shape == OutputTable::Shape::rows;
    if (table_.open || rows)
      stream.growth = output::Growth{
          .group = "/" + table_.name, .time_of_step_0_s = domain_.time_of_step_0_s, .dt_s = domain_.dt_s};
    if (rows) {
      stream.selection = output::Rows{table_.components};
    } else if (table_.shape == OutputTable::Shape::points) {
      stream.selection = points();
    } else if (table_.place) {
      stream.quantity = table_.place->source;
      stream.selection = output::Boxes{{table_.place->box}};
    } else if (const Box selected = box(); selected != Box::whole(domain_.points)) {
      stream.selection = output::Boxes{{selected}};
    }
    stream.on_failure = table_.on_failure;
    stream.offset_cells = table_.offset_cells;
    auto values = output::values_dataset(stream, domain_.points, table_.type);
    if (table_.place) {  // as the simulation sees them
      values.shape.resize(1);
      values.shape.insert(values.shape.end(), table_.place->shape.begin(), table_.place->shape.end());
    }
    check_bytes(stream, values.shape);
    stream.datasets = {std::move(values)};
    return stream;
  }

 private:
  void problem(const std::string& name, const std::string& what, const std::string& fix) {
    problems_.add(fmt::format("{}.{}: {}", table_.key, name, what), fix);
  }

  /// Tables of steps and times, which some rank holds, have a value for each sample.
  bool too_many(double samples) {
    constexpr double most = 1 << 27;
    if (samples <= most) return false;
    const char* const name = table_.every_s > 0 ? "every_s" : "every";
    problem(name, fmt::format("makes {:.6g} samples", samples),
            fmt::format("at most {:.0f}: a larger {}", most, name));
    return true;
  }

  /// A file has room for so many bytes, whatever the disk has.
  void check_bytes(const output::Stream& stream, const h5::Shape& shape) {
    constexpr double most = 0x1p60;
    double bytes = static_cast<double>(h5::size_bytes(table_.type));
    for (const auto extent : shape) bytes *= static_cast<double>(extent);
    if (stream.growth || bytes <= most) return;
    problem("every", fmt::format("makes a dataset of {}", human_bytes(bytes)),
            fmt::format("at most {}: fewer samples, or fewer points", human_bytes(most)));
  }

  /// A step that the run takes.
  StepIndex checked(const char* name, StepIndex step) {
    if (step > domain_.steps)
      problem(name, fmt::format("step {} comes after the last", step),
              fmt::format("the run has {} steps", domain_.steps));
    return step;
  }

  output::Cadence cadence() {
    const StepIndex last = table_.open       ? output::Cadence::open_end
                           : table_.last > 0 ? checked("last", table_.last)
                                             : domain_.steps;
    if (table_.reduction == output::Reduction::final)
      return {.first = domain_.steps, .every = 1, .last = domain_.steps};
    if (!table_.at.empty()) {
      checked("at", table_.at.back());
      return output::Cadence::of_list(table_.at);
    }
    const double period =
        table_.every_s > 0 ? table_.every_s / domain_.dt_s : static_cast<double>(table_.every);
    if (!table_.open && too_many(static_cast<double>(last) / std::max(period, 1.0)))
      return {.first = last, .every = last, .last = last};
    if (table_.every_s > 0) return at_times();
    const StepIndex first =
        (std::max<StepIndex>(table_.first, 1) + table_.every - 1) / table_.every * table_.every;
    output::Cadence rhythm{.first = first, .every = table_.every, .last = last};
    if (table_.initial && first == table_.every) {
      rhythm.first = 0;
    } else if (table_.initial && table_.open) {
      problem("initial", "conflicts with first and samples = \"open\"", "leave one of them out");
    } else if (table_.initial) {
      auto steps = rhythm.steps();
      steps.insert(steps.begin(), 0);
      rhythm = output::Cadence::of_list(std::move(steps));
    }
    if (rhythm.samples() == 0)
      problem("every",
              fmt::format("no multiple of {} lies between step {} and step {}", table_.every,
                          std::max<StepIndex>(table_.first, 1), last),
              "a smaller number, or more steps");
    return rhythm;
  }

  /// The first step at or after each multiple of a time; every step where steps are longer than that.
  output::Cadence at_times() {
    constexpr double rounding = 1e-9;
    std::vector<StepIndex> steps;
    if (table_.initial) steps.push_back(0);
    StepIndex last = 0;
    for (double count = 1; last < domain_.steps; ++count) {
      const double step = std::ceil((count - rounding) * table_.every_s / domain_.dt_s);
      if (step > static_cast<double>(domain_.steps)) break;
      last = std::max(last + 1, static_cast<StepIndex>(step));
      steps.push_back(last);
    }
    if (steps.empty()) {
      problem("every_s", fmt::format("the run ends before {:g} s", table_.every_s),
              "a shorter time, or more steps");
      steps.push_back(domain_.steps);
    }
    const StepIndex distance = steps.size() > 1 ? steps[1] - steps[0] : 1;
    const auto uneven = [&](StepIndex a, StepIndex b) { return b - a != distance; };
    if (std::adjacent_find(steps.begin(), steps.end(), uneven) != steps.end())
      return output::Cadence::of_list(std::move(steps));
    return {.first = steps.front(), .every = distance, .last = steps.back()};
  }

  /// A point as the user wrote it, inside the domain; the origin after a problem.
  Index3 inside(const char* name, const std::vector<std::int64_t>& p, std::size_t number) {
    const Index3 point{p[0], p[1], p[2]};
    if (Box::whole(domain_.points).contains(point)) return point;
    const Index3& n = domain_.points;
    if (std::exchange(outside_, true)) return {};  // one of them is enough
    problem(name, fmt::format("[{}] (number {}) is outside the domain", fmt::join(p, ", "), number),
            fmt::format("indices count from 0, the domain has {} x {} x {} points", n.x, n.y, n.z));
    return {};
  }

  output::Points points() {
    output::Points list;
    for (std::size_t i = 0; i < table_.corners.size(); ++i)
      list.points.push_back(inside("select.points", table_.corners[i], i));
    return list;
  }

  Box box() {
    Box selected = Box::whole(domain_.points);
    if (table_.shape == OutputTable::Shape::plane) selected = plane();
    if (table_.shape == OutputTable::Shape::box && table_.corners.size() == 2) {
      const Index3 lo = inside("select.box", table_.corners[0], 0),
                   hi = inside("select.box", table_.corners[1], 1);
      selected = {lo, {hi.x + 1, hi.y + 1, hi.z + 1}};
      if (selected.empty() && !outside_)
        problem("select.box", "is empty", "give the corner with the smaller indices first");
    }
    if (!table_.interior || selected.empty()) return selected;
    const Box cropped = intersect(selected, domain_.interior);
    if (cropped.empty()) problem("select", "lies in the layers at the boundaries", "include them");
    return cropped.empty() ? selected : cropped;
  }

  Box plane() {
    Box selected = Box::whole(domain_.points);
    const std::array sizes{domain_.points.x, domain_.points.y, domain_.points.z};
    const std::size_t axis = table_.plane_axis;
    if (table_.plane_index >= sizes[axis]) {
      problem(fmt::format("select.plane.{}", output::axis_names[axis]),
              fmt::format("{} is outside the domain", table_.plane_index),
              fmt::format("a number from 0 to {}", sizes[axis] - 1));
      return selected;
    }
    const std::array low{&selected.lo.x, &selected.lo.y, &selected.lo.z};
    const std::array high{&selected.hi.x, &selected.hi.y, &selected.hi.z};
    *low[axis] = table_.plane_index;
    *high[axis] = table_.plane_index + 1;
    return selected;
  }

  const OutputTable& table_;
  const OutputDomain& domain_;
  Problems& problems_;
  bool outside_ = false;
};

}  // namespace

CaseOutputs::CaseOutputs(const std::vector<OutputTable>& tables, const OutputDomain& domain,
                         const std::string& subject)
    : frame_{.domain = domain.points,
             .spacing_m = domain.spacing_m,
             .time_of_step_0_s = domain.time_of_step_0_s,
             .dt_s = domain.dt_s,
             .origin_m = domain.origin_m},
      steps_(domain.steps) {
  Problems problems(subject);
  auto taken = domain.taken_paths;
  taken.insert(taken.end(), {output::commit_mark_path, output::steps_path, output::steps_done_path});
  for (const auto& table : tables) {
    if (std::count(taken.begin(), taken.end(), fmt::format("/{}", table.name)) > 0)
      problems.add(fmt::format("{}.name: \"{}\" is the name of something else in the output file", table.key,
                               table.name),
                   "choose another name");
    streams_.push_back(Resolver(table, domain, problems).resolve());
    streams_.back().asked_in = fmt::format("{}: {}", subject, table.key);
    auto& words = described_.emplace_back(output::words_of(streams_.back()));
    if (table.place) words = {.quantity = table.quantity, .selection = "whole", .on_grid = false};
  }
  problems.throw_if_any();
}

void CaseOutputs::describe_grids(const std::string& output) const {
  std::vector<output::Stream> grids;
  for (std::size_t i = 0; i < streams_.size(); ++i)
    if (described_[i].on_grid) grids.push_back(streams_[i]);
  write_xdmf(grids, frame_, output);
}

bool CaseOutputs::add_step_counts(output::FileHead& head) const {
  const auto has = [&](const char* path) {
    return std::any_of(head.datasets.begin(), head.datasets.end(),
                       [&](const auto& dataset) { return dataset.spec.path == path; });
  };
  if (steps_ == 0 || has(output::steps_path)) return false;
  output::add_step_counts(steps_, head);
  return true;
}

void CaseOutputs::add_step_count(output::FileTail& tail, StepIndex steps_done) const {
  output::put_step_count(output::steps_done_path, steps_done, tail);
}

void CaseOutputs::add_to(output::FileHead& head) const {
  for (std::size_t i = 0; i < streams_.size(); ++i)
    output::add_group(streams_[i], described_[i], frame_, head);
}

void CaseOutputs::add_to(output::FileTail& tail, StepIndex steps_done) const {
  for (const auto& stream : streams_) output::add_last_step(stream, frame_, steps_done, tail);
}

}  // namespace tailrace::run
