// SPDX-License-Identifier: BSD-3-Clause
#include "verify.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "base/text.hpp"
#include "file_reader.hpp"
#include "numbers.hpp"
#include "output/core/groups.hpp"
#include "selection.hpp"
#include "tailrace/error.hpp"

namespace tailrace::rehearse {

namespace {

constexpr const char* cells_attribute = "rehearsal_cells";
constexpr const char* type_attribute = "rehearsal_type";
constexpr const char* steps_path = "/rehearsal_steps_done";
constexpr const char* datasets_attribute = "rehearsal_datasets";
constexpr const char* particles_attribute = "rehearsal_particles";
constexpr const char* particle_sum_path = "/rehearsal_particle_sum";
constexpr const char* steps_name = "/reduced_steps";  // in the group of a reduction
constexpr std::size_t shown_mismatches = 10;
constexpr std::uint64_t block_values = std::uint64_t{1} << 20;

/// The number of a point, and its value.
using Row = std::array<double, row_components>;

Error damaged(FileReader& file, const std::string& what) {
  return Error(ErrorInfo{.kind = ErrorKind::input,
                         .message = fmt::format("{}: {}", file.path(), what),
                         .path = file.path(),
                         .hint = "give an output file of tailrace-rehearse"});
}

Formula read_formula(FileReader& file) {
  const auto cells = file.text_attribute("/", cells_attribute),
             type = file.text_attribute("/", type_attribute);
  if (!cells || !type) throw damaged(file, "no rehearsal wrote this file");
  const auto parts = split_text(*cells, ' ');
  std::vector<std::int64_t> n;
  for (const auto& part : parts)
    n.push_back(parse_number<std::int64_t>(part, 1, largest_exact_float64).value_or(0));
  if (n.size() != 3 || std::count(n.begin(), n.end(), 0) > 0 || (*type != "float32" && *type != "float64"))
    throw damaged(file, fmt::format("\"{}\" of \"{}\" describes no rehearsal", *cells, *type));
  return {{n[0], n[1], n[2]}, *type == "float32" ? h5::ElementType::float32 : h5::ElementType::float64};
}

/// Whether a number is another one of which not all bytes were written, in either order of the bytes.
template <class Real, class Bits>
bool has_first_bytes(double found, double whole) noexcept {
  const auto bits = std::bit_cast<Bits>(static_cast<Real>(found)),
             all = std::bit_cast<Bits>(static_cast<Real>(whole));
  if (bits == all) return false;
  for (unsigned written = 8; written < 8 * sizeof(Bits); written += 8) {
    const Bits mask = (Bits{1} << written) - 1;
    if (bits == (all & mask) || bits == (all & ~(static_cast<Bits>(~Bits{0}) >> written))) return true;
  }
  return false;
}
bool is_part_of(double found, double whole, h5::ElementType type) noexcept {
  return type == h5::ElementType::float32 ? has_first_bytes<float, std::uint32_t>(found, whole)
                                          : has_first_bytes<double, std::uint64_t>(found, whole);
}

/// A checksum as a file holds it: every reader takes halves for what they are, numbers beyond 2^53 it may
/// not.
std::vector<std::int64_t> halves(std::uint64_t sum) {
  constexpr unsigned half_bits = 32;
  return {static_cast<std::int64_t>(sum >> half_bits), static_cast<std::int64_t>(sum & 0xffffffffU)};
}

/// The points of a selection, in the order of the elements of a sample.
class Places {
 public:
  explicit Places(const Box& box) : box_(box), extents_(box.extents()) {}
  explicit Places(std::vector<Index3> points) : points_(std::move(points)) {}

  [[nodiscard]] std::int64_t count() const noexcept {
    return points_.empty() ? extents_.volume() : static_cast<std::int64_t>(points_.size());
  }
  [[nodiscard]] Index3 at(std::int64_t i) const noexcept {
    if (!points_.empty()) return points_[static_cast<std::size_t>(i)];
    return {box_.lo.x + i % extents_.x, box_.lo.y + i / extents_.x % extents_.y,
            box_.lo.z + i / extents_.x / extents_.y};
  }
  /// The index of an element in a dataset of samples.
  [[nodiscard]] std::vector<std::int64_t> index(std::int64_t sample, std::int64_t i) const {
    if (!points_.empty()) return {sample, i};
    return {sample, i / extents_.x / extents_.y, i / extents_.x % extents_.y, i % extents_.x};
  }

 private:
  Box box_;
  Index3 extents_;
  std::vector<Index3> points_;
};

Places read_places(FileReader& file, const std::string& group, Index3 cells) {
  const auto text = file.text_attribute(group, "selection").value_or("");
  if (text == "whole") return Places(Box::whole(cells));
  if (file.has(group + "/points")) {
    const auto numbers = file.integers(group + "/points");
    std::vector<Index3> points;
    for (std::size_t i = 0; i + 2 < numbers.size(); i += 3)
      points.push_back({numbers[i], numbers[i + 1], numbers[i + 2]});
    if (!points.empty()) return Places(std::move(points));
  }
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const auto corners = json.is_object() ? json.value("box", nlohmann::json()) : nlohmann::json();
  try {
    const auto c = corners.get<std::array<std::array<std::int64_t, 3>, 2>>();
    const Box box{{c[0][0], c[0][1], c[0][2]}, {c[1][0] + 1, c[1][1] + 1, c[1][2] + 1}};
    if (!box.empty()) return Places(box);
  } catch (const nlohmann::json::exception&) {
    throw damaged(file, fmt::format("{}: the selection \"{}\" cannot be read", group, text));
  }
  throw damaged(file, fmt::format("{}: the selection \"{}\" is empty", group, text));
}

/// Describes what reductions make of the steps: the formula is linear in time.
struct StepMeans {
  StepIndex first = 0, last = 0;
  double mean = 0, mean_square = 0;

  explicit StepMeans(std::span<const std::int64_t> steps) : first(steps.front()), last(steps.back()) {
    const auto count = static_cast<double>(steps.size());
    for (const auto step : steps) {
      const auto t = static_cast<double>(step);
      mean += t / count;
      mean_square += t * t / count;
    }
  }
};

/// Returns what a reduction leaves of the values of one point.
double reduced(const std::string& reduction, const Formula& formula, Index3 p, const StepMeans& steps) {
  if (reduction == "min") return formula.value(p, steps.first);
  if (reduction == "max" || reduction == "final") return formula.value(p, steps.last);
  const auto start = static_cast<double>(formula.number(p));
  const auto slope = static_cast<double>(formula.cells.volume());
  if (reduction == "mean") return start + slope * steps.mean;
  return std::sqrt(start * start + 2 * start * slope * steps.mean + slope * slope * steps.mean_square);
}

/// Compares the values of one file.
class Comparison {
 public:
  explicit Comparison(const std::string& path)
      : file_(FileReader::open(path)), formula_(read_formula(*file_)) {
    verdict_.path = path;
  }

  Verdict compare() {
    read_progress();
    for (const auto& group : file_->groups()) compare_group(group);
    check_count();
    check_particles();
    return std::move(verdict_);
  }

 private:
  void check_count() {
    const auto planned = file_->text_attribute("/", datasets_attribute).value_or("");
    if (const auto there = fmt::format("{}", groups_); planned != there)
      verdict_.problems.push_back(fmt::format("the file has {} of its {} datasets", there, planned));
  }

  /// Of a run that ended in good order: whether its particles came where the formula has them.
  void check_particles() {
    const auto text = file_->text_attribute("/", particles_attribute);
    if (!text || verdict_.steps_done == 0) return;
    const auto particle_formula = ParticleFormula::parse(formula_.cells, *text);
    const auto found = file_->integers(particle_sum_path);
    const auto expected = halves(
        particle_formula.sum(0, static_cast<std::uint64_t>(particle_formula.count()), verdict_.steps_done));
    if (found != expected)
      verdict_.problems.push_back(fmt::format("{} particles have the checksum {:08x} instead of {:08x}",
                                              particle_formula.count(), fmt::join(found, ""),
                                              fmt::join(expected, "")));
  }

  void read_progress() {
    if (!file_->has(steps_path)) throw damaged(*file_, fmt::format("{} is missing", steps_path));
    verdict_.steps_done = file_->integers(steps_path).at(0);
    if (!file_->has(output::commit_mark_path)) return;  // no series
    const auto slots = file_->integers(output::commit_mark_path);
    if (!slots.empty()) verdict_.recorded = *std::min_element(slots.begin(), slots.end());
    if (verdict_.recorded < verdict_.steps_done)
      verdict_.problems.push_back(fmt::format("the commit mark holds {} of the {} steps done",
                                              verdict_.recorded, verdict_.steps_done));
  }

  void compare_group(const std::string& group) {
    ++groups_;
    if (file_->has(group + "/offsets")) return compare_rows(group);
    const auto reduction = file_->text_attribute(group, "reduction").value_or("");
    const auto places = read_places(*file_, group, formula_.cells);
    auto steps = file_->integers(group + "/step");
    const std::string path = group + values_name;
    const std::uint64_t expected = static_cast<std::uint64_t>(places.count()) * steps.size();
    // Where samples were not counted beforehand, some may be there before they are counted.
    if (const auto held = file_->count(path); held < expected || (held > expected && !file_->grows(path)))
      return verdict_.problems.push_back(
          fmt::format("{}: holds {} values instead of {}", path, held, expected));
    ++verdict_.datasets;
    reduction == "none" ? compare_series(path, places, steps)
                        : compare_reduction(group, places, reduction, steps.at(0));
  }

  /// The samples up to the commit mark; within a sample the order of the rows is that of the ranks.
  void compare_rows(const std::string& group) {
    ++verdict_.datasets;
    const std::string path = group + values_name;
    const auto steps = file_->integers(group + "/step"), offsets = file_->integers(group + "/offsets");
    const auto there = samples_there(steps);
    if (there > 0 && (static_cast<std::int64_t>(offsets.size()) <= there ||
                      static_cast<std::int64_t>(file_->count(path)) / row_components <
                          offsets[static_cast<std::size_t>(there)]))
      return verdict_.problems.push_back(
          fmt::format("{}: {} samples are recorded, but not all of them are there", path, there));
    for (std::int64_t k = 0; k < there; ++k) {
      const auto sample = static_cast<std::size_t>(k);
      compare_sample(path, steps[sample], offsets[sample], offsets[sample + 1]);
    }
    verdict_.samples += there;
  }

  void compare_sample(const std::string& path, StepIndex step, std::int64_t begin, std::int64_t end) {
    const auto type = file_->type(path);
    std::vector<Row> found(static_cast<std::size_t>(end - begin));
    if (!found.empty())
      file_->read(path, static_cast<std::uint64_t>(begin * row_components),
                  std::span(found.front().data(), found.size() * row_components));
    std::sort(found.begin(), found.end());
    std::size_t i = 0;
    for (std::int64_t number = 0; number < formula_.cells.volume(); ++number) {
      if (!Formula::is_row(number, step)) continue;
      const Index3& n = formula_.cells;
      const Index3 p{number % n.x, number / n.x % n.y, number / n.x / n.y};
      const Row expected{Formula::rounded(number, type),
                         Formula::rounded(static_cast<std::int64_t>(formula_.value(p, step)), type)};
      const auto at = begin + static_cast<std::int64_t>(i);
      if (i >= found.size())
        mark({path, {at}, p, step, expected[1], 0});
      else if (found[i] != expected)
        mark({path, {at}, p, step, expected[1], found[i][1]});
      ++i;
    }
    if (i < found.size())
      verdict_.problems.push_back(
          fmt::format("{}: step {} has {} rows instead of {}", path, step, found.size(), i));
    verdict_.values += static_cast<std::int64_t>(found.size()) * row_components;
  }

  /// Samples of a series that must be there.
  [[nodiscard]] std::int64_t samples_there(std::span<const std::int64_t> steps) const {
    const auto recorded = verdict_.recorded;
    return recorded < 1 ? 0 : std::upper_bound(steps.begin(), steps.end(), recorded) - steps.begin();
  }

  void compare_series(const std::string& path, const Places& places, std::span<const std::int64_t> steps) {
    const auto there = samples_there(steps);
    verdict_.samples += there;
    const auto type = file_->type(path);
    std::int64_t late_values = 0;
    for_each_value(path, [&](std::int64_t number, double found) {
      const auto sample = number / places.count(), i = number % places.count();
      if (sample >= static_cast<std::int64_t>(steps.size())) return;  // not counted yet
      const Index3 p = places.at(i);
      const StepIndex step = steps[static_cast<std::size_t>(sample)];
      const double expected = Formula::rounded(static_cast<std::int64_t>(formula_.value(p, step)), type);
      const bool late = sample >= there;
      if (late && (found == 0 || is_part_of(found, expected, type))) return;
      if (found == expected)
        late_values += late ? 1 : 0;
      else
        mark({path, places.index(sample, i), p, step, expected, found});
    });
    verdict_.later += late_values / places.count();
  }

  void compare_reduction(const std::string& group, const Places& places, const std::string& reduction,
                         StepIndex last) {
    auto steps = file_->integers(group + steps_name);
    std::erase_if(steps, [&](StepIndex step) { return step > last; });
    if (verdict_.steps_done == 0 || steps.empty()) {
      ++verdict_.reductions_left_out;
      --verdict_.datasets;
      return;
    }
    const StepMeans means(steps);
    const std::string path = group + values_name;
    const auto type = file_->type(path);
    const bool exact = reduction == "min" || reduction == "max" || reduction == "final";
    for_each_value(path, [&](std::int64_t i, double found) {
      const Index3 p = places.at(i);
      double expected = reduced(reduction, formula_, p, means);
      if (type == h5::ElementType::float32) expected = static_cast<double>(static_cast<float>(expected));
      const double tolerance = exact ? 0 : std::abs(expected) * last_digits(type);
      if (!(std::abs(found - expected) <= tolerance))
        mark({path, places.index(0, i), p, means.last, expected, found});
    });
  }

  /// Relative error that sums over many samples may have.
  [[nodiscard]] double last_digits(h5::ElementType type) const noexcept {
    constexpr double float32_digits = 2.4e-7, float64_digits = 1e-12;
    const bool rounded = type == h5::ElementType::float32 || formula_.type == h5::ElementType::float32;
    return rounded ? float32_digits : float64_digits;
  }

  template <class Visit>
  void for_each_value(const std::string& path, const Visit& visit) {
    const std::uint64_t count = file_->count(path);
    std::vector<double> block(std::min(count, block_values));
    for (std::uint64_t first = 0; first < count; first += block_values) {
      const auto n = std::min(block_values, count - first);
      file_->read(path, first, std::span(block).first(n));
      for (std::uint64_t i = 0; i < n; ++i) visit(static_cast<std::int64_t>(first + i), block[i]);
    }
    verdict_.values += static_cast<std::int64_t>(count);
  }

  void mark(Mismatch mismatch) {
    ++verdict_.wrong;
    if (verdict_.first.size() < shown_mismatches) verdict_.first.push_back(std::move(mismatch));
  }

  std::unique_ptr<FileReader> file_;
  Formula formula_;
  Verdict verdict_;
  std::int64_t groups_ = 0;
};

std::string extent_text(const Verdict& verdict) {
  std::string text = fmt::format("{} values of {} dataset{}", verdict.values, verdict.datasets,
                                 verdict.datasets == 1 ? "" : "s");
  if (verdict.steps_done > 0) return text + fmt::format(", {} steps done", verdict.steps_done);
  text += fmt::format("; the run did not end in good order: {} steps recorded, {} samples", verdict.recorded,
                      verdict.samples);
  if (verdict.later > 0) text += fmt::format(" and {} right ones after them", verdict.later);
  if (verdict.reductions_left_out > 0)
    text += fmt::format(", {} reductions not written", verdict.reductions_left_out);
  return text;
}

}  // namespace

output::FileHead make_head(const Formula& formula, const std::vector<output::Stream>& streams,
                           const std::optional<ParticleFormula>& particle_formula) {
  const Index3& n = formula.cells;
  output::FileHead head;
  const auto add = [&](const char* name, const std::string& text) {
    head.attributes.push_back({.name = name, .value = text, .reserved_bytes = 0});
  };
  add("rehearsal_formula", "x + y nx + z nx ny + t nx ny nz");
  add(cells_attribute, fmt::format("{} {} {}", n.x, n.y, n.z));
  add(type_attribute, type_name(formula.type));
  add(datasets_attribute, fmt::format("{}", streams.size()));
  head.datasets.push_back(output::static_dataset(steps_path, std::vector<std::int64_t>{0}));
  if (particle_formula) {
    add(particles_attribute, particle_formula->text());
    head.datasets.push_back(output::static_dataset(particle_sum_path, std::vector<std::int64_t>(2)));
  }
  for (const auto& stream : streams)
    if (stream.reduction != output::Reduction::none)
      head.datasets.push_back(output::static_dataset("/" + stream.name + steps_name, stream.cadence.steps()));
  return head;
}

output::FileTail make_tail(StepIndex steps_done, std::optional<std::uint64_t> particle_sum) {
  output::FileTail tail;
  const auto add = [&](const char* path, const std::vector<std::int64_t>& numbers) {
    const auto bytes = std::as_bytes(std::span(numbers));
    tail.datasets.emplace_back(path, std::vector<std::byte>(bytes.begin(), bytes.end()));
  };
  add(steps_path, {steps_done});
  if (particle_sum) add(particle_sum_path, halves(*particle_sum));
  return tail;
}

std::vector<std::string> head_paths() {
  return {steps_path, particle_sum_path};
}

Verdict verify(const std::string& path) {
  return Comparison(path).compare();
}

std::string to_string(const Verdict& verdict) {
  if (verdict.good()) return fmt::format("{}: right: {}\n", verdict.path, extent_text(verdict));
  std::string text = fmt::format("{}: WRONG: {} of {}\n", verdict.path, verdict.wrong, extent_text(verdict));
  for (const auto& problem : verdict.problems) text += fmt::format("  {}\n", problem);
  for (const auto& wrong : verdict.first) {
    const Index3& p = wrong.point;
    text += fmt::format("  {}[{}]: expected {}, found {} (x, y, z = {}, {}, {}; step {})\n", wrong.dataset,
                        fmt::join(wrong.index, ", "), wrong.expected, wrong.found, p.x, p.y, p.z, wrong.step);
  }
  const auto shown = static_cast<std::int64_t>(verdict.first.size());
  if (verdict.wrong > shown) text += fmt::format("  ... and {} more\n", verdict.wrong - shown);
  return text;
}

}  // namespace tailrace::rehearse
