#include "driver/cluster/launch.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

namespace df {
namespace {

struct Launcher {
  const char *name, *rank, *size, *root;
};

// Slurm's own list is not a name of a machine: FirstOfNodeList.
constexpr Launcher kLaunchers[] = {
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_NODELIST"},
    {"torchrun", "RANK", "WORLD_SIZE", "MASTER_ADDR"},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", nullptr},
    {"PMI", "PMI_RANK", "PMI_SIZE", nullptr},
    {"PMIx", "PMIX_RANK", "DFC_SIZE", nullptr},
    {"Kubernetes", "JOB_COMPLETION_INDEX", "DFC_SIZE", "DFC_ROOT"},
};

bool ReadNumber(const char* text, uint32_t* number) {
  const char* end = text + std::strlen(text);
  const auto [rest, error] = std::from_chars(text, end, *number);
  return error == std::errc() && rest == end && rest != text;
}

}  // namespace

std::optional<LaunchPlace> FindLaunchPlace(const std::function<const char*(const char*)>& get, std::string* why) {
  for (const Launcher& launcher : kLaunchers) {
    const char* rank = get(launcher.rank);
    if (!rank) continue;
    const char* size = get(launcher.size);
    LaunchPlace place;
    place.launcher = launcher.name;
    if (!size) return *why = fmt::format("{} says that this is process {}, and not of how many: set {}", launcher.name, rank, launcher.size), std::nullopt;
    if (!ReadNumber(rank, &place.rank) || !ReadNumber(size, &place.size) || place.rank >= place.size)
      return *why = fmt::format("{}={} and {}={} are no place among processes", launcher.rank, rank, launcher.size, size), std::nullopt;
    if (const char* root = launcher.root ? get(launcher.root) : nullptr)
      place.root = launcher.root == std::string_view("SLURM_STEP_NODELIST") ? FirstOfNodeList(root) : root;
    return place;
  }
  *why = "nothing in the environment says which of several processes this is: `--launched` is for Slurm's srun, torchrun, mpirun, PMIx and indexed Jobs of Kubernetes";
  return std::nullopt;
}

std::optional<LaunchPlace> FindLaunchPlaceHere(std::string* why) {
  return FindLaunchPlace([](const char* name) -> const char* { return std::getenv(name); }, why);
}

std::string FirstOfNodeList(const std::string& list) {
  const size_t open = list.find('['), comma = list.find(',');
  if (open == std::string::npos || comma < open) return list.substr(0, comma);
  const size_t end = list.find_first_of("-,]", open + 1);
  const size_t close = list.find(']', open);
  if (end == std::string::npos || close == std::string::npos) return list;
  const size_t next = list.find(',', close);
  return list.substr(0, open) + list.substr(open + 1, end - open - 1) + list.substr(close + 1, next == std::string::npos ? next : next - close - 1);
}

}  // namespace df
