// SPDX-License-Identifier: BSD-3-Clause
#include "model_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "h5/dataset_reader.hpp"
#include "rsf_model.hpp"
#include "segy_model.hpp"

namespace tailrace::seismic {

namespace {

/// Opens the file of a dataset; nothing if it is not fit, which becomes a problem.
std::shared_ptr<h5::File> open_dataset(const DatasetName& name, Problems& problems) {
  try {
    auto file = std::make_shared<h5::File>(h5::File::open(name.file));
    if (!file->has_dataset(name.dataset)) {
      problems.add(fmt::format("{}: {} holds no dataset {}", name.key, name.file, name.dataset),
                   "tailrace inspect FILE lists what it holds");
      return nullptr;
    }
    if (const auto type = file->type(name.dataset);
        type == h5::ElementType::float32 || type == h5::ElementType::float64)
      return file;
    problems.add(fmt::format("{}: {}:{} holds elements of type {}", name.key, name.file, name.dataset,
                             file->type_text(name.dataset)),
                 "float32 or float64");
  } catch (const Error& error) {
    problems.add(fmt::format("{}: {}", name.key, error.info().message), error.info().hint);
  }
  return nullptr;
}

/// A property in an HDF5 file; one without values after a problem.
Parameter open_hdf5_model(const DatasetName& name, Index3 cells, Problems& problems) {
  Parameter parameter;
  const auto file = open_dataset(name, problems);
  if (!file) return parameter;
  const h5::Shape wanted{static_cast<std::uint64_t>(cells.z), static_cast<std::uint64_t>(cells.y),
                         static_cast<std::uint64_t>(cells.x)};
  if (const auto shape = file->shape(name.dataset); shape != wanted) {
    problems.add(
        fmt::format("{}: {}:{} has the shape {}", name.key, name.file, name.dataset, h5::to_string(shape)),
        fmt::format("{}, that is (z, y, x) of domain.cells", h5::to_string(wanted)));
    return parameter;
  }
  parameter.open = [file, dataset = name.dataset]() -> Parameter::ReadBox {
    return [reader = std::make_shared<h5::DatasetReader>(*file, dataset)](const Box& region,
                                                                          std::span<double> out) {
      const Index3 n = region.extents();
      const auto number = [](std::int64_t i) { return static_cast<std::uint64_t>(i); };
      reader->read_hyperslab<double>({number(region.lo.z), number(region.lo.y), number(region.lo.x)},
                                     {number(n.z), number(n.y), number(n.x)}, out);
    };
  };
  return parameter;
}

Parameter open_property(const PropertyText& property, const Problem& problem, Problems& problems) {
  if (!property.dataset) return {.value = property.value, .open = {}};
  const auto& name = *property.dataset;
  if (!name.dataset.empty()) return open_hdf5_model(name, problem.cells, problems);
  try {
    return model_format(name.file) == ModelFormat::rsf
               ? open_rsf_model(name.file, problem.cells, problem.spacing_m)
               : open_segy_model(name.file, problem.cells);
  } catch (const Error& error) {
    problems.add(fmt::format("{}: {}", name.key, error.info().message), error.info().hint);
  }
  return {};
}

std::vector<double> read_wavelet(const DatasetName& name, Problems& problems) {
  const auto file = open_dataset(name, problems);
  if (!file) return {};
  const auto shape = file->shape(name.dataset);
  if (shape.size() != 1) {
    problems.add(
        fmt::format("{}: {}:{} has the shape {}", name.key, name.file, name.dataset, h5::to_string(shape)),
        "one dimension, a value per step");
    return {};
  }
  std::vector<double> values(shape[0]);
  file->read<double>(name.dataset, values);
  if (!std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }))
    problems.add(fmt::format("{}: {}:{} holds NaN or infinity", name.key, name.file, name.dataset),
                 "numbers");
  return values;
}

void complete_sources(Options& options, Problems& problems) {
  const auto& texts = options.sources;
  const bool sampled = texts.samples || texts.dataset;
  const auto wavelet = texts.dataset   ? read_wavelet(*texts.dataset, problems)
                       : texts.samples ? *texts.samples
                                       : std::vector<double>();
  for (std::size_t i = 0; i < texts.cells.size(); ++i) {
    Source source{.cell = texts.cells[i], .values = wavelet};
    for (auto& value : source.values) value *= texts.amplitudes[i];
    if (!sampled)
      source.values = ricker_values(texts.cutoff_hz, texts.delays_s[i], texts.amplitudes[i],
                                    options.problem.dt_s, options.steps);
    options.problem.sources.push_back(std::move(source));
  }
}

}  // namespace

ModelFormat model_format(const std::string& name) {
  const auto ending = std::filesystem::path(name).extension();
  if (ending == ".rsf") return ModelFormat::rsf;
  return ending == ".sgy" || ending == ".segy" ? ModelFormat::segy : ModelFormat::hdf5;
}

void complete_problem(Options& options) {
  Problems problems(options.subject());
  const auto& model = options.model;
  const auto& problem = options.problem;
  auto& properties = options.problem.properties;
  properties.vp_m_s = open_property(model.vp_m_s, problem, problems);
  properties.epsilon = open_property(model.epsilon, problem, problems);
  properties.delta = open_property(model.delta, problem, problems);
  properties.dip_rad = open_property(model.dip_rad, problem, problems);
  properties.azimuth_rad = open_property(model.azimuth_rad, problem, problems);
  properties.sigma = open_property(model.sigma, problem, problems);
  if (model.vs_m_s) properties.vs_m_s = open_property(*model.vs_m_s, problem, problems);
  complete_sources(options, problems);
  problems.throw_if_any();
}

}  // namespace tailrace::seismic
