// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>
#include <cctype>
#include <cstdint>

#include "base/system.hpp"
#include "device/cuda_call.hpp"
#include "device/devices.hpp"
#include "tailrace/error.hpp"

namespace tailrace::device {

void check_cuda(cudaError_t answer, const char* doing) {
  if (answer == cudaSuccess) return;
  throw Error(ErrorKind::resource, fmt::format("the device failed in {}: {} ({})", doing,
                                               cudaGetErrorString(answer), cudaGetErrorName(answer)));
}

namespace {

class CudaEvent final : public Event {
 public:
  explicit CudaEvent(unsigned flags) {
    check_cuda(cudaEventCreateWithFlags(&event_, flags), "making an event");
  }
  ~CudaEvent() override { cudaEventDestroy(event_); }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;

  [[nodiscard]] bool reached() const override {
    const auto answer = cudaEventQuery(event_);
    if (answer == cudaErrorNotReady) return false;
    check_cuda(answer, "its work");
    return true;
  }
  void wait() const override { check_cuda(cudaEventSynchronize(event_), "its work"); }
  [[nodiscard]] double seconds_since(const Event& earlier) const override {
    constexpr double s_per_ms = 1e-3;
    float passed_ms = 0;
    check_cuda(cudaEventElapsedTime(&passed_ms, static_cast<const CudaEvent&>(earlier).native(), event_),
               "timing its work");
    return s_per_ms * static_cast<double>(passed_ms);
  }
  [[nodiscard]] cudaEvent_t native() const noexcept { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

class CudaQueue final : public Queue {
 public:
  CudaQueue() : owned_(true) {
    check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
  }
  explicit CudaQueue(void* native) : stream_(static_cast<cudaStream_t>(native)) {}
  ~CudaQueue() override {
    if (owned_) cudaStreamDestroy(stream_);
  }
  CudaQueue(const CudaQueue&) = delete;
  CudaQueue& operator=(const CudaQueue&) = delete;

  void copy_to_host(void* to, const void* from, std::size_t bytes) override {
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_), "a copy to the host");
  }
  void copy_to_device(void* to, const void* from, std::size_t bytes) override {
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_), "a copy from the host");
  }
  void clear(void* memory, std::size_t bytes) override {
    check_cuda(cudaMemsetAsync(memory, 0, bytes, stream_), "clearing memory");
  }
  void record(Event& event) override {
    check_cuda(cudaEventRecord(static_cast<CudaEvent&>(event).native(), stream_), "marking its work");
  }
  void wait_for(const Event& event) override {
    check_cuda(cudaStreamWaitEvent(stream_, static_cast<const CudaEvent&>(event).native(), 0),
               "ordering its work");
  }
  void synchronize() override { check_cuda(cudaStreamSynchronize(stream_), "its work"); }
  [[nodiscard]] void* native() const noexcept override { return stream_; }
  [[nodiscard]] Emulation* emulation() noexcept override { return nullptr; }

 private:
  cudaStream_t stream_ = nullptr;
  bool owned_ = false;
};

DeviceInfo info_of(int index) {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, index), "describing itself");
  std::array<char, 32> address{};
  if (cudaDeviceGetPCIBusId(address.data(), static_cast<int>(address.size()), index) != cudaSuccess)
    address[0] = '\0';
  for (char& digit : address) digit = static_cast<char>(std::tolower(digit));  // as the system writes it
  return {.index = index,
          .name = properties.name,
          .pci_address = address.data(),
          .memory_bytes = properties.totalGlobalMem,
          .major = properties.major,
          .minor = properties.minor};
}

class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int index) {
    check_cuda(cudaSetDevice(index), "being chosen");
    info_ = info_of(index);
  }

  [[nodiscard]] const DeviceInfo& info() const noexcept override { return info_; }
  [[nodiscard]] std::size_t free_bytes() const override {
    std::size_t free = 0, all = 0;
    check_cuda(cudaMemGetInfo(&free, &all), "telling its free memory");
    return free;
  }
  std::unique_ptr<Queue> make_queue() override { return std::make_unique<CudaQueue>(); }
  std::unique_ptr<Queue> queue_of(void* native) override { return std::make_unique<CudaQueue>(native); }
  std::unique_ptr<Event> make_event() override { return std::make_unique<CudaEvent>(cudaEventDisableTiming); }
  std::unique_ptr<Event> make_timed_event() override { return std::make_unique<CudaEvent>(cudaEventDefault); }

  void* allocate(std::size_t bytes) override {
    void* memory = nullptr;
    const auto answer = cudaMalloc(&memory, bytes);
    if (answer == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // it stays otherwise, and the next call would report it
      throw Error(ErrorKind::resource, fmt::format("{}: {} are not free, {} are", info_.name,
                                                   human_bytes(static_cast<double>(bytes)),
                                                   human_bytes(static_cast<double>(free_bytes()))));
    }
    check_cuda(answer, "allocating memory");
    return memory;
  }
  void release(void* memory) noexcept override { cudaFree(memory); }
  bool pin(std::span<std::byte> memory) override {
    if (cudaHostRegister(memory.data(), memory.size(), cudaHostRegisterDefault) == cudaSuccess) return true;
    cudaGetLastError();
    return false;
  }
  void unpin(std::span<std::byte> memory) noexcept override { cudaHostUnregister(memory.data()); }

 private:
  DeviceInfo info_;
};

}  // namespace

Devices find_devices() {
  int count = 0;
  const auto answer = cudaGetDeviceCount(&count);
  if (answer != cudaSuccess) {
    cudaGetLastError();
    return {.devices = {}, .why_none = fmt::format("CUDA finds no device: {}", cudaGetErrorString(answer))};
  }
  Devices found;
  for (int index = 0; index < count; ++index) found.devices.push_back(info_of(index));
  if (count == 0) found.why_none = "CUDA finds no device";
  return found;
}

std::unique_ptr<Device> open_device(int index) {
  return std::make_unique<CudaDevice>(index);
}

}  // namespace tailrace::device
