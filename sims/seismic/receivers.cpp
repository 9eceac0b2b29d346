// SPDX-License-Identifier: BSD-3-Clause
#include "receivers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <variant>

#include "h5/file.hpp"
#include "mpi/verdict.hpp"
#include "output/core/raw_file.hpp"
#include "segy.hpp"

namespace tailrace::seismic {

namespace {

constexpr std::int64_t max_in_16_bits = std::numeric_limits<std::int16_t>::max();
constexpr double us_per_s = 1e6;

double interval_us(const output::Stream& stream, double dt_s) noexcept {
  return dt_s * us_per_s * static_cast<double>(stream.cadence.every);
}

/// Returns whether a number is whole but for rounding.
bool is_whole(double number) noexcept {
  constexpr double rounding = 1e-6;
  return std::abs(number - std::round(number)) < rounding;
}

void check(const output::Stream& stream, double dt_s, Problems& problems) {
  const auto refuse = [&](const std::string& what, const std::string& fix) {
    problems.add(fmt::format("receivers.segy: \"{}\" {}", stream.name, what), fix);
  };
  const auto* points = std::get_if<output::Points>(&stream.selection);
  if (points == nullptr || stream.reduction != output::Reduction::none)
    return refuse("is no series at points", "an [[output]] with select = {points = [...]} and no reduce");
  if (!stream.cadence.at.empty()) return refuse("is not evenly spaced in time", "every = 1 instead of at");
  const double us = interval_us(stream, dt_s);
  if (!is_whole(us) || us < 1 || us > static_cast<double>(max_in_16_bits))
    refuse(fmt::format("has a sample every {:.6g} us, which SEG-Y cannot say", us),
           fmt::format("a time.dt_s and every that make whole microseconds from 1 to {}", max_in_16_bits));
  if (stream.cadence.samples() > max_in_16_bits)
    refuse(fmt::format("has {} samples in a trace", stream.cadence.samples()),
           fmt::format("at most {}, with a larger every", max_in_16_bits));
}

/// Letters, digits and a few signs as EBCDIC has them (code page 37), in which the text of SEG-Y is.
std::byte ebcdic(char letter) noexcept {
  const auto at = [letter](char first, int code) { return static_cast<std::byte>(code + letter - first); };
  if (letter >= '0' && letter <= '9') return at('0', 0xF0);
  const char upper = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
  if (upper >= 'A' && upper <= 'I') return static_cast<std::byte>(0xC1 + upper - 'A');
  if (upper >= 'J' && upper <= 'R') return static_cast<std::byte>(0xD1 + upper - 'J');
  if (upper >= 'S' && upper <= 'Z') return static_cast<std::byte>(0xE2 + upper - 'S');
  static const std::map<char, int> signs{{'.', 0x4B}, {'(', 0x4D}, {'+', 0x4E}, {')', 0x5D}, {'-', 0x60},
                                         {'/', 0x61}, {',', 0x6B}, {'_', 0x6D}, {':', 0x7A}, {'=', 0x7E}};
  const auto found = signs.find(letter);
  return static_cast<std::byte>(found == signs.end() ? 0x40 : found->second);
}

/// The smallest power of ten that makes lengths whole numbers, as far as these fit into 32 bits.
class Scalar {
 public:
  explicit Scalar(const std::vector<double>& lengths_m) {
    constexpr int finest = 10000;
    constexpr double most = std::numeric_limits<std::int32_t>::max();
    const auto all = [&](const auto& holds) {
      return std::all_of(lengths_m.begin(), lengths_m.end(), holds);
    };
    const auto exact = [&] { return all([this](double m) { return is_whole(m * factor_); }); };
    const auto fits = [&] { return all([this](double m) { return std::abs(m) * factor_ * 10 < most; }); };
    while (factor_ < finest && !exact() && fits()) factor_ *= 10;
  }
  [[nodiscard]] std::int32_t apply(double length_m) const noexcept {
    return static_cast<std::int32_t>(std::lround(length_m * factor_));
  }
  /// Unchanged in a header: negative numbers divide.
  [[nodiscard]] std::int16_t field() const noexcept {
    return static_cast<std::int16_t>(factor_ == 1 ? 1 : -factor_);
  }

 private:
  int factor_ = 1;
};

/// A SEG-Y file of receivers.
class Gather {
 public:
  Gather(const Survey& survey, const output::Stream& stream, StepIndex steps_done)
      : survey_(survey),
        stream_(stream),
        points_(std::get<output::Points>(stream.selection).points),
        samples_(stream.cadence.samples_until(steps_done)),
        scalar_(lengths_m()) {}

  [[nodiscard]] std::int64_t traces() const noexcept { return static_cast<std::int64_t>(points_.size()); }
  [[nodiscard]] std::int64_t samples() const noexcept { return samples_; }
  [[nodiscard]] std::int64_t trace_bytes() const noexcept {
    return segy::trace_bytes + samples_ * std::int64_t{sizeof(float)};
  }
  [[nodiscard]] static std::int64_t head_bytes() noexcept { return segy::text_bytes + segy::binary_bytes; }

  [[nodiscard]] std::vector<std::byte> head() const {
    std::vector<std::byte> bytes = text();
    std::vector<std::byte> binary(segy::binary_bytes);
    const auto put = [&](int field, std::int64_t value) {
      segy::put(std::span(binary), field, static_cast<std::int16_t>(value));
    };
    put(segy::traces_per_ensemble, std::min(traces(), max_in_16_bits));
    put(segy::interval_us, interval());
    put(segy::samples, samples_);
    put(segy::format, static_cast<std::int64_t>(segy::Format::ieee));
    put(segy::ensemble_fold, 1);
    put(segy::sorting, 1);  // as recorded
    put(segy::measurement, 1);
    put(segy::revision, 0x0100);
    put(segy::fixed_length, 1);
    bytes.insert(bytes.end(), binary.begin(), binary.end());
    return bytes;
  }

  /// A whole trace; `values` are its samples, each `stride` from the next.
  void put_trace(std::int64_t number, std::span<const float> values, std::int64_t stride,
                 std::span<std::byte> out) const {
    std::fill_n(out.begin(), segy::trace_bytes, std::byte{0});
    put_header(number, out.first(segy::trace_bytes));
    for (std::int64_t i = 0; i < samples_; ++i) {
      const auto bits = std::bit_cast<std::uint32_t>(values[static_cast<std::size_t>(i * stride)]);
      segy::put(out, static_cast<int>(segy::trace_bytes + i * std::int64_t{sizeof bits}) + 1, bits);
    }
  }

 private:
  [[nodiscard]] std::int64_t interval() const noexcept {
    return std::llround(interval_us(stream_, survey_.dt_s));
  }
  [[nodiscard]] std::array<double, 3> place_m(Index3 p) const noexcept {
    const auto& h = survey_.spacing_m;
    return {static_cast<double>(p.x) * h[0], static_cast<double>(p.y) * h[1],
            static_cast<double>(p.z) * h[2]};
  }
  [[nodiscard]] std::vector<double> lengths_m() const {
    std::vector<double> lengths;
    const auto add = [&](Index3 p) {
      const auto place = place_m(p);
      lengths.insert(lengths.end(), place.begin(), place.end());
    };
    add(survey_.source);
    for (const auto& point : points_) add(point);
    return lengths;
  }

  [[nodiscard]] std::vector<std::byte> text() const {
    constexpr std::size_t lines = 40, columns = 80;
    std::vector<std::byte> bytes(lines * columns, ebcdic(' '));
    const auto put = [&](std::size_t line, const std::string& words) {
      const auto text = fmt::format("C{:2} {}", line, words).substr(0, columns);
      std::transform(text.begin(), text.end(),
                     bytes.begin() + static_cast<std::ptrdiff_t>((line - 1) * columns), ebcdic);
    };
    for (std::size_t line = 1; line <= lines; ++line) put(line, "");
    put(1, "TITLE: " + survey_.title);
    put(2, "WRITTEN BY TAILRACE-SEISMIC");
    put(3, fmt::format("OUTPUT {}: QUANTITY {} AT {} POINTS", stream_.name, stream_.quantity, traces()));
    put(4, "COORDINATES IN METRES FROM THE LOW CORNER OF THE DOMAIN, Z DOWN");
    put(39, "SEG Y REV1");
    put(40, "END TEXTUAL HEADER");
    return bytes;
  }

  void put_header(std::int64_t number, std::span<std::byte> header) const {
    const auto wide = [&](int field, std::int64_t value) {
      segy::put(header, field, static_cast<std::int32_t>(value));
    };
    const auto narrow = [&](int field, std::int64_t value) {
      segy::put(header, field, static_cast<std::int16_t>(value));
    };
    const auto from = place_m(survey_.source), to = place_m(points_[static_cast<std::size_t>(number)]);
    for (const auto field : {segy::line_sequence, segy::file_sequence, segy::record_trace})
      wide(field, number + 1);
    wide(segy::field_record, 1);
    narrow(segy::trace_kind, 1);
    wide(segy::offset_m, std::lround(std::hypot(to[0] - from[0], to[1] - from[1])));
    wide(segy::receiver_elevation, -scalar_.apply(to[2]));
    wide(segy::source_depth, scalar_.apply(from[2]));
    narrow(segy::elevation_scalar, scalar_.field());
    narrow(segy::coordinate_scalar, scalar_.field());
    wide(segy::source_x, scalar_.apply(from[0]));
    wide(segy::source_y, scalar_.apply(from[1]));
    wide(segy::receiver_x, scalar_.apply(to[0]));
    wide(segy::receiver_y, scalar_.apply(to[1]));
    narrow(segy::coordinate_unit, 1);
    const double delay_ms = survey_.dt_s * 1e3 * static_cast<double>(stream_.cadence.first);
    narrow(segy::delay_ms, std::min(std::lround(delay_ms), static_cast<long>(max_in_16_bits)));
    narrow(segy::time_scalar, 1);
    narrow(segy::trace_samples, samples_);
    narrow(segy::trace_interval_us, interval());
  }

  const Survey& survey_;
  const output::Stream& stream_;
  const std::vector<Index3>& points_;
  std::int64_t samples_;
  Scalar scalar_;
};

void create(const Gather& gather, const std::string& path) {
  const auto head = gather.head();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(head.data()), static_cast<std::streamsize>(head.size()));
  file.close();
  if (!file) throw output::file_failure(path, "writing", 0, errno);
}

/// Reads and writes the traces from `first` to `end`, some at a time.
void copy_traces(const Gather& gather, const output::Stream& stream, Range traces, const std::string& from,
                 const std::string& to) {
  if (traces.empty() || gather.samples() == 0) return;
  constexpr std::int64_t batch_bytes = 16 << 20;
  const std::int64_t at_once = std::clamp<std::int64_t>(batch_bytes / gather.trace_bytes(), 1, traces.size());
  const auto file = h5::File::open(from);
  output::RawFile target(to, output::make_plain_call());
  std::vector<float> values;
  std::vector<std::byte> bytes;
  for (std::int64_t first = traces.begin; first < traces.end; first += at_once) {
    const std::int64_t count = std::min(at_once, traces.end - first);
    const auto number = [](std::int64_t i) { return static_cast<std::uint64_t>(i); };
    values.resize(static_cast<std::size_t>(gather.samples() * count));
    bytes.resize(static_cast<std::size_t>(gather.trace_bytes() * count));
    file.read_hyperslab<float>(stream.datasets.front().path, {0, number(first)},
                               {number(gather.samples()), number(count)}, values);
    for (std::int64_t i = 0; i < count; ++i)
      gather.put_trace(first + i, std::span(values).subspan(static_cast<std::size_t>(i)), count,
                       std::span(bytes).subspan(static_cast<std::size_t>(i * gather.trace_bytes()),
                                                static_cast<std::size_t>(gather.trace_bytes())));
    target.write_directly(bytes, Gather::head_bytes() + first * gather.trace_bytes());
  }
  target.flush();
  target.close();
}

}  // namespace

std::vector<output::Stream> receiver_streams(const std::vector<output::Stream>& streams,
                                             const std::vector<std::string>& names, double dt_s,
                                             Problems& problems) {
  std::vector<output::Stream> found;
  for (const auto& name : names) {
    const auto stream =
        std::find_if(streams.begin(), streams.end(), [&](const auto& one) { return one.name == name; });
    if (stream == streams.end()) {
      problems.add(fmt::format("receivers.segy: \"{}\" is no output", name), "the name of an [[output]]");
      continue;
    }
    check(*stream, dt_s, problems);
    found.push_back(*stream);
  }
  return found;
}

std::string receiver_file(const std::string& output, const std::string& name) {
  const std::filesystem::path path(output);
  return (path.parent_path() / fmt::format("{}.{}.sgy", path.stem().string(), name)).string();
}

void write_receivers(mpi::CommView comm, const Survey& survey, const output::Stream& stream,
                     const std::string& output, StepIndex steps_done) {
  const Gather gather(survey, stream, steps_done);
  const auto path = receiver_file(output, stream.name), partial = path + ".partial";
  const auto part = [&](int rank) { return gather.traces() * rank / comm.size(); };
  try {
    mpi::collectively_on_root(comm, [&] { create(gather, partial); });
    mpi::collectively(comm, [&] {
      copy_traces(gather, stream, {part(comm.rank()), part(comm.rank() + 1)}, output, partial);
    });
    mpi::collectively_on_root(comm, [&] { std::filesystem::rename(partial, path); });
  } catch (...) {
    std::error_code ignored;
    if (comm.is_root()) std::filesystem::remove(partial, ignored);
    throw;
  }
}

}  // namespace tailrace::seismic
