// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "command_line.hpp"
#include "model_file.hpp"
#include "proxy.hpp"
#include "tailrace/run/case_file.hpp"

namespace tailrace::seismic {

namespace {

constexpr const char* model_forms = R"(a number, "model.h5:/dataset", "model.rsf" or "model.sgy")";

void read_domain(run::CaseFile& file, Problem& problem) {
  if (const auto cells = file.integers("domain.cells"))
    problem.cells = file.grid("domain.cells", *cells).value_or(Index3{});
  const auto spacing = file.reals("domain.spacing_m");
  bool good = spacing && spacing->size() == 3;
  for (std::size_t i = 0; good && i < 3; ++i) {
    good = (*spacing)[i] > 0;
    problem.spacing_m[i] = (*spacing)[i];
  }
  if (!good && spacing)
    file.add_problem("domain.spacing_m",
                     fmt::format("[{}] are no distances of points", fmt::join(*spacing, ", ")),
                     "three numbers above 0, along x, y, z: spacing_m = [12.5, 12.5, 10.0]");
}

void read_time(run::CaseFile& file, Options& options) {
  const auto dt_s = file.real("time.dt_s");
  if (dt_s == 0) file.add_problem("time.dt_s", "is no time step", "dt_s = 0.001");
  options.problem.dt_s = dt_s.value_or(0) > 0 ? *dt_s : 1;
  options.steps = file.steps("time.end_s", "dt_s", options.problem.dt_s);
}

/// "FILE:/DATASET".
std::optional<DatasetName> parse_dataset(run::CaseFile& file, const std::string& key, const std::string& text,
                                         const char* forms) {
  const auto colon = text.find(":/");
  if (colon == std::string::npos || colon == 0 || colon + 2 >= text.size()) {
    file.add_problem(key, fmt::format("\"{}\" names no dataset", text), forms);
    return {};
  }
  return DatasetName{key, file.resolve_file_name(text.substr(0, colon)), text.substr(colon + 1)};
}

/// "FILE:/DATASET", or a file whose format has one array.
std::optional<DatasetName> parse_model(run::CaseFile& file, const std::string& key, const std::string& text) {
  if (model_format(text) == ModelFormat::hdf5) return parse_dataset(file, key, text, model_forms);
  return DatasetName{key, file.resolve_file_name(text), ""};
}

/// A number or values in a file.
void read_property(run::CaseFile& file, PropertyText& property, double fallback) {
  property.value = fallback;
  if (file.is_text(property.key)) {
    if (const auto text = file.text(property.key)) property.dataset = parse_model(file, property.key, *text);
    return;
  }
  property.value = file.real(property.key).value_or(fallback);
}

void read_model(run::CaseFile& file, Options& options) {
  auto& model = options.model;
  constexpr double usual_sigma = 0.75;
  constexpr std::array kinds{Equations::tti, Equations::vti, Equations::isotropic};
  const auto equations = kinds[file.choice("model.equations")];
  options.problem.properties.equations = equations;
  const auto precision = file.choice("model.precision");
  options.problem.precision = precision == 0 ? h5::ElementType::float32 : h5::ElementType::float64;
  read_property(file, model.vp_m_s, 1);
  const bool anisotropic = equations != Equations::isotropic, tilted = equations == Equations::tti;
  const auto read_if = [&](bool used, PropertyText& property, double fallback) {
    property.value = fallback;
    if (used)
      read_property(file, property, fallback);
    else
      file.refuse(property.key, fmt::format("has no meaning for {} media", to_string(equations)),
                  "leave it out, or choose other equations");
  };
  read_if(anisotropic, model.epsilon, 0);
  read_if(anisotropic, model.delta, 0);
  read_if(tilted, model.dip_rad, 0);
  read_if(tilted, model.azimuth_rad, 0);
  read_if(anisotropic, model.sigma, usual_sigma);
  PropertyText vs{"model.vs_m_s", 0, {}};
  if (file.has(vs.key) && file.has(model.sigma.key))
    file.add_problem(vs.key, "conflicts with sigma", "give one of them");
  const bool given = file.has(vs.key);
  read_if(anisotropic, vs, 0);
  if (given) model.vs_m_s = vs;
}

void read_boundary(run::CaseFile& file, Options& options) {
  auto& boundary = options.problem.boundary;
  constexpr std::int64_t usual_width = 16;
  constexpr std::array kinds{Boundary::Kind::zero, Boundary::Kind::random, Boundary::Kind::sponge};
  boundary.kind = kinds[file.choice("boundary.kind")];
  const auto width = file.integer("boundary.width");
  const auto seed = file.integer("boundary.seed");
  const bool layer = boundary.kind != Boundary::Kind::zero;
  if (!layer && width.value_or(0) > 0)
    file.add_problem("boundary.width", "is of no use where the fields just end",
                     "kind = \"random\" or \"sponge\", or leave it out");
  if (layer && width == 0)
    file.add_problem("boundary.width", "0 leaves no layer", "a width of at least 1, or kind = \"zero\"");
  if (boundary.kind != Boundary::Kind::random && seed)
    file.add_problem("boundary.seed", "only kind = \"random\" draws numbers", "leave it out");
  boundary.width = layer ? width.value_or(usual_width) : 0;
  boundary.seed = static_cast<std::uint64_t>(seed.value_or(1));
}

std::vector<double> read_per_cell(run::CaseFile& file, const char* key, std::size_t cells, double fallback) {
  auto values = file.reals(key).value_or(std::vector<double>(cells, fallback));
  if (values.size() != cells) {
    file.add_problem(key, fmt::format("has {} numbers for {} sources", values.size(), cells),
                     "one for each of source.cells");
    values.resize(cells, fallback);
  }
  return values;
}

void read_source_cells(run::CaseFile& file, Options& options) {
  auto cells = file.integer_lists("source.cells").value_or(std::vector<std::vector<std::int64_t>>());
  const auto cell = file.integers("source.cell");
  if (file.has("source.cell") == file.has("source.cells"))
    file.add_problem("source.cell", "says where the source is, and cells where several are",
                     "cell = [60, 48, 10], or cells = [[60, 48, 10], [20, 48, 10]]");
  if (cell) cells = {*cell};
  const Index3& n = options.problem.cells;
  const std::string key = cell ? "source.cell" : "source.cells";
  for (const auto& one : cells) {
    const bool good = one.size() == 3;
    const Index3 at = good ? Index3{one[0], one[1], one[2]} : Index3{};
    if (!good)
      file.add_problem(key, "a source has not three indices", "x, y, z of the point");
    else if (std::count(options.sources.cells.begin(), options.sources.cells.end(), at) > 0)
      file.add_problem(key, fmt::format("[{}, {}, {}] is there twice", at.x, at.y, at.z),
                       "one source at each point, with source.amplitudes");
    else if (n.volume() > 0 && !Box::whole(n).contains(at))
      file.add_problem(key, fmt::format("[{}, {}, {}] lies outside of the domain", at.x, at.y, at.z),
                       fmt::format("from [0, 0, 0] to [{}, {}, {}]", n.x - 1, n.y - 1, n.z - 1));
    options.sources.cells.push_back(at);
  }
}

void read_source(run::CaseFile& file, Options& options) {
  auto& sources = options.sources;
  constexpr double usual_cutoff_hz = 40;
  read_source_cells(file, options);
  const auto count = sources.cells.size();
  sources.amplitudes = read_per_cell(file, "source.amplitudes", count, 1);
  sources.delays_s = read_per_cell(file, "source.delays_s", count, 0);
  const auto wavelet = *file.text("source.wavelet");
  sources.samples = file.reals("source.samples");
  const auto cutoff = file.real("source.fcut_hz");
  sources.cutoff_hz = cutoff.value_or(usual_cutoff_hz);
  if (cutoff && *cutoff == 0) file.add_problem("source.fcut_hz", "0 is no frequency", "fcut_hz = 40.0");
  if (wavelet != "ricker" && wavelet != "samples")
    sources.dataset =
        parse_dataset(file, "source.wavelet", wavelet, R"("ricker", "samples", or "wavelet.h5:/dataset")");
  if ((wavelet == "samples") != file.has("source.samples"))
    file.add_problem("source.samples", "belongs to wavelet = \"samples\", and the other way round",
                     "give both, or neither");
  if (wavelet == "ricker") return;
  for (const char* key : {"source.fcut_hz", "source.delays_s"})
    file.refuse(key, "belongs to wavelet = \"ricker\"", "leave it out");
}

void read_case(run::CaseFile& file, CommandLine& line) {
  auto& options = line.options;
  run::read_case_table(file, "seismic", options);
  file.text("input.file");  // with models, if it is missing made by the script; the launcher does that
  file.text("input.script");
  read_domain(file, options.problem);
  read_time(file, options);
  read_model(file, options);
  read_boundary(file, options);
  read_source(file, options);
  options.outputs = run::read_output_tables(file, {{"p", "1"}, {"q", "1"}}, "");
  options.receivers = file.texts("receivers.segy").value_or(std::vector<std::string>());
  run::read_run_tables(file, line, options);
}

/// Makes the resolved case complete.
void set_defaults(run::CaseFile& file, const Options& options) {
  const auto set = [&](const char* key, const auto& value) {
    if (!file.has(key)) file.set_default(key, fmt::format("{}", value));
  };
  const auto& boundary = options.problem.boundary;
  set("time.steps", options.steps);
  if (options.problem.properties.equations != Equations::isotropic) {
    set("model.epsilon", options.model.epsilon.value);
    set("model.delta", options.model.delta.value);
    if (!options.model.vs_m_s) set("model.sigma", options.model.sigma.value);
  }
  if (options.problem.properties.equations == Equations::tti) {
    set("model.dip_rad", options.model.dip_rad.value);
    set("model.azimuth_rad", options.model.azimuth_rad.value);
  }
  set("boundary.width", boundary.width);
  if (boundary.kind == Boundary::Kind::random) set("boundary.seed", boundary.seed);
  if (!options.sources.samples && !options.sources.dataset) set("source.fcut_hz", options.sources.cutoff_hz);
}

}  // namespace

void apply_case(CommandLine& line) {
  using Words = std::vector<std::string>;
  auto file = run::open_case(program_info, line, line.proxy.empty() ? Words() : proxy_settings(line.proxy));
  read_case(file, line);
  if (!line.proxy.empty()) show_everything(line.options.problem);
  set_defaults(file, line.options);
  run::finish_case(file, line.options);
}

}  // namespace tailrace::seismic
