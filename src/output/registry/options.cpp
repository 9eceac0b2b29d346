// SPDX-License-Identifier: BSD-3-Clause
#include "output/registry/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include "base/system.hpp"
#include "base/text.hpp"
#include "output/registry/registry.hpp"
#include "tailrace/error.hpp"

namespace tailrace::output {

namespace {

constexpr const char* pace_form =
    "write it like bandwidth=50MB/s,latency=1ms,jitter=0.1,seed=1; each key may be left out";
constexpr const char* fault_form =
    "write it like ACTION:KEY=VALUE,KEY=VALUE, several separated by ';', such as write:every=7,error=ENOSPC "
    "or "
    "kill:rank=1,step=20. Actions: write, short, kill, stall. Keys: rank, step, after (bytes), and one of "
    "nth, every, "
    "probability; seed; error (of write: EIO, ENOSPC, EDQUOT, EFBIG, EROFS, EBADF); s (of stall, seconds)";

Error bad(const std::string& what) {
  return {ErrorKind::usage, what};
}

template <class T>
T number(const std::string& key, const std::string& text, T least, T most) {
  const auto value = parse_number<T>(text, least, most);
  if (!value) throw bad(fmt::format("{}={}: not a number from {} to {}", key, text, least, most));
  return *value;
}

constexpr std::int64_t large = std::int64_t{1} << 62;

/// Calls `set(key, value)` for each KEY=VALUE of a list; `set` returns false for keys that it does not know.
void for_each_pair(const std::string& list,
                   const std::function<bool(const std::string&, const std::string&)>& set) {
  for (const auto& pair : split_text(list, ',')) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos) throw bad(fmt::format("\"{}\" is not KEY=VALUE", pair));
    if (!set(pair.substr(0, equals), pair.substr(equals + 1)))
      throw bad(fmt::format("unknown key \"{}\"", pair.substr(0, equals)));
  }
}

int parse_errno(const std::string& text) {
  static constexpr std::array<std::pair<const char*, int>, 6> names{{{"EIO", EIO},
                                                                     {"ENOSPC", ENOSPC},
                                                                     {"EDQUOT", EDQUOT},
                                                                     {"EFBIG", EFBIG},
                                                                     {"EROFS", EROFS},
                                                                     {"EBADF", EBADF}}};
  for (const auto& [name, value] : names)
    if (text == name) return value;
  throw bad(fmt::format("unknown error \"{}\"", text));
}

Fault::Action parse_action(const std::string& text) {
  if (text == "write") return Fault::Action::write;
  if (text == "short") return Fault::Action::shorten;
  if (text == "kill") return Fault::Action::kill;
  if (text == "stall") return Fault::Action::stall;
  throw bad(fmt::format("unknown action \"{}\"", text));
}

bool set_fault_key(Fault& fault, const std::string& key, const std::string& value) {
  if (key == "rank")
    fault.rank = number<int>(key, value, 0, 1 << 30);
  else if (key == "nth")
    fault.nth = number<std::int64_t>(key, value, 1, large);
  else if (key == "every")
    fault.every = number<std::int64_t>(key, value, 1, large);
  else if (key == "probability")
    fault.probability = number<double>(key, value, 0, 1);
  else if (key == "seed")
    fault.seed = static_cast<std::uint64_t>(number<std::int64_t>(key, value, 0, large));
  else if (key == "after")
    fault.after_bytes = static_cast<std::int64_t>(parse_bytes(value, key));
  else if (key == "step")
    fault.from_step = number<std::int64_t>(key, value, 0, large);
  else if (key == "error" && fault.action == Fault::Action::write)
    fault.error = parse_errno(value);
  else if (key == "s" && fault.action == Fault::Action::stall)
    fault.stall_s = parse_seconds(value, key);
  else
    return false;
  return true;
}

Fault parse_fault(const std::string& text) {
  const auto colon = text.find(':');
  Fault fault;
  fault.action = parse_action(text.substr(0, colon));
  if (colon == std::string::npos) return fault;
  for_each_pair(text.substr(colon + 1),
                [&](const auto& key, const auto& value) { return set_fault_key(fault, key, value); });
  if (fault.nth.has_value() + fault.every.has_value() + fault.probability.has_value() > 1)
    throw bad("only one of nth, every and probability can be given");
  return fault;
}

/// Runs a parser; what it finds wrong is reported with the name of the option, the text and the accepted
/// form.
template <class Parse>
auto with_form(const char* option, const std::string& text, const std::string& form, const Parse& parse) {
  try {
    return parse();
  } catch (const Error& error) {
    throw Error(ErrorInfo{.kind = ErrorKind::usage,
                          .message = fmt::format("{} {}: {}", option, text, error.info().message),
                          .path = {},
                          .hint = form});
  }
}

template <class Table>
std::string forms(const Table& table) {
  std::vector<const char*> list;
  for (const auto& entry : table) list.push_back(entry.form);
  return fmt::format("{}", fmt::join(list, ", "));
}

/// A size of stripes, in whole units of the least.
std::int64_t parse_stripe_size(const char* name, const std::string& text, std::int64_t most,
                               const char* max_text) {
  return with_form(name, text, fmt::format("a size from 64KiB to {}, such as 4MiB", max_text), [&] {
    const double bytes = parse_bytes(text, name);
    if (!(bytes >= min_stripe_bytes && bytes <= static_cast<double>(most))) throw bad("out of range");
    const auto units = (static_cast<std::int64_t>(bytes) + min_stripe_bytes - 1) / min_stripe_bytes;
    return units * min_stripe_bytes;
  });
}

/// Returns whether this build has what a sink needs; its parser refuses it otherwise.
bool is_available(const SinkEntry& sink) {
  try {
    WriteOptions options;
    sink.parse("", options);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// The forms of the sinks that this build has.
std::string available_sink_forms() {
  std::vector<SinkEntry> list;
  std::copy_if(sinks().begin(), sinks().end(), std::back_inserter(list), is_available);
  return forms(list);
}

/// Reads NAME or NAME:ARGUMENT by the entry of the name, which is returned.
template <class Find>
const auto& parse_entry(const std::string& text, const Find& find, WriteOptions& options) {
  const auto colon = text.find(':');
  const auto& entry = find(text.substr(0, colon));
  if (colon != std::string::npos && colon + 1 == text.size()) throw bad("nothing is behind the colon");
  entry.parse(colon == std::string::npos ? "" : text.substr(colon + 1), options);
  return entry;
}

}  // namespace

std::string strategy_forms() {
  return forms(strategies());
}
std::string sink_forms() {
  return forms(sinks());
}

std::vector<Service> services() {
  std::vector<Service> list;
  for (const auto& strategy : strategies()) {
    WriteOptions usual;
    strategy.parse("", usual);
    list.push_back({strategy.form, strategy.name + strategy.argument(usual), {}});
    for (const auto& sink : sinks())
      if (strategy.serves(sink.traits) && is_available(sink)) list.back().sinks.emplace_back(sink.form);
  }
  return list;
}

void parse_strategy(const char* name, const std::string& text, WriteOptions& options) {
  with_form(name, text, "one of " + strategy_forms(),
            [&] { options.strategy = parse_entry(text, find_strategy, options).name; });
  options.strategy_given = true;
}

void parse_sink(const char* name, const std::string& text, WriteOptions& options) {
  with_form(name, text, "one of " + available_sink_forms(), [&] {
    options.mpi_hints.clear();  // of a sink that was named elsewhere
    options.sink = parse_entry(text, find_sink, options).name;
  });
}

void parse_flush(const char* name, const std::string& text, WriteOptions& options) {
  with_form(name, text, "one of none, sample", [&] {
    if (text != "none" && text != "sample") throw bad("unknown");
    options.flush_samples = text == "sample";
  });
}

void parse_stripe(const char* name, const std::string& text, WriteOptions& options) {
  constexpr std::int64_t max_stripe_bytes = std::int64_t{1} << 40;
  options.stripe_bytes = parse_stripe_size(name, text, max_stripe_bytes, "1TiB");
}

void parse_lustre_size(const char* name, const std::string& text, WriteOptions& options) {
  constexpr std::int64_t max_bytes = (std::int64_t{1} << 32) - min_stripe_bytes;  // Lustre: below 4 GiB
  options.lustre.bytes = parse_stripe_size(name, text, max_bytes, "4095MiB");
}

void parse_lustre_count(const char* name, const std::string& text, WriteOptions& options) {
  with_form(name, text, "a number of stripes, such as 8",
            [&] { options.lustre.count = number<int>("count", text, 1, max_lustre_stripes); });
}

void check_counts(const WriteOptions& options) {
  const auto check = [](const char* what, int given, int least, int most) {
    if (given < least || given > most)
      throw Error(ErrorKind::usage, fmt::format("an output with {} {}", given, what),
                  fmt::format("a number from {} to {}", least, most));
  };
  check("buffers", options.buffers, 1, max_buffers);
  check("ranks per leader", options.group, 0, max_group);
  check("writers", options.writers, 1, max_writers);
}

void take_strategy(const WriteOptions& from, WriteOptions& to) {
  to.strategy = from.strategy;
  to.buffers = from.buffers;
  to.group = from.group;
  to.writers = from.writers;
  to.send_waits = from.send_waits;
}

std::vector<std::string> parse_directories(const std::string& text) {
  return split_text(text, ',');
}

void take_directories(const char* name, std::vector<std::string> directories, WriteOptions& options) {
  std::set<std::filesystem::path> known;
  for (const auto& directory : directories)
    with_form(name, directory, "name directories that exist and may be written, each once", [&] {
      std::error_code code;
      const auto place = std::filesystem::canonical(directory, code);
      if (code) throw bad(code.message());
      if (!std::filesystem::is_directory(place, code)) throw bad("is no directory");
      if (access(directory.c_str(), W_OK | X_OK) != 0) throw bad(std::strerror(errno));
      if (!known.insert(place).second) throw bad("is named twice");
    });
  options.directories = std::move(directories);
}

void parse_bind(const char* name, const std::string& text, WriteOptions& options) {
  with_form(name, text, "one of auto, none", [&] {
    if (text != "auto" && text != "none") throw bad("unknown");
    options.bind = text == "auto";
  });
}

Pace parse_pace(const std::string& text) {
  return with_form("--pace", text, pace_form, [&] {
    Pace pace;
    for_each_pair(text, [&](const std::string& key, const std::string& value) {
      if (key == "bandwidth")
        pace.bandwidth_bytes_s = parse_bytes(value, key);
      else if (key == "latency")
        pace.latency_s = parse_seconds(value, key);
      else if (key == "jitter")
        pace.jitter = number<double>(key, value, 0, 1);
      else if (key == "seed")
        pace.seed = static_cast<std::uint64_t>(number<std::int64_t>(key, value, 0, large));
      else
        return false;
      return true;
    });
    if (pace.bandwidth_bytes_s == 0 && pace.latency_s == 0)
      throw bad("neither a bandwidth nor a latency is given");
    return pace;
  });
}

std::vector<Fault> parse_faults(const std::string& text) {
  return with_form("--fault", text, fault_form, [&] {
    std::vector<Fault> faults;
    for (const auto& part : split_text(text, ';')) faults.push_back(parse_fault(part));
    return faults;
  });
}

WriteOptions parse_options(const OptionTexts& texts) {
  WriteOptions options;
  Problems problems("output options");
  const auto read = [&](const std::string& text, const std::function<void()>& parse) {
    try {
      if (!text.empty()) parse();
    } catch (const Error& error) {
      problems.add(error.what());
    }
  };
  read(texts.write, [&] { parse_strategy("--write", texts.write, options); });
  read(texts.sink, [&] { parse_sink("--sink", texts.sink, options); });
  read(texts.pace, [&] { options.pace = parse_pace(texts.pace); });
  read(texts.flush, [&] { parse_flush("--flush", texts.flush, options); });
  read(texts.bind, [&] { parse_bind("--bind", texts.bind, options); });
  read(texts.fault, [&] { options.faults = parse_faults(texts.fault); });
  read(texts.directories,
       [&] { take_directories("--directories", parse_directories(texts.directories), options); });
  read(texts.lustre_count, [&] { parse_lustre_count("--lustre-count", texts.lustre_count, options); });
  read(texts.lustre_size, [&] { parse_lustre_size("--lustre-size", texts.lustre_size, options); });
  read(texts.stripe, [&] { parse_stripe("--stripe", texts.stripe, options); });
  if (!texts.stripe.empty() && texts.directories.empty())
    problems.add("--stripe: stripes are for several directories, and none is named", "add --directories");
  if (problems.empty()) fit_strategy(options);
  problems.throw_if_any(ErrorKind::usage);
  return options;
}

}  // namespace tailrace::output
