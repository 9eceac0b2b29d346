// SPDX-License-Identifier: BSD-3-Clause
#include "segy_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <vector>

#include "base/files.hpp"
#include "segy.hpp"

namespace tailrace::seismic {

namespace segy {

double from_ibm(std::uint32_t bits) noexcept {
  constexpr int fraction_bits = 24, excess = 64;
  const auto exponent = static_cast<int>(bits >> 24U & 0x7FU) - excess;
  const double value = std::ldexp(static_cast<double>(bits & 0xFFFFFFU), 4 * exponent - fraction_bits);
  return (bits >> 31U) != 0 ? -value : value;
}

}  // namespace segy

namespace {

/// The numbers of a trace's place.
struct Line {
  std::int32_t in = 0, cross = 0;
  friend bool operator==(const Line&, const Line&) = default;
};

class SegyModel {
 public:
  SegyModel(const std::string& path, Index3 cells) : file_(path, "write the file again"), cells_(cells) {
    read_binary_header();
    check_shape();
    find_order();
  }

  void read(const Box& region, std::span<double> out) {
    if (region.empty()) return;
    if (!covers(region)) load(region);
    const Index3 n = region.extents();
    for (std::int64_t z = region.lo.z; z < region.hi.z; ++z)
      for (std::int64_t i = 0; i < n.x * n.y; ++i)
        out[static_cast<std::size_t>((z - region.lo.z) * n.x * n.y + i)] =
            block_[static_cast<std::size_t>(i * loaded_.z().size() + z - loaded_.lo.z)];
    if (region.hi.z == cells_.z) block_ = {}, loaded_ = {};  // usually the last that is asked for
  }

 private:
  static constexpr std::int64_t block_values = 1 << 20;  // kept in memory, unless one plane is more

  [[nodiscard]] Error bad(const std::string& what, const std::string& fix) const {
    return file_error(file_.path(), what, fix);
  }

  void read_binary_header() {
    if (file_.size_bytes() < segy::text_bytes + segy::binary_bytes)
      throw bad(fmt::format("has {} bytes: it is no SEG-Y file, or truncated", file_.size_bytes()),
                "a file with its headers of 3600 bytes");
    std::array<std::byte, segy::binary_bytes> header{};
    file_.read(segy::text_bytes, header);
    const auto code = segy::get<std::int16_t>(header, segy::format);
    if (code != static_cast<int>(segy::Format::ibm) && code != static_cast<int>(segy::Format::ieee))
      throw bad(fmt::format("has samples of format {}", code),
                "SEG-Y with format 1 (IBM float) or 5 (IEEE float), big-endian");
    format_ = static_cast<segy::Format>(code);
    samples_ = segy::get<std::uint16_t>(header, segy::samples);
    const auto texts = segy::get<std::int16_t>(header, segy::extended_texts);
    if (texts < 0)
      throw bad("has an unknown number of extended text headers", "a file that says how many there are");
    first_ = segy::text_bytes * (1 + texts) + segy::binary_bytes;
    trace_bytes_ = segy::trace_bytes + sample_bytes * samples_;
  }

  void check_shape() const {
    const auto bytes = std::max<std::int64_t>(0, file_.size_bytes() - first_);
    const auto traces = bytes / trace_bytes_, wanted = cells_.x * cells_.y;
    if (samples_ == cells_.z && bytes == wanted * trace_bytes_) return;
    if (samples_ == cells_.z && traces < wanted && bytes % trace_bytes_ != 0)
      throw bad(fmt::format("ends within trace {} of {}: it is truncated", traces + 1, wanted),
                "write the file again");
    if (samples_ == cells_.z && traces == wanted)
      throw bad(fmt::format("holds {} bytes behind its {} traces", bytes - wanted * trace_bytes_, wanted),
                "remove them, or write the file again");
    throw bad(
        fmt::format("holds {} traces of {} samples", traces, samples_),
        fmt::format("{} x {} traces of {} samples, as domain.cells: a trace for each x and y, its samples "
                    "along z",
                    cells_.x, cells_.y, cells_.z));
  }

  [[nodiscard]] Line line_of(std::int64_t trace) const {
    std::array<std::byte, segy::trace_bytes> header{};
    file_.read(first_ + trace * trace_bytes_, header);
    const auto own = segy::get<std::uint16_t>(header, segy::trace_samples);
    if (own != 0 && own != samples_)
      throw bad(fmt::format("trace {} has {} samples, the others {}", trace + 1, own, samples_),
                "traces of one length");
    return {segy::get<std::int32_t>(header, segy::inline_number),
            segy::get<std::int32_t>(header, segy::crossline_number)};
  }

  /// Finds out which of x and y runs faster, by the first traces, and how the numbers grow.
  void find_order() {
    origin_ = line_of(0);
    const Line last = line_of(cells_.x * cells_.y - 1);
    numbered_ = last != origin_;
    if (!numbered_) return;
    const Line next = line_of(1);
    x_fastest_ = next.in != origin_.in;
    const Line slow = cells_.x > 1 && cells_.y > 1 ? line_of(x_fastest_ ? cells_.x : cells_.y) : next;
    step_.in = (x_fastest_ ? next.in : slow.in) - origin_.in;
    step_.cross = (x_fastest_ ? slow.cross : next.cross) - origin_.cross;
  }

  [[nodiscard]] std::int64_t trace_of(std::int64_t x, std::int64_t y) const noexcept {
    return x_fastest_ ? y * cells_.x + x : x * cells_.y + y;
  }

  /// Refuses a trace that belongs elsewhere.
  void check_line(std::int64_t x, std::int64_t y) const {
    const auto trace = trace_of(x, y);
    const Line found = line_of(trace);
    const std::int64_t in = origin_.in + x * step_.in, cross = origin_.cross + y * step_.cross;
    if (!numbered_ || (found.in == in && found.cross == cross)) return;
    throw bad(fmt::format("trace {} has inline {} and crossline {} where {} and {} are expected", trace + 1,
                          found.in, found.cross, in, cross),
              fmt::format("{} inlines along x and {} crosslines along y, all there and sorted", cells_.x,
                          cells_.y));
  }

  [[nodiscard]] bool covers(const Box& region) const noexcept {
    return !loaded_.empty() && region.x() == loaded_.x() && region.y() == loaded_.y() &&
           region.lo.z >= loaded_.lo.z && region.hi.z <= loaded_.hi.z;
  }

  /// Reads an extent of each trace of the region, for the planes that are asked for next too.
  void load(const Box& region) {
    const Index3 n = region.extents();
    const std::int64_t planes = std::max(n.z, block_values / (n.x * n.y));
    loaded_ = region;
    loaded_.hi.z = std::min(cells_.z, region.lo.z + planes);
    const std::int64_t depth = loaded_.z().size();
    block_.resize(static_cast<std::size_t>(n.x * n.y * depth));
    std::vector<std::byte> bytes(static_cast<std::size_t>(depth * sample_bytes));
    auto value = block_.begin();
    for (std::int64_t y = region.lo.y; y < region.hi.y; ++y)
      for (std::int64_t x = region.lo.x; x < region.hi.x; ++x) {
        check_line(x, y);
        file_.read(first_ + trace_of(x, y) * trace_bytes_ + segy::trace_bytes + region.lo.z * sample_bytes,
                   bytes);
        for (std::int64_t z = 0; z < depth; ++z) {
          const auto bits = segy::get<std::uint32_t>(bytes, static_cast<int>(z * sample_bytes) + 1);
          *value++ =
              format_ == segy::Format::ibm ? static_cast<float>(segy::from_ibm(bits)) : segy::from_ieee(bits);
        }
      }
  }

  static constexpr std::int64_t sample_bytes = 4;
  InputFile file_;
  Index3 cells_;
  segy::Format format_ = segy::Format::ieee;
  std::int64_t samples_ = 0, first_ = 0, trace_bytes_ = 0;
  bool numbered_ = false, x_fastest_ = false;
  Line origin_, step_;
  Box loaded_;
  std::vector<float> block_;  ///< refers to the points in `loaded_`, trace after trace
};

}  // namespace

Parameter open_segy_model(const std::string& path, Index3 cells) {
  const auto model = std::make_shared<SegyModel>(path, cells);
  return {.value = 0, .open = [model]() -> Parameter::ReadBox {
            return [model](const Box& region, std::span<double> out) { model->read(region, out); };
          }};
}

}  // namespace tailrace::seismic
