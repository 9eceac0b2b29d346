// SPDX-License-Identifier: BSD-3-Clause
#include "particles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "base/bytes.hpp"
#include "mpi/packets.hpp"
#include "tailrace/decomposition.hpp"

namespace tailrace::rehearse {

std::string to_string(const ParticleVerdict& verdict) {
  if (verdict.good())
    return fmt::format("particles: right: {}, checksum {:016x}", verdict.count, verdict.sum);
  return fmt::format(
      "particles: WRONG: {} of {}, {} of them not where they belong, checksum {:016x} instead of {:016x}",
      verdict.count, verdict.planned, verdict.wrong, verdict.sum, verdict.expected);
}

Particles::Particles(mpi::CommView comm, const Formula& formula, const Ownership& ownership,
                     const ParticleFormula& particle_formula)
    : comm_(comm), formula_(formula), particle_formula_(particle_formula) {
  for (int rank = 0; rank < comm.size(); ++rank)
    boxes_.push_back(ownership.box(formula.cells, comm.size(), rank));
  for (std::uint64_t id = 0; id < static_cast<std::uint64_t>(particle_formula.count()); ++id) {
    const auto particle = particle_formula.particle(id, 0);
    if (own_box().contains(particle_formula.point(particle))) particles_.push_back(particle);
  }
  sort_into_cells();
}

void Particles::advance() {
  std::map<int, std::vector<Particle>> leaving;
  for (auto& particle : particles_) {
    particle_formula_.advance(particle);
    const auto point = particle_formula_.point(particle);
    if (own_box().contains(point)) continue;
    const auto owner =
        std::find_if(boxes_.begin(), boxes_.end(), [&](const Box& box) { return box.contains(point); });
    leaving[static_cast<int>(owner - boxes_.begin())].push_back(particle);
  }
  std::erase_if(particles_, [&](const Particle& particle) {
    return !own_box().contains(particle_formula_.point(particle));
  });
  for (const auto& packet : mpi::deliver(comm_, mpi::packets_of(std::move(leaving))))
    particles_.insert(particles_.end(), packet.values.begin(), packet.values.end());
  sort_into_cells();
}

ParticleVerdict Particles::compare(StepIndex step) const {
  std::int64_t wrong = 0;
  std::uint64_t sum = 0;
  for (const auto& particle : particles_) {
    sum += fingerprint(particle);
    if (!own_box().contains(particle_formula_.point(particle)) ||
        particle != particle_formula_.particle(particle.id, step))
      ++wrong;
  }
  const Range share = layout::split(particle_formula_.count(), comm_.size(), comm_.rank());
  const auto expected = particle_formula_.sum(static_cast<std::uint64_t>(share.begin),
                                              static_cast<std::uint64_t>(share.end), step);
  const auto all = mpi::sum(
      comm_, std::vector<std::uint64_t>{particles_.size(), static_cast<std::uint64_t>(wrong), sum, expected});
  return {.count = static_cast<std::int64_t>(all[0]),
          .wrong = static_cast<std::int64_t>(all[1]),
          .sum = all[2],
          .expected = all[3],
          .planned = particle_formula_.count()};
}

std::int64_t Particles::memory_bytes() const noexcept {
  return particle_formula_.count() * static_cast<std::int64_t>(sizeof(Particle));
}

void Particles::sort_into_cells() {
  std::sort(particles_.begin(), particles_.end(), [this](const Particle& a, const Particle& b) {
    return std::tuple(key(a), a.id) < std::tuple(key(b), b.id);
  });
  firsts_.clear();
  for (std::size_t i = 0; i < particles_.size(); ++i)
    if (i == 0 || key(particles_[i]) != key(particles_[i - 1])) firsts_.push_back(i);
  firsts_.push_back(particles_.size());
}

checkpoint::RowType Particles::type() const {
  return {.bytes = sizeof(Particle),
          .members = {{.name = "id", .type = "<u8", .offset = offsetof(Particle, id)},
                      {.name = "place", .type = "<i8", .offset = offsetof(Particle, place), .count = 3},
                      {.name = "speed", .type = "<i8", .offset = offsetof(Particle, speed), .count = 3}}};
}

std::vector<checkpoint::RowSet::Cell> Particles::cells() const {
  std::vector<Cell> list;
  for (std::size_t i = 0; i + 1 < firsts_.size(); ++i)
    list.push_back({key(particles_[firsts_[i]]), static_cast<std::int64_t>(firsts_[i + 1] - firsts_[i])});
  return list;
}

void Particles::read(std::size_t cell, std::span<std::byte> rows) const {
  std::memcpy(rows.data(), particles_.data() + firsts_[cell], rows.size());
}

std::vector<checkpoint::KeyRange> Particles::begin_restore() {
  particles_.clear();
  const Box& box = own_box();
  std::vector<checkpoint::KeyRange> ranges;
  if (box.empty()) return ranges;
  for (std::int64_t z = box.lo.z; z < box.hi.z; ++z)
    for (std::int64_t y = box.lo.y; y < box.hi.y; ++y) {
      const auto begin = static_cast<std::uint64_t>(formula_.number({box.lo.x, y, z}));
      const auto end = begin + static_cast<std::uint64_t>(box.x().size());
      if (!ranges.empty() && ranges.back().end == begin)
        ranges.back().end = end;
      else
        ranges.push_back({begin, end});
    }
  return ranges;
}

bool Particles::owns(std::uint64_t key, std::span<const std::byte>) const {
  const auto number = static_cast<std::int64_t>(key);
  const Index3& n = formula_.cells;
  return own_box().contains({number % n.x, number / n.x % n.y, number / n.x / n.y});
}

void Particles::add(std::uint64_t, std::span<const std::byte> row) {
  particles_.push_back(value_at<Particle>(row));
}

void Particles::end_restore() {
  sort_into_cells();
}

}  // namespace tailrace::rehearse
