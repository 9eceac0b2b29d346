// SPDX-License-Identifier: BSD-3-Clause
#include "run/rank_account.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <set>

#include "base/system.hpp"
#include "mpi/verdict.hpp"

namespace tailrace::run {

using nlohmann::json;

const char* to_string(Status status) noexcept {
  switch (status) {
    case Status::finished:
      return "finished";
    case Status::stopped:
      return "stopped";
    case Status::failed:
      return "failed";
  }
  return "failed";
}

RankAccount account_from(const trace::Log& log) {
  using trace::Kind;
  RankAccount account;
  account.setup_s = log.total(Kind::setup).seconds;
  account.exchange_s = log.total(Kind::exchange).seconds;
  account.compute_s = log.total(Kind::compute).seconds - account.exchange_s;
  return account;
}

namespace {

json to_json(const RankAccount& account, int rank) {
  json out{{"rank", rank},
           {"host", host_name()},
           {"cells", account.cells},
           {"setup_s", account.setup_s},
           {"compute_s", account.compute_s},
           {"exchange_s", account.exchange_s},
           {"pack_s", account.pack_s},
           {"output_wait_s", account.output.wait_s},
           {"write_s", account.output.write_s},
           {"write_cpu_s", account.output.write_cpu_s},
           {"write_bytes", account.output.bytes},
           {"writes", account.output.writes},
           {"waits", account.output.waits},
           {"write_retries", account.output.retries},
           {"dropped_bytes", account.output.dropped_bytes},
           {"checkpoint_s", account.checkpoint.stalled_s},
           {"checkpoint_bytes", account.checkpoint.bytes},
           {"peak_memory_bytes", peak_memory_bytes()},
           {"predicted_memory_bytes", account.predicted_memory_bytes}};
  if (account.device.is_null()) return out;
  out["device"] = account.device;
  out["predicted_device_memory_bytes"] = account.predicted_device_memory_bytes;
  return out;
}

/// Returns where a rank and its writer run.
json to_json(const ThreadPlacement& thread_placement, int rank) {
  return {{"rank", rank},
          {"host", host_name()},
          {"cpus", to_text(thread_placement.computing)},
          {"writer_cpus", to_text(thread_placement.writing)},
          {"writer_place", to_text(thread_placement.place)}};
}

json to_json(const output::WriterAccount& writer) {
  json out{{"rank", writer.process},
           {"host", writer.host},
           {"cpus", writer.cpus},
           {"place", writer.place},
           {"write_s", writer.output.write_s},
           {"write_cpu_s", writer.output.write_cpu_s},
           {"write_bytes", writer.output.bytes},
           {"writes", writer.output.writes},
           {"jobs", writer.jobs},
           {"batches", writer.batches},
           {"idle_s", writer.idle_s},
           {"idle_cpu_s", writer.idle_cpu_s},
           {"peak_memory_bytes", writer.peak_memory_bytes}};
  if (!writer.warning.empty()) out["warning"] = writer.warning;
  return out;
}

json to_json(const ErrorInfo& error) {
  json out{{"kind", to_string(error.kind)}, {"message", error.message}};
  if (error.rank >= 0) out["rank"] = error.rank;
  if (!error.path.empty()) out["path"] = error.path;
  if (error.offset >= 0) out["offset"] = error.offset;
  if (!error.hint.empty()) out["hint"] = error.hint;
  return out;
}

/// The part that does not depend on how the run went.
json head(const RunAccount& run) {
  json out{{"format", "tailrace-run"},
           {"format_version", 1},
           {"title", run.title},
           {"simulation", run.simulation},
           {"program", run.program},
           {"case_file", run.case_file},
           {"input_file", run.input_file},
           {"command", run.command},
           {"version", TAILRACE_VERSION},
           {"started", run.started},
           {"ended", iso_time_now()},
           {"config", run.config},
           {"versions", run.versions},
           {"outputs", run.outputs},
           {"grid", {run.grid.x, run.grid.y, run.grid.z}},
           {"steps_planned", run.steps_planned},
           {"threads", run.threads},
           {"strategy", run.strategy},
           {"sink", run.sink},
           {"plan", run.plan},
           {"results", run.results},
           {"warnings", run.warnings},
           {"wall_s", monotonic_s() - run.start_s},
           {"resumed_from", run.resumed_from},
           {"restore_s", run.restore_s},
           {"checkpoints", 0},
           {"checkpoint_s", 0.0},
           {"checkpoint_bytes", 0}};
  if (!run.exchange.is_null()) out["exchange"] = run.exchange;
  return out;
}

double largest(const json& ranks, const char* key) {
  double value = 0;
  for (const auto& rank : ranks) value = std::max(value, rank.at(key).get<double>());
  return value;
}

double total(const json& ranks, const char* key) {
  double value = 0;
  for (const auto& rank : ranks) value += rank.at(key).get<double>();
  return value;
}

void write_whole(const std::string& directory, const json& account) {
  const std::string path = directory + "/run.json", partial = path + ".partial";
  const bool good = static_cast<bool>(std::ofstream(partial)
                                      << account.dump(2, ' ', false, json::error_handler_t::replace) << '\n'
                                      << std::flush);
  if (good && std::rename(partial.c_str(), path.c_str()) == 0) return;
  std::remove(partial.c_str());
  throw Error(ErrorInfo{.kind = ErrorKind::io,
                        .message = path + ": cannot be written",
                        .path = path,
                        .hint = "check the space and the permissions there"});
}

}  // namespace

std::optional<double> hidden_fraction(double visible_s, double output_s) noexcept {
  if (output_s <= 0) return {};
  return std::clamp(1 - visible_s / output_s, 0.0, 1.0);
}

void write_account(mpi::CommView comm, const std::string& directory, const RunAccount& run, const RunEnd& end,
                   const RankAccount& mine) {
  const auto texts = mpi::gather(comm, to_json(mine, comm.rank()).dump(), 0);
  const auto thread_placements = mpi::gather(comm, to_json(mine.thread_placement, comm.rank()).dump(), 0);
  mpi::collectively_on_root(comm, [&] {
    json ranks = json::array();
    std::set<std::string> hosts;
    json peak = json::array(), predicted = json::array();
    for (const auto& text : texts) {
      ranks.push_back(json::parse(text));
      hosts.insert(ranks.back().at("host").get<std::string>());
      peak.push_back(ranks.back().at("peak_memory_bytes"));
      predicted.push_back(ranks.back().at("predicted_memory_bytes"));
    }
    json account = head(run);
    account["status"] = to_string(end.status);
    if (!end.reason.empty()) account["reason"] = end.reason;
    if (end.error) account["error"] = to_json(*end.error);
    account["steps"] = end.steps_done;
    account["ranks"] = comm.size();
    account["hosts"] = hosts;
    for (const char* key : {"setup_s", "compute_s", "exchange_s", "pack_s", "output_wait_s", "checkpoint_s"})
      account[key] = largest(ranks, key);
    account["checkpoints"] = mine.checkpoint.taken;
    account["checkpoint_bytes"] = static_cast<std::int64_t>(total(ranks, "checkpoint_bytes"));
    account["output_write_s"] = largest(ranks, "write_s");
    account["output_bytes"] = static_cast<std::int64_t>(total(ranks, "write_bytes"));
    const double pack_s = total(ranks, "pack_s");
    const auto hidden =
        hidden_fraction(total(ranks, "output_wait_s") + pack_s, total(ranks, "write_s") + pack_s);
    account["hidden_fraction"] = hidden ? json(*hidden) : json();
    account["peak_memory_bytes"] = peak;
    account["predicted_memory_bytes"] = predicted;
    account["per_rank"] = ranks;
    account["binding"] = json::array();
    for (const auto& text : thread_placements) account["binding"].push_back(json::parse(text));
    account["writers"] = json::array();
    for (const auto& writer : mine.writers) account["writers"].push_back(to_json(writer));
    write_whole(directory, account);
  });
}

void write_failure(const std::string& directory, const RunAccount& run, StepIndex steps_done, int ranks,
                   const ErrorInfo& error) {
  json account = head(run);
  account["status"] = to_string(Status::failed);
  account["steps"] = steps_done;
  account["ranks"] = ranks;
  account["error"] = to_json(error);
  write_whole(directory, account);
}

json describe_streams(const std::vector<output::Stream>& streams) {
  json list = json::array();
  for (const auto& stream : streams) {
    json paths = json::array();
    for (const auto& dataset : stream.datasets) paths.push_back(dataset.path);
    const bool series = stream.reduction == output::Reduction::none;
    json entry{{"name", stream.name},
               {"quantity", stream.quantity},
               {"unit", stream.unit},
               {"reduce", output::to_string(stream.reduction)},
               {"paths", paths},
               {"file", "output.h5"},
               {"first_step", stream.cadence.first},
               {"every", stream.cadence.every},
               {"samples", stream.growth ? json() : json(series ? stream.cadence.samples() : 1)}};
    if (!stream.cadence.at.empty()) entry["at"] = stream.cadence.at;
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace tailrace::run
