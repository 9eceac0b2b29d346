// SPDX-License-Identifier: BSD-3-Clause
#include "tailrace/run/case_write.hpp"
#include "tailrace/run/case_file.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "output/registry/options.hpp"

namespace tailrace::run {

namespace {

void read_directories(CaseFile& file, const output::OptionTexts& typed, output::WriteOptions& options) {
  auto directories = file.file_names("write.directories");
  const auto stripe = file.text("write.stripe");
  const char* const name = typed.directories.empty() ? "write.directories" : "--directories";
  if (!typed.directories.empty()) directories = output::parse_directories(typed.directories);
  if (directories) file.try_to([&] { output::take_directories(name, std::move(*directories), options); });
  if (stripe) file.try_to([&] { output::parse_stripe("write.stripe", *stripe, options); });
  if (!typed.stripe.empty()) file.try_to([&] { output::parse_stripe("--stripe", typed.stripe, options); });
  if (!directories && (stripe || !typed.stripe.empty()))
    file.add_problem("write.stripe", "stripes are for several directories, and none is named",
                     "add write.directories (--directories), or leave the stripe out");
}

void read_lustre(CaseFile& file, const output::OptionTexts& typed, output::WriteOptions& options) {
  if (const auto count = file.integer("write.lustre_count")) options.lustre.count = static_cast<int>(*count);
  if (const auto size = file.text("write.lustre_size"))
    file.try_to([&] { output::parse_lustre_size("write.lustre_size", *size, options); });
  if (!typed.lustre_count.empty())
    file.try_to([&] { output::parse_lustre_count("--lustre-count", typed.lustre_count, options); });
  if (!typed.lustre_size.empty())
    file.try_to([&] { output::parse_lustre_size("--lustre-size", typed.lustre_size, options); });
}

}  // namespace

void read_write(CaseFile& file, const output::OptionTexts& typed, output::WriteOptions& options) {
  const auto strategy = *file.text("write.strategy"), sink = *file.text("write.sink"),
             flush = *file.text("write.flush");
  options.buffers = static_cast<int>(*file.integer("write.buffers"));  // unless the strategy names a number
  const bool named = file.has("write.strategy") || !typed.write.empty();
  file.try_to([&] { output::parse_strategy("write.strategy", strategy, options); });
  file.try_to([&] { output::parse_sink("write.sink", sink, options); });
  file.try_to([&] { output::parse_flush("write.flush", flush, options); });
  if (!typed.write.empty()) file.try_to([&] { output::parse_strategy("--write", typed.write, options); });
  if (!typed.sink.empty()) file.try_to([&] { output::parse_sink("--sink", typed.sink, options); });
  if (!typed.flush.empty()) file.try_to([&] { output::parse_flush("--flush", typed.flush, options); });
  if (!typed.bind.empty()) file.try_to([&] { output::parse_bind("--bind", typed.bind, options); });
  if (!typed.pace.empty()) file.try_to([&] { options.pace = output::parse_pace(typed.pace); });
  if (!typed.fault.empty()) file.try_to([&] { options.faults = output::parse_faults(typed.fault); });
  options.strategy_given = named;  // the usual one gives way to what the sink needs
  read_directories(file, typed, options);
  read_lustre(file, typed, options);
  file.try_to([&] { output::fit_strategy(options); });
}

void set_write_defaults(CaseFile& file, const output::WriteOptions& options) {
  file.set_default("write.strategy", output::strategy_text(options));
  file.set_default("write.buffers", fmt::format("{}", output::buffer_count(options)));
  file.set_default("write.sink", output::sink_text(options));
  file.set_default("write.flush", options.flush_samples ? "sample" : "none");
  if (options.lustre.count > 0)
    file.set_default("write.lustre_count", fmt::format("{}", options.lustre.count));
  if (options.lustre.bytes > 0)
    file.set_default("write.lustre_size", fmt::format("{}B", options.lustre.bytes));
  if (options.directories.empty()) return;
  file.set_default("write.directories", nlohmann::json(options.directories).dump());  // TOML writes it alike
  file.set_default("write.stripe", fmt::format("{}B", options.stripe_bytes));
}

trace::Mode read_trace(CaseFile& file, const std::string& typed) {
  auto mode = trace::Mode::on;
  const auto written = file.text("trace.mode");
  if (written && typed.empty()) file.try_to([&] { mode = trace::parse_mode("trace.mode", *written); });
  if (!typed.empty()) file.try_to([&] { mode = trace::parse_mode("--trace", typed); });
  return mode;
}

void set_trace_default(CaseFile& file, trace::Mode mode) {
  file.set_default("trace.mode", trace::to_string(mode));
}

}  // namespace tailrace::run
