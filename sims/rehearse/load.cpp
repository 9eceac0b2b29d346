// SPDX-License-Identifier: BSD-3-Clause
#include "load.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/system.hpp"
#include "tailrace/error.hpp"

namespace tailrace::rehearse {

const char* to_string(Work work) noexcept {
  switch (work) {
    case Work::none:
      return "none";
    case Work::matmul:
      return "matmul";
    case Work::memory:
      return "memory";
    case Work::broadcast:
      return "broadcast";
  }
  return "none";
}

Work parse_work(const std::string& text) {
  for (const Work work : {Work::none, Work::matmul, Work::memory, Work::broadcast})
    if (text == to_string(work)) return work;
  throw Error(ErrorInfo{.kind = ErrorKind::usage,
                        .message = fmt::format("\"{}\" is no work", text),
                        .path = {},
                        .hint = fmt::format("one of {}", work_forms)});
}

/// A kind of work.
class Load::Kernel {
 public:
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  virtual ~Kernel() = default;
  virtual void run(std::int64_t units) = 0;
  [[nodiscard]] virtual const char* unit_text() const noexcept = 0;
  [[nodiscard]] virtual double check() const noexcept = 0;
  [[nodiscard]] virtual std::int64_t bytes() const noexcept = 0;
};

/// A unit is the product of two matrices of 64 x 64 numbers; three of them take 96 KiB.
class Load::Products final : public Load::Kernel {
 public:
  explicit Products(int threads) : sets_(static_cast<std::size_t>(threads)) {}

  void run(std::int64_t units) override {
    const int threads = static_cast<int>(sets_.size());
#pragma omp parallel num_threads(threads)
    {
      auto& set = sets_[static_cast<std::size_t>(omp_get_thread_num())];
      for (std::int64_t unit = 0; unit < units; ++unit) {
        multiply(set.a.data(), set.b.data(), set.c.data());
        std::swap(set.a, set.c);
      }
    }
  }
  [[nodiscard]] const char* unit_text() const noexcept override {
    return "the product of two matrices of 64 x 64 numbers";
  }
  [[nodiscard]] double check() const noexcept override {
    return sets_.front().a.front();
  }
  [[nodiscard]] std::int64_t bytes() const noexcept override {
    return static_cast<std::int64_t>(sets_.size() * 3 * values * sizeof(double));
  }

 private:
  static constexpr std::size_t edge = 64, values = edge * edge;
  struct Set {
    // Averages of averages stay between the smallest and the largest number.
    AlignedVector<double> a = AlignedVector<double>(values, 1.0),
                          b = AlignedVector<double>(values, 1.0 / edge), c = AlignedVector<double>(values);
  };

  static void multiply(const double* a, const double* b, double* c) noexcept {
    for (std::size_t i = 0; i < edge; ++i) {
      double* row = c + i * edge;
      std::fill(row, row + edge, 0.0);
      for (std::size_t k = 0; k < edge; ++k) {
        const double factor = a[i * edge + k];
        for (std::size_t j = 0; j < edge; ++j) row[j] += factor * b[k * edge + j];
      }
    }
  }

  std::vector<Set> sets_;
};

/// A unit is a = b + s c over 384 KiB, the next ones of 96 MiB per thread.
class Load::Passes final : public Load::Kernel {
 public:
  explicit Passes(int threads) : sets_(static_cast<std::size_t>(threads)) {
#pragma omp parallel num_threads(threads)
    sets_[static_cast<std::size_t>(omp_get_thread_num())].allocate();
  }

  void run(std::int64_t units) override {
    const int threads = static_cast<int>(sets_.size());
#pragma omp parallel num_threads(threads)
    sets_[static_cast<std::size_t>(omp_get_thread_num())].run(units);
  }
  [[nodiscard]] const char* unit_text() const noexcept override {
    return "a = b + s c over 384 KiB of 96 MiB";
  }
  [[nodiscard]] double check() const noexcept override {
    return sets_.front().a.front();
  }
  [[nodiscard]] std::int64_t bytes() const noexcept override {
    return static_cast<std::int64_t>(sets_.size() * 3 * values * sizeof(double));
  }

 private:
  static constexpr std::size_t values = std::size_t{4} << 20, batch = std::size_t{16} << 10;
  struct Set {
    AlignedVector<double> a, b, c;
    std::size_t at = 0;

    void allocate() {
      a.assign(values, 0.0);
      b.assign(values, 1.0);
      c.assign(values, 2.0);
    }
    void run(std::int64_t units) noexcept {
      constexpr double scale = 0.5;
      for (std::int64_t unit = 0; unit < units; ++unit) {
        for (std::size_t i = at; i < at + batch; ++i) a[i] = b[i] + scale * c[i];
        at = (at + batch) % values;
      }
    }
  };
  std::vector<Set> sets_;
};

/// A unit is a broadcast of 64 KiB, by each rank in its turn.
class Load::Messages final : public Load::Kernel {
 public:
  explicit Messages(mpi::CommView comm) : comm_(comm) {}

  void run(std::int64_t units) override {
    for (std::int64_t unit = 0; unit < units; ++unit) {
      mpi::broadcast_bytes(comm_, std::as_writable_bytes(std::span(values_)), root_);
      root_ = (root_ + 1) % comm_.size();
    }
  }
  [[nodiscard]] const char* unit_text() const noexcept override { return "a broadcast of 64 KiB"; }
  [[nodiscard]] double check() const noexcept override { return values_.front(); }
  [[nodiscard]] std::int64_t bytes() const noexcept override {
    return static_cast<std::int64_t>(values_.size() * sizeof(double));
  }

 private:
  mpi::CommView comm_;
  int root_ = 0;
  AlignedVector<double> values_ = AlignedVector<double>(8192, 1.0);
};

Load::Load(mpi::CommView comm, const LoadOptions& options, int threads)
    : comm_(comm), options_(options), units_(options.units.value_or(0)) {
  if (options.work == Work::matmul) kernel_ = std::make_unique<Products>(threads);
  if (options.work == Work::memory) kernel_ = std::make_unique<Passes>(threads);
  if (options.work == Work::broadcast) kernel_ = std::make_unique<Messages>(comm);
}
Load::~Load() = default;

void Load::run(std::int64_t units) {
  if (kernel_) kernel_->run(units);
}

/// Seconds that the slowest rank takes for so many units.
double Load::measure(std::int64_t units) {
  mpi::barrier(comm_);
  const double start_s = monotonic_s();
  run(units);
  return mpi::max(comm_, monotonic_s() - start_s);
}

void Load::calibrate() {
  if (options_.units || !kernel_ || options_.step_ms <= 0) return;
  constexpr double block_s = 0.02;
  constexpr int blocks = 5;
  std::int64_t count = 1;
  while (measure(count) < block_s) count *= 2;
  double min_s = measure(count);
  for (int block = 1; block < blocks; ++block) min_s = std::min(min_s, measure(count));
  unit_s_ = min_s / static_cast<double>(count);
  constexpr double ms_per_s = 1000;
  units_ = std::max<std::int64_t>(1, std::llround(options_.step_ms / ms_per_s / unit_s_));
}

std::int64_t Load::own_units() const noexcept {
  double factor = 1;
  if (comm_.size() > 1) factor += options_.imbalance * (2.0 * comm_.rank() / (comm_.size() - 1) - 1);
  if (options_.slow_rank == comm_.rank()) factor *= options_.slow_factor;
  return std::llround(factor * static_cast<double>(units_));
}

void Load::step() {
  run(own_units());
}

const char* Load::unit_text() const noexcept {
  return kernel_ ? kernel_->unit_text() : "nothing";
}
double Load::check() const noexcept {
  return kernel_ ? kernel_->check() : 0;
}
std::int64_t Load::memory_bytes() const noexcept {
  return kernel_ ? kernel_->bytes() : 0;
}

}  // namespace tailrace::rehearse
