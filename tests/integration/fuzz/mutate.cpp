// SPDX-License-Identifier: BSD-3-Clause
#include "mutate.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace tailrace::fuzz {

namespace {

constexpr std::uint64_t power_of_two(int exponent) {
  return std::uint64_t{1} << exponent;
}
const std::vector<float> odd_reals{0,      -0.0F, 1,       -1,       0.5F, 1e-45F,   -1e-45F,  1e-38F,
                                   1e-30F, 1e30F, 3.4e38F, -3.4e38F, NAN,  INFINITY, -INFINITY};
const std::vector<std::uint64_t> odd_integers{0,
                                              1,
                                              2,
                                              3,
                                              6,
                                              7,
                                              100,
                                              1000,
                                              power_of_two(20),
                                              power_of_two(20) + 1,
                                              power_of_two(31) - 1,
                                              power_of_two(31),
                                              power_of_two(32),
                                              power_of_two(32) + 1,
                                              power_of_two(40),
                                              power_of_two(53),
                                              power_of_two(62),
                                              power_of_two(63) - 1,
                                              power_of_two(63),
                                              ~std::uint64_t{1},
                                              ~std::uint64_t{0}};
const std::vector<std::string> flags{"Nx",
                                     "Ny",
                                     "Nz",
                                     "Nt",
                                     "p_source_flag",
                                     "p0_source_flag",
                                     "ux_source_flag",
                                     "uy_source_flag",
                                     "uz_source_flag",
                                     "transducer_source_flag",
                                     "nonlinear_flag",
                                     "absorbing_flag",
                                     "axisymmetric_flag",
                                     "nonuniform_grid_flag",
                                     "elastic_flag",
                                     "sensor_mask_type",
                                     "p_source_mode",
                                     "p_source_many",
                                     "u_source_mode",
                                     "u_source_many",
                                     "pml_x_size"};

/// The changes of one input.
class Changes {
 public:
  Changes(Choose& choose, Mutant& mutant) : choose_(choose), mutant_(mutant), case_(mutant.input) {}

  void change_value() {
    auto& [name, item] = any_item();
    const auto count = std::visit([](const auto& v) { return v.size(); }, item.values);
    if (count == 0) return;
    const auto place = choose_.below(count);
    if (item.is_integer()) {
      auto& value = std::get<1>(item.values)[place];
      const std::uint64_t near = value + (choose_.percent(50) ? 1 : ~std::uint64_t{0});
      value = choose_.percent(30) ? near : choose_.one_of(odd_integers);
      report("{}[{}] = {}", name, place, value);
    } else {
      auto& value = std::get<0>(item.values)[place];
      value = choose_.percent(10) ? value * 1000 : choose_.one_of(odd_reals);
      report("{}[{}] = {}", name, place, value);
    }
  }

  void change_flag() {
    const auto& name = choose_.one_of(flags);
    const auto value = choose_.percent(60) ? choose_.below(12) : choose_.one_of(odd_integers);
    case_.items[name] = {{1, 1, 1}, std::vector<std::uint64_t>{value}, {{"data_type", "long"}}};
    report("{} = {}", name, value);
  }

  void change_form(int among) {
    auto& [name, item] = any_item();
    item.form = static_cast<Form>(choose_.below(static_cast<std::uint64_t>(among)));
    const auto form = name_of(item.form);
    mutant_.story += fmt::format("{} as {}; ", name, form);
    if (static_cast<int>(item.form) >= harmless_forms) mutant_.harmless = false;
    // A compact dataset of more than 64 KiB, or filters on a scalar, cannot be made.
    if (item.shape.size() != 3) mutant_.harmless = false;
  }

  void change_shape() {
    auto& [name, item] = any_item();
    auto& shape = item.shape;
    if (shape.empty()) return;
    switch (choose_.below(8)) {
      case 0:
        shape = {h5::element_count(shape)};
        break;
      case 1:
        shape = {};
        break;
      case 2:
        std::reverse(shape.begin(), shape.end());
        break;
      case 3:
        shape.insert(shape.begin(), choose_.between(1, 2), 1);
        break;
      case 4:
        shape.back() += 1;
        break;
      case 5:
        shape[choose_.below(shape.size())] = 0;
        break;
      case 6:
        shape = {1, h5::element_count(shape)};
        break;
      default:
        shape[choose_.below(shape.size())] *= choose_.between(2, 5);
    }
    std::visit([&](auto& v) { v.resize(h5::element_count(shape), 1); }, item.values);
    report("{} has shape {}", name, h5::to_string(shape));
  }

  void remove() {
    const auto name = any_item().first;
    case_.items.erase(name);
    report("no {}", name);
  }

  void rename() {
    const auto from = any_item().first, to = any_item().first;
    auto node = case_.items.extract(from);
    case_.items.erase(to);
    node.key() = choose_.percent(80) ? to : from + "_";
    report("{} is called {}", from, node.key());
    case_.items.insert(std::move(node));
  }

  void copy() {
    const auto from = any_item().first, to = any_item().first;
    case_.items[to] = case_.items[from];
    report("{} is a copy of {}", to, from);
  }

  void change_text() {
    const auto name =
        std::next(case_.texts.begin(), static_cast<std::ptrdiff_t>(choose_.below(case_.texts.size())))->first;
    const std::vector<std::string> values{"",
                                          "0",
                                          "1",
                                          "2",
                                          "3",
                                          "9",
                                          " 1",
                                          "1 ",
                                          "-1",
                                          "x",
                                          "1\n",
                                          "input",
                                          "output",
                                          "Input",
                                          std::string(300, 'y'),
                                          std::string(60000, 'z'),
                                          std::string(70000, 'w'),
                                          "\xc3\xa9\xe4\xb8\x96",
                                          std::string("1\0x", 3),
                                          "\xff\xfe"};
    if (choose_.percent(20)) {
      case_.texts.erase(name);
      return report("no attribute {}", name);
    }
    auto& text = case_.texts[name];
    if (choose_.percent(60)) text.value = choose_.one_of(values);
    if (choose_.percent(50)) text.form = static_cast<TextForm>(choose_.below(7));
    report("attribute {} = {:.20} as {}", name, text.value, static_cast<int>(text.form));
  }

  void change_attribute() {
    auto& [name, item] = any_item();
    const std::vector<std::string> values{"",
                                          "float",
                                          "long",
                                          "real",
                                          "complex",
                                          "Float",
                                          " real",
                                          "real ",
                                          std::string(200, 'x'),
                                          std::string(70000, 'x')};
    const std::string key = choose_.percent(50) ? "data_type" : "domain_type";
    if (choose_.percent(30)) {
      item.attributes.erase(key);
      return report("{} without {}", name, key);
    }
    item.attributes[key] = choose_.one_of(values);
    report("{}: {} = {:.20}", name, key, item.attributes[key]);
  }

 private:
  std::pair<const std::string, Item>& any_item() {
    return *std::next(case_.items.begin(), static_cast<std::ptrdiff_t>(choose_.below(case_.items.size())));
  }
  template <class... Arguments>
  void report(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    mutant_.story += fmt::format(format, std::forward<Arguments>(arguments)...) + "; ";
    mutant_.harmless = false;
  }

  Choose& choose_;
  Mutant& mutant_;
  Case& case_;
};

void change_once(Choose& choose, Changes& changes) {
  const auto kind = choose.below(100);
  if (kind < 25) return changes.change_value();
  if (kind < 40) return changes.change_flag();
  if (kind < 60) return changes.change_form(forms);
  if (kind < 70) return changes.change_shape();
  if (kind < 76) return changes.remove();
  if (kind < 81) return changes.rename();
  if (kind < 85) return changes.copy();
  if (kind < 93) return changes.change_text();
  return changes.change_attribute();
}

/// Anywhere, but more often near the start, where much of the structure is.
void change_bytes(Choose& choose, const std::string& path, Mutant& mutant) {
  std::ifstream in(path, std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  in.close();
  const auto flips = choose.one_of<std::uint64_t>({0, 1, 1, 1, 2, 5, 30});
  for (std::uint64_t i = 0; i < flips && !bytes.empty(); ++i) {
    const auto end = choose.one_of<std::uint64_t>({96, 2000, bytes.size(), bytes.size()});
    auto& byte = bytes[choose.below(std::min<std::uint64_t>(end, bytes.size()))];
    byte = choose.percent(50) ? static_cast<char>(choose.one_of<int>({0, 1, 0x7f, 0x80, 0xff}))
                              : static_cast<char>(byte ^ (1 << choose.below(8)));
  }
  mutant.story += fmt::format("{} bytes changed; ", flips);
  if (flips == 0 || choose.percent(10)) {
    bytes.resize(choose.below(bytes.size() + 1));
    mutant.story += fmt::format("cut to {} bytes; ", bytes.size());
  }
  mutant.harmless = false;
  mutant.damaged = true;
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

/// Something that is no regular file.
void replace_file(Choose& choose, const std::string& path, Mutant& mutant) {
  std::filesystem::remove(path);
  mutant.harmless = false;
  switch (choose.below(6)) {
    case 0:
      ::mkfifo(path.c_str(), 0600);
      mutant.story += "a pipe; ";
      return;
    case 1:
      std::filesystem::create_directory(path);
      mutant.story += "a directory; ";
      return;
    case 2:
      std::filesystem::create_symlink(path, path);
      mutant.story += "a link to itself; ";
      return;
    case 3:
      std::filesystem::create_symlink("/dev/zero", path);
      mutant.story += "an endless device; ";
      return;
    case 4:
      std::ofstream(path).close();
      mutant.story += "empty; ";
      return;
    default:
      mutant.story += "absent; ";
  }
}

}  // namespace

Mutant make_mutant(std::uint64_t seed, const std::string& path) {
  Choose choose(seed);
  Mutant mutant{.input = valid_case(choose), .story = {}};
  Changes changes(choose, mutant);
  const auto kind = choose.below(100);
  const auto count = choose.one_of<std::uint64_t>({1, 1, 1, 2, 4});
  for (std::uint64_t i = 0; i < count; ++i) {
    if (kind < 2) break;
    if (kind < 8) changes.change_form(harmless_forms);
    if (kind >= 8 && kind < 75) change_once(choose, changes);
  }
  write_case(mutant.input, path);
  if (kind >= 75 && kind < 98) change_bytes(choose, path, mutant);
  if (kind >= 98) replace_file(choose, path, mutant);
  if (mutant.story.empty()) mutant.story = "nothing changed";
  return mutant;
}

}  // namespace tailrace::fuzz
