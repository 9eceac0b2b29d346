// SPDX-License-Identifier: BSD-3-Clause
#include "proxy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numbers>

#include "base/system.hpp"
#include "base/text.hpp"
#include "tailrace/error.hpp"

namespace tailrace::seismic {

namespace {

constexpr const char* form_text = "FORM NX NY NZ ABSORB DX DY DZ DT TMAX";
constexpr std::size_t word_count = 10;

/// A form and its medium, which the programs fix when they are compiled.
struct Form {
  const char* name;
  std::vector<std::string> settings;
};

std::vector<Form> forms() {
  const std::string anisotropic[] = {"model.epsilon=0.24", "model.delta=0.1", "model.sigma=0.75"};
  Form iso{"ISO", {"model.equations=\"isotropic\""}};
  Form vti{"VTI", {"model.equations=\"vti\""}};
  Form tti{"TTI",
           {"model.equations=\"tti\"", fmt::format("model.dip_rad={:.17g}", std::numbers::pi / 4),
            "model.azimuth_rad=1.0"}};
  for (Form* form : {&vti, &tti})
    form->settings.insert(form->settings.end(), std::begin(anisotropic), std::end(anisotropic));
  return {iso, vti, tti};
}

[[noreturn]] void refuse(const std::string& what) {
  throw Error(
      ErrorInfo{.kind = ErrorKind::usage,
                .message = what,
                .path = {},
                .hint = fmt::format("{}, such as TTI 120 120 120 16 12.5 12.5 12.5 0.001 1.0, or --case "
                                    "FILE.toml",
                                    form_text)});
}

template <class T>
T number(const std::string& name, const std::string& word, T least) {
  const auto value = parse_number<T>(word);
  if (!value || !(*value >= least)) refuse(fmt::format("{}: \"{}\" is no number that can be", name, word));
  return *value;
}

/// As TOML has a floating-point number.
std::string real_text(double value) {
  return fmt::format("{:#.17g}", value);
}

}  // namespace

std::vector<std::string> proxy_settings(const std::vector<std::string>& words) {
  if (words.size() != word_count && words.size() != word_count + 1)
    refuse(fmt::format("{} words instead of {}", words.size(), word_count));
  const auto known = forms();
  const auto form =
      std::find_if(known.begin(), known.end(), [&](const auto& one) { return words[0] == one.name; });
  if (form == known.end()) refuse(fmt::format("FORM: \"{}\" is none of ISO, VTI, TTI", words[0]));
  std::array<std::int64_t, 4> counts{};
  constexpr std::array count_names{"NX", "NY", "NZ", "ABSORB"};
  for (std::size_t i = 0; i < counts.size(); ++i)
    counts[i] = number<std::int64_t>(count_names[i], words[1 + i], i < 3 ? 1 : 0);
  std::array<std::string, 5> reals;
  constexpr std::array real_names{"DX", "DY", "DZ", "DT", "TMAX"};
  for (std::size_t i = 0; i < reals.size(); ++i)
    reals[i] = real_text(number<double>(real_names[i], words[5 + i], 0));
  const auto [nx, ny, nz, absorb] = counts;
  std::vector<std::string> settings{
      "case.simulation=\"seismic\"",
      fmt::format("case.title=\"{} {}\"", words[0], fmt::join(counts.begin(), counts.begin() + 3, " x ")),
      fmt::format("domain.cells=[{}, {}, {}]", nx, ny, nz),
      fmt::format("domain.spacing_m=[{}, {}, {}]", reals[0], reals[1], reals[2]),
      "time.dt_s=" + reals[3],
      "time.end_s=" + reals[4],
      "model.vp_m_s=3000.0",
      fmt::format("source.cell=[{}, {}, {}]", nx / 2, ny / 2, nz / 2),
      fmt::format("output=[{{name=\"{}\", quantity=\"p\", every_s=0.01, initial=true}}]", words[0]),
      "write.sink=\"rsf\""};
  settings.insert(settings.end(), form->settings.begin(), form->settings.end());
  if (absorb > 0)
    settings.insert(settings.end(), {"boundary.kind=\"random\"", fmt::format("boundary.width={}", absorb)});
  if (words.size() > word_count)
    settings.push_back(
        fmt::format("write.strategy=\"spawn:{}\"", number<int>("WRITERS", words[word_count], 1)));
  return settings;
}

void show_everything(Problem& problem) noexcept {
  problem.margin = problem.boundary.width + reach;
}

std::string proxy_summary(const Options& options, double speed_m_s) {
  const auto& problem = options.problem;
  const auto [dx, dy, dz] = problem.spacing_m;
  const Index3 &n = problem.cells, all = problem.shown();
  constexpr double advised_share = 0.2;  // of the time in which the fastest wave crosses a cell
  return fmt::format(
      "{}: grid {} x {} x {} ({} x {} x {} with layer and halo), absorb {}, spacing {} x {} x {} m\n"
      "dt {} s, {} steps; advised dt at most {:.6g} s\n",
      options.proxy_form, n.x, n.y, n.z, all.x, all.y, all.z, problem.boundary.width, dx, dy, dz,
      problem.dt_s, options.steps, advised_share * std::min({dx, dy, dz}) / speed_m_s);
}

std::string proxy_result(const Options& options, const ProxyResult& result) {
  const auto& problem = options.problem;
  const Index3& n = problem.cells;
  const auto [dx, dy, dz] = problem.spacing_m;
  const double rate = result.computed_s > 0 ? result.samples / result.computed_s / 1e6 : 0;
  return fmt::format(
      "execution time {:.6f} s\ntotal time {:.6f} s\nMSamples/s {:.3f}\nmemory high-water mark {}\n"
      "tailrace,{},{},{},{},{},{},{},{},{},{:.10g},{},{},{:.6f},{:.6f},{:.3f}\n",
      result.computed_s, result.total_s, rate, human_bytes(static_cast<double>(result.peak_memory_bytes)),
      options.proxy_form, n.x, n.y, n.z, problem.boundary.width, dx, dy, dz, problem.dt_s,
      problem.dt_s * static_cast<double>(options.steps), result.started_ns, result.ended_ns,
      result.computed_s, result.total_s, rate);
}

}  // namespace tailrace::seismic
