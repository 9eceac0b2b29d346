// SPDX-License-Identifier: BSD-3-Clause
#include "device/boxes.hpp"

#include <algorithm>
#include <array>

#include "device/launch.hpp"

namespace tailrace::device {

namespace {

/// Where the points of an array lie: a plain value, for kernels.
struct Strides {
  std::int64_t y, z;

  TAILRACE_KERNEL std::int64_t element(const BoxInArray& box, std::int64_t point) const {
    const std::int64_t row = point / box.width;
    return box.from + point % box.width + row % box.height * y + row / box.height * z;
  }
};

template <class Word, bool packs>
struct CopyBox {
  Word* array;
  Word* together;
  Strides strides;
  BoxInArray box;

  TAILRACE_KERNEL void operator()(std::int64_t i) const {
    auto& in_array = array[strides.element(box, i)];
    if (packs)
      together[i] = in_array;
    else
      in_array = together[i];
  }
};

/// `ends[b]` is the number of points in the boxes up to b.
template <class Word, bool packs>
struct CopyBoxes {
  Word* array;
  Word* together;
  Strides strides;
  const BoxInArray* boxes;
  const std::int64_t* ends;

  TAILRACE_KERNEL void operator()(std::int64_t i) const {
    int b = 0;
    while (i >= ends[b]) ++b;
    auto& in_array = array[strides.element(boxes[b], i - (b == 0 ? 0 : ends[b - 1]))];
    if (packs)
      together[i] = in_array;
    else
      in_array = together[i];
  }
};

/// Each of `flag_count` threads looks at every so many-th point.
template <class Word>
struct LookForBad {
  const Word* array;
  Strides strides;
  BoxInArray box;
  std::int64_t points;
  Word exponent;
  std::byte* flags;

  TAILRACE_KERNEL void operator()(std::int64_t thread) const {
    bool bad = false;
    for (std::int64_t i = thread; i < points; i += flag_count)
      bad |= (array[strides.element(box, i)] & exponent) == exponent;
    flags[thread] = static_cast<std::byte>(bad);
  }
};

/// Calls `action` with a word of the elements' size: values are copied as they are.
template <class Action>
void with_words(const Array& array, const Action& action) {
  TAILRACE_CHECK(array.element_bytes == 4 || array.element_bytes == 8, "elements have 4 or 8 bytes");
  array.element_bytes == 4 ? action(std::uint32_t{}) : action(std::uint64_t{});
}

template <bool packs>
void copy_box(Queue& queue, const Array& array, const BoxInArray& box, std::byte* together) {
  with_words(array, [&](auto word) {
    using Word = decltype(word);
    launch(queue, box.points(),
           CopyBox<Word, packs>{static_cast<Word*>(array.first),
                                reinterpret_cast<Word*>(together),
                                {array.stride_y, array.stride_z},
                                box});
  });
}

template <bool packs>
void copy_boxes(Queue& queue, const Array& array, std::int64_t points, const BoxInArray* boxes,
                const std::int64_t* ends, std::byte* together) {
  with_words(array, [&](auto word) {
    using Word = decltype(word);
    launch(queue, points,
           CopyBoxes<Word, packs>{static_cast<Word*>(array.first),
                                  reinterpret_cast<Word*>(together),
                                  {array.stride_y, array.stride_z},
                                  boxes,
                                  ends});
  });
}

}  // namespace

BoxList::BoxList(Device& device, Queue& queue, const std::vector<BoxInArray>& boxes) {
  if (boxes.empty()) return;
  std::vector<std::int64_t> ends;
  for (const auto& box : boxes) ends.push_back(points_ += box.points());
  boxes_ = Buffer(device, boxes.size() * sizeof(BoxInArray));
  ends_ = Buffer(device, ends.size() * sizeof(std::int64_t));
  queue.copy_to_device(boxes_.data(), boxes.data(), boxes_.bytes());
  queue.copy_to_device(ends_.data(), ends.data(), ends_.bytes());
  queue.synchronize();
}

void BoxList::pack(Queue& queue, const Array& array, std::byte* out) const {
  copy_boxes<true>(queue, array, points_, reinterpret_cast<const BoxInArray*>(boxes_.data()),
                   reinterpret_cast<const std::int64_t*>(ends_.data()), out);
}

void BoxList::unpack(Queue& queue, const Array& array, const std::byte* in) const {
  copy_boxes<false>(queue, array, points_, reinterpret_cast<const BoxInArray*>(boxes_.data()),
                    reinterpret_cast<const std::int64_t*>(ends_.data()), const_cast<std::byte*>(in));
}

void pack(Queue& queue, const Array& array, const BoxInArray& box, std::byte* out) {
  copy_box<true>(queue, array, box, out);
}

void unpack(Queue& queue, const Array& array, const BoxInArray& box, const std::byte* in) {
  copy_box<false>(queue, array, box, const_cast<std::byte*>(in));
}

bool is_finite(Queue& queue, const Array& array, const BoxInArray& box, std::byte* flags) {
  constexpr std::uint32_t exponent_32 = 0x7f80'0000U;
  constexpr std::uint64_t exponent_64 = 0x7ff0'0000'0000'0000U;
  const Strides strides{array.stride_y, array.stride_z};
  if (array.element_bytes == 4)
    launch(queue, flag_count,
           LookForBad<std::uint32_t>{static_cast<const std::uint32_t*>(array.first), strides, box,
                                     box.points(), exponent_32, flags});
  else
    launch(queue, flag_count,
           LookForBad<std::uint64_t>{static_cast<const std::uint64_t*>(array.first), strides, box,
                                     box.points(), exponent_64, flags});
  std::array<std::byte, flag_count> found{};
  queue.copy_to_host(found.data(), flags, found.size());
  queue.synchronize();
  return std::all_of(found.begin(), found.end(), [](std::byte flag) { return flag == std::byte{0}; });
}

}  // namespace tailrace::device
