// Blocks of tensors on a device: their room there and on the host.
#include "runtime/device/accumulate_device.h"
#include "runtime/device/device.h"
#include "runtime/device/device_copies.h"
#include "runtime/value/tensor.h"

namespace df {

// Values and ops know nothing of devices: what they want of one they ask through these.
const bool TensorBlock::hooked = (tensor_hooks.fetch = &FetchBlock, tensor_hooks.free = &FreeBlock,
                                   tensor_hooks.lose_copies = &ForgetCopies, accumulate_on_device = &AccumulateOnDevice, true);

TensorBlock* TensorBlock::New(Device& device, size_t bytes) {
  void* room = memory::Allocate(sizeof(TensorBlock));
  try {
    auto* block = ::new (room) TensorBlock(device.is_host() ? nullptr : &device, device.Allocate(bytes), bytes);
    alive::Made(alive::Kind::TensorBlock);
    return block;
  } catch (...) {
    memory::Free(room, sizeof(TensorBlock));
    throw;
  }
}

TensorBlock::TensorBlock(Device* device, char* address, size_t bytes)
    : device_(device), address_(address), host_(device ? nullptr : address), bytes_(bytes) {
  if (!device) return;
  older_ = device->newest_;
  (older_ ? older_->newer_ : device->oldest_) = this;
  device->newest_ = this;
  ++device->blocks_;
}

// Of a block on a device.
void TensorBlock::GiveUpRoom() {
  if (!address_) return;
  (older_ ? older_->newer_ : device_->oldest_) = newer_;
  (newer_ ? newer_->older_ : device_->newest_) = older_;
  --device_->blocks_;
  device_->Free(address_, bytes_);
  address_ = nullptr;
}

bool TensorBlock::Spill(Device& device) {
  size_t count = (device.blocks_ + 1) / 2;
  for (size_t i = 0; i < count; ++i) {
    TensorBlock* oldest = device.oldest_;
    oldest->Fetch();
    oldest->GiveUpRoom();
  }
  return count > 0;
}

void TensorBlock::FetchBlock(TensorBlock& block) {
  char* host = memory::AllocateLines(block.bytes_);
  try {
    block.device_->Download(host, block.address_, block.bytes_);
    block.device_->Synchronise();
  } catch (...) {
    memory::FreeLines(host, block.bytes_);
    throw;
  }
  block.host_ = host;
}

void TensorBlock::FreeBlock(TensorBlock& block) {
  alive::Gone(alive::Kind::TensorBlock);
  if (block.host_) memory::FreeLines(block.host_, block.bytes_);
  if (block.device_) block.GiveUpRoom();
  memory::Free(&block, sizeof(TensorBlock));
}

}  // namespace df
