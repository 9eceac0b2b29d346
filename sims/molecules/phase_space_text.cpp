// SPDX-License-Identifier: BSD-3-Clause
#include "phase_space_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"
#include "phase_space_formats.hpp"
#include "words.hpp"

namespace tailrace::molecules {

namespace {

constexpr std::array magic_words{"mardyn", "MOLDY", "ls1r1", "mrdyn", "MDProject", "MarDyn", "MARDYN"};
constexpr std::int64_t oldest_version = 20080701, written_version = 20160512;
constexpr std::array line_formats{LineFormat{"ICRVQD", 15, true, true}, LineFormat{"ICRV", 8, true, false},
                                  LineFormat{"IRV", 7, false, false}, LineFormat{"ICRVQDV", 18, true, true}};

/// Numbers of each site in the text, and of a Lennard-Jones centre as ls1 mardyn writes it.
constexpr std::size_t numbers_per_centre = 8, numbers_per_short_centre = 6;

/// Takes numbers off the front of a list; says when there were too few.
class NumberList {
 public:
  explicit NumberList(std::span<const double> left) : left_(left) {}
  double take() {
    if (left_.empty()) return missing_ = true, 0;
    const double first = left_.front();
    left_ = left_.subspan(1);
    return first;
  }
  Vec3 take_three() {
    const double x = take(), y = take(), z = take();
    return {x, y, z};
  }
  [[nodiscard]] bool all_taken() const noexcept { return left_.empty() && !missing_; }
  [[nodiscard]] bool too_few() const noexcept { return missing_; }

 private:
  std::span<const double> left_;
  bool missing_ = false;
};

Vec3 unit(const Vec3& v) {
  const double length = std::sqrt(dot(v, v));
  return length > 0 ? 1 / length * v : Vec3{0, 0, 1};
}

/// Describes what is behind the number of components.
struct Components {
  std::vector<Component> components;
  std::vector<Mixing> mixing;
  double reaction_field_epsilon = 0;
  bool own_cutoffs = false, tersoff = false;
};

Component take_component(NumberList& numbers, std::size_t per_centre, Components& all) {
  Component component;
  std::array<double, 5> counts{};
  for (auto& count : counts) count = numbers.take();
  all.tersoff = all.tersoff || counts[4] != 0;
  for (int i = 0; i < counts[0] && !numbers.too_few(); ++i) {
    LennardJones site{.place = numbers.take_three()};
    if (per_centre == numbers_per_centre) site.mass = numbers.take();
    site.epsilon = numbers.take();
    site.sigma = numbers.take();
    if (per_centre == numbers_per_centre) all.own_cutoffs = numbers.take() != 0 || all.own_cutoffs;
    site.shifted = numbers.take() != 0;
    component.lennard_jones.push_back(site);
  }
  for (int i = 0; i < counts[1] && !numbers.too_few(); ++i) {
    Charge site{.place = numbers.take_three()};
    site.mass = numbers.take();
    site.charge = numbers.take();
    component.charges.push_back(site);
  }
  for (int i = 0; i < counts[2] && !numbers.too_few(); ++i) {
    Dipole site{.place = numbers.take_three(), .direction = unit(numbers.take_three())};
    site.moment = numbers.take();
    component.dipoles.push_back(site);
  }
  for (int i = 0; i < counts[3] && !numbers.too_few(); ++i) {
    Quadrupole site{.place = numbers.take_three(), .direction = unit(numbers.take_three())};
    site.moment = numbers.take();
    component.quadrupoles.push_back(site);
  }
  component.inertia_override = numbers.take_three();
  return component;
}

/// All components, if the numbers are as many as they need.
std::optional<Components> components_of(std::int64_t count, std::span<const double> list,
                                        std::size_t per_centre) {
  NumberList numbers(list);
  Components all;
  for (std::int64_t i = 0; i < count && !numbers.too_few(); ++i)
    all.components.push_back(take_component(numbers, per_centre, all));
  for (std::int64_t i = 0; i < count * (count - 1) / 2 && !numbers.too_few(); ++i) {
    const double xi = numbers.take(), eta = numbers.take();
    all.mixing.push_back({.xi = xi, .eta = eta});
  }
  all.reaction_field_epsilon = numbers.take();
  if (!numbers.all_taken()) return {};
  return all;
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& path)
      : text_(text), words_(words_of(text)), problems_(path) {}

  TextHeader parse() {
    parse_first_line();
    while (!done_ && at_ < words_.size()) parse_entry();
    if (!done_) problems_.add("its header ends without NumberOfMolecules", "a whole file");
    if (!result_.header.temperature && thermostats_.size() == 1) result_.header.temperature = thermostats_[0];
    if (thermostats_.size() > 1)
      warn("ThermostatTemperature: thermostats of components are not known here, and have no effect");
    problems_.throw_if_any();
    return result_;
  }

 private:
  void warn(const std::string& what) { result_.header.warnings.push_back(what); }
  [[nodiscard]] int line() const { return words_[std::min(at_, words_.size() - 1)].line; }

  void parse_first_line() {
    const auto known = [&](std::string_view word) {
      return std::find(magic_words.begin(), magic_words.end(), word) != magic_words.end();
    };
    const auto version = words_.size() > 2 ? number_in<std::int64_t>(words_[2].text) : std::nullopt;
    if (words_.size() < 3 || !known(words_[0].text) || words_[1].text != "trunk" || !version)
      problems_.add("does not begin as a phase-space file", "a first line such as: mardyn trunk 20160512");
    else if (*version < oldest_version)
      problems_.add(fmt::format("line 1: version {} is too old", *version),
                    fmt::format("{} or later", oldest_version));
    problems_.throw_if_any();
    at_ = 3;
  }

  /// The next word as a number, or a problem.
  template <class T = double>
  T number(std::string_view key) {
    if (at_ < words_.size())
      if (const auto value = number_in<T>(words_[at_].text)) return ++at_, *value;
    problems_.add(fmt::format("line {}: {} wants a number, has {}", line(), key,
                              at_ < words_.size() ? words_[at_].text : "nothing"));
    ++at_;
    return {};
  }

  void parse_entry() {
    auto& header = result_.header;
    const auto key = words_[at_++].text;
    const auto is = [&](auto... names) { return ((key == names) || ...); };
    if (is("currentTime", "t")) {
      header.time = number(key);
    } else if (is("Temperature", "T")) {
      header.temperature = number(key);
    } else if (is("ThermostatTemperature", "ThT", "h")) {
      number<std::int64_t>(key);
      thermostats_.push_back(number(key));
    } else if (is("ComponentThermostat", "CT", "o")) {
      number<std::int64_t>(key), number<std::int64_t>(key);
    } else if (is("Undirected", "U")) {
      number<std::int64_t>(key);
      warn(fmt::format("{}: a thermostat without the mean velocity is not known here, and has no effect",
                       key));
    } else if (is("HeatCapacity", "cv", "I")) {
      number(key), number(key), number(key);
      warn(fmt::format("{}: sums of an earlier run have no effect; means begin anew", key));
    } else if (is("Length", "L")) {
      parse_length(key);
    } else if (is("NumberOfComponents", "C")) {
      parse_components(key);
    } else if (is("NumberOfMolecules", "N")) {
      parse_end(key);
    } else {
      problems_.add(fmt::format("line {}: unknown word {}", words_[at_ - 1].line, key),
                    "the words of a phase-space header (docs/formats/molecules.md)");
      done_ = true;  // what follows cannot be distinguished
    }
  }

  void parse_length(std::string_view key) {
    Vec3 box{};
    for (auto& length : box) {
      length = number(key);
      if (!(length > 0) || !std::isfinite(length))
        problems_.add(fmt::format("line {}: {} has a length that is not positive", line(), key));
    }
    result_.header.box = box;
  }

  void parse_components(std::string_view key) {
    const int first_line = line();
    const auto count = number<std::int64_t>(key);
    std::vector<double> list;
    for (; at_ < words_.size(); ++at_) {
      const auto value = number_in<double>(words_[at_].text);
      if (!value) break;
      list.push_back(*value);
    }
    auto& header = result_.header;
    if (const auto all = components_of(count, list, numbers_per_centre)) {
      header.components = all->components;
      header.mixing = all->mixing;
      header.reaction_field_epsilon = all->reaction_field_epsilon;
      if (all->own_cutoffs) warn("cutoffs of single Lennard-Jones centres have no effect: that of all holds");
      if (all->tersoff)
        problems_.add(fmt::format("line {}: Tersoff centres are not known here", first_line), "0 of them");
    } else if (const auto brief = components_of(count, list, numbers_per_short_centre)) {
      header.reaction_field_epsilon = brief->reaction_field_epsilon;
      warn("its components lack masses, as ls1 mardyn writes them: they come from the configuration");
    } else {
      problems_.add(
          fmt::format("line {}: {} {}: {} numbers follow, which are not those of as many components",
                      first_line, key, count, list.size()),
          "5 counts, 8 numbers per Lennard-Jones centre, 5 per charge, 7 per dipole and quadrupole, 3 "
          "moments; then xi eta per pair and one dielectric constant");
    }
  }

  void parse_end(std::string_view key) {
    auto& header = result_.header;
    header.molecules = number<std::int64_t>(key);
    if (header.molecules < 0)
      problems_.add(fmt::format("line {}: {} is {}", line(), key, header.molecules), "a number from 0 on");
    result_.line = line_formats[0];
    if (at_ + 1 < words_.size() && (words_[at_].text == "MoleculeFormat" || words_[at_].text == "M")) {
      const auto name = words_[at_ + 1].text;
      const auto* const found = std::find_if(line_formats.begin(), line_formats.end(),
                                             [&](const auto& format) { return name == format.name; });
      if (found == line_formats.end())
        problems_.add(fmt::format("line {}: unknown format of molecules {}", words_[at_ + 1].line, name),
                      "ICRVQD, ICRV, IRV or ICRVQDV");
      else
        result_.line = *found;
      at_ += 2;
    }
    const auto last = words_[std::min(at_, words_.size()) - 1].text;
    result_.bytes = last.data() + last.size() - text_.data();
    done_ = true;
  }

  std::string_view text_;
  std::vector<Word> words_;
  Problems problems_;
  TextHeader result_;
  std::vector<double> thermostats_;
  std::size_t at_ = 0;
  bool done_ = false;
};

/// Says where our sum of the state is: a comment, which other readers pass over.
constexpr std::string_view sum_mark = "# state-sum ";

std::optional<std::uint64_t> sum_in(std::string_view text) {
  const auto at = text.find(sum_mark);
  if (at == std::string_view::npos) return {};
  return parse_hex(text.substr(at + sum_mark.size(), 16));
}

std::string numbers(const Vec3& v) {
  return fmt::format("{} {} {}", v[0], v[1], v[2]);
}

void append_component(std::string& text, const Component& component) {
  text += fmt::format("{} {} {} {} 0\n", component.lennard_jones.size(), component.charges.size(),
                      component.dipoles.size(), component.quadrupoles.size());
  for (const auto& site : component.lennard_jones)
    text += fmt::format("{} {} {} {} 0 {}\n", numbers(site.place), site.mass, site.epsilon, site.sigma,
                        site.shifted ? 1 : 0);
  for (const auto& site : component.charges)
    text += fmt::format("{} {} {}\n", numbers(site.place), site.mass, site.charge);
  for (const auto& site : component.dipoles)
    text += fmt::format("{} {} {}\n", numbers(site.place), numbers(site.direction), site.moment);
  for (const auto& site : component.quadrupoles)
    text += fmt::format("{} {} {}\n", numbers(site.place), numbers(site.direction), site.moment);
  text += numbers(component.inertia_override) + "\n";
}

}  // namespace

TextHeader parse_text_header(std::string_view text, const std::string& path) {
  auto result = Parser(text, path).parse();
  result.header.state_sum = sum_in(text.substr(0, static_cast<std::size_t>(result.bytes)));
  return result;
}

std::string read_text_header(const std::string& path) {
  const InputFile file(path, whole_file);
  constexpr std::int64_t first_bytes = 1 << 16, max_bytes = 1 << 26;
  std::string text;
  for (std::int64_t bytes = first_bytes;; bytes *= 4) {
    text.resize(static_cast<std::size_t>(std::min(bytes, file.size_bytes())));
    file.read(0, std::as_writable_bytes(std::span(text)));
    const auto words = words_of(text);
    const auto end = std::find_if(words.begin(), words.end(), [](const Word& word) {
      return word.text == "NumberOfMolecules" || word.text == "N";
    });
    constexpr int wanted_words = 5;  // the number, the format, and one more, so that those are whole
    if (bytes >= std::min(file.size_bytes(), max_bytes) || words.end() - end > wanted_words) break;
  }
  text.resize(static_cast<std::size_t>(parse_text_header(text, path).bytes));
  return text;
}

std::string text_header(const PhaseSpaceState& state, std::int64_t molecules, std::uint64_t state_sum) {
  const auto& model = *state.model;
  auto text =
      fmt::format("mardyn trunk {}\n{}{:016x}\ncurrentTime {}\nLength {}\nTemperature {}\n", written_version,
                  sum_mark, state_sum, state.time, numbers(state.box), state.temperature);
  text += fmt::format("NumberOfComponents {}\n", model.components.size());
  for (const auto& component : model.components) append_component(text, component);
  for (const auto& pair : model.mixing) text += fmt::format("{} {}\n", pair.xi, pair.eta);
  text += fmt::format("{}\nNumberOfMolecules {}\nMoleculeFormat {}\n", model.reaction_field_epsilon,
                      molecules, line_formats[0].name);
  return text;
}

}  // namespace tailrace::molecules
