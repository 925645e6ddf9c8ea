// Times of the products of backends/cuda on this machine's card, in microseconds: cuda_products.py runs it.
//
//   cuda_products M K N FORM TILE ...    FORM: xy, xyT or xTy; TILE: -1 for the one that is chosen, * for each
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "backends/cuda/memory.h"

using namespace df;

namespace {

double Microseconds(const cuda::Product& product, cuda::Stream stream) {
  using Clock = std::chrono::steady_clock;
  auto time = [&](int count) {
    auto begin = Clock::now();
    for (int i = 0; i < count; ++i) cuda::Run(product, stream);
    cuda::Synchronise(stream);
    return std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / count;
  };
  time(3);
  int count = static_cast<int>(2000 / time(3)) + 5;
  double best = 1e30;
  for (int i = 0; i < 5; ++i) best = std::min(best, time(count));
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  cuda::Card card = cuda::FindCard();
  if (!card.missing.empty()) return std::fprintf(stderr, "no card: %s\n", card.missing.c_str()), 77;
  cuda::Stream stream = cuda::NewStream();
  for (int i = 1; i + 4 < argc; i += 5) {
    size_t m = std::strtoul(argv[i], nullptr, 10), k = std::strtoul(argv[i + 1], nullptr, 10), n = std::strtoul(argv[i + 2], nullptr, 10);
    bool x_turned = !std::strcmp(argv[i + 3], "xTy"), y_turned = !std::strcmp(argv[i + 3], "xyT");
    std::vector<float> numbers(std::max(m, n) * k);
    for (size_t e = 0; e < numbers.size(); ++e) numbers[e] = static_cast<float>(e * 2654435761u % 4096) / 4096 - 0.5f;
    char *x = cuda::AllocateMemory(m * k * 4), *y = cuda::AllocateMemory(k * n * 4), *out = cuda::AllocateMemory(m * n * 4);
    cuda::CopyToCard(x, numbers.data(), m * k * 4, stream);
    cuda::CopyToCard(y, numbers.data(), k * n * 4, stream);
    cuda::Product p;
    p.x = {x, (x_turned ? m : k) * 4};
    p.y = {y, (y_turned ? k : n) * 4};
    p.x_turned = x_turned;
    p.y_turned = y_turned;
    p.out = out;
    p.m = m, p.k = k, p.n = n;
    p.goes_on = x_turned;
    bool each = argv[i + 4][0] == '*';
    for (int tile = each ? 0 : std::atoi(argv[i + 4]); tile < (each ? cuda::kProductTiles : std::atoi(argv[i + 4]) + 1); ++tile) {
      p.tile = tile;
      std::printf("%zu %zu %zu %s %d %.2f\n", m, k, n, argv[i + 3], tile, Microseconds(p, stream));
    }
    cuda::FreeMemory(x), cuda::FreeMemory(y), cuda::FreeMemory(out);
  }
}
