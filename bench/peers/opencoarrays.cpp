// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cstddef>
#include <cstring>

#include "exchange_by_hand.hpp"
#include "peers/libraries.hpp"

// What gfortran makes of `x(first:last)[image] = values` with -fcoarray=lib: its array descriptor, of one
// dimension, and the functions of the library that it calls.
extern "C" {
struct CoarraySection {
  void* data;
  std::size_t offset;
  struct {
    std::size_t element_bytes;
    int version;
    signed char rank, type;
    short attribute;
  } type;
  std::ptrdiff_t span, stride, lower, upper;
};
void _gfortran_caf_init(int*, char***);
void _gfortran_caf_register(std::size_t, int, void**, CoarraySection*, int*, char*, std::size_t);
void _gfortran_caf_deregister(void**, int, int*, char*, std::size_t);
void _gfortran_caf_send(void*, std::size_t, int, CoarraySection*, void*, CoarraySection*, int, int, bool,
                        int*);
void _gfortran_caf_sync_all(int*, char*, std::size_t);
}

namespace tailrace::bench {

namespace {

constexpr int real = 3;  // the type, as a descriptor has it

CoarraySection section_of(const double* values, std::size_t count) {
  CoarraySection section{};
  section.data = const_cast<double*>(values);
  section.offset = static_cast<std::size_t>(-1);
  section.type = {.element_bytes = sizeof(double), .version = 0, .rank = 1, .type = real, .attribute = 0};
  section.span = sizeof(double);
  section.stride = section.lower = 1;
  section.upper = static_cast<std::ptrdiff_t>(count);
  return section;
}

void start_coarrays() {
  static bool started = false;
  static int arguments = 0;
  static char** none = nullptr;
  if (!started) _gfortran_caf_init(&arguments, &none);
  started = true;
}

void sync_all() {
  _gfortran_caf_sync_all(nullptr, nullptr, 0);
}

/// A coarray with the landing slots, of as many as the rank has that has most: contiguous puts into those of
/// the readers, between `sync all`, as there is nothing weaker that says that they have come.
class Coarray final : public HandWritten {
 public:
  Coarray(mpi::CommView comm, const IndexLoad& load, int components) : exchange_(comm, load, components) {
    start_coarrays();
    const auto numbers = static_cast<std::size_t>(mpi::max(comm, std::int64_t{exchange_.mine.array_size()})) *
                         exchange_.numbers;
    whole_ = section_of(nullptr, numbers);
    constexpr int statically = 0;
    _gfortran_caf_register(numbers * sizeof(double), statically, &token_, &whole_, nullptr, nullptr, 0);
  }
  ~Coarray() override {
    constexpr int wholly = 0;
    _gfortran_caf_deregister(&token_, wholly, nullptr, nullptr, 0);
  }
  void gather(std::vector<double>& x) override {
    sync_all();  // all have read what came before
    for (std::size_t i = 0; i < exchange_.out.size(); ++i) put(i, x);
    sync_all();
    const auto* const landing = static_cast<const double*>(whole_.data);
    for (const auto& source : exchange_.mine.sources) {
      const std::size_t at = exchange_.place(source);
      std::memcpy(x.data() + at, landing + at,
                  static_cast<std::size_t>(source.count) * exchange_.numbers * sizeof(double));
    }
  }

 private:
  void put(std::size_t i, const std::vector<double>& x) {
    exchange_.pack(i, x);
    const auto message = exchange_.message(i);
    const std::size_t at = static_cast<std::size_t>(exchange_.out[i].target_slot) * exchange_.numbers;
    auto from = section_of(message.data(), message.size());
    auto to = section_of(static_cast<const double*>(whole_.data) + at, message.size());
    _gfortran_caf_send(token_, at * sizeof(double), exchange_.out[i].rank + 1, &to, nullptr, &from,
                       sizeof(double), sizeof(double), false, nullptr);
  }

  ByHand exchange_;
  CoarraySection whole_{};
  void* token_ = nullptr;
};

}  // namespace

Library coarray_library(mpi::CommView comm, const IndexLoad& load, int components) {
  return {"OpenCoarrays",
          TAILRACE_PEER_COARRAYS,
          {{"opencoarrays", [=, &load] { return std::make_unique<Coarray>(comm, load, components); }}}};
}

}  // namespace tailrace::bench
