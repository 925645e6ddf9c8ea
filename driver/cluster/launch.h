// driver/cluster/launch.h
//
// `--launched`: which of the processes of a run this one is, as who started them all says in the environment. docs/distributed.md.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace df {

struct LaunchPlace {
  uint32_t rank = 0, size = 1;
  std::string launcher;  // "Slurm"
  std::string root;      // the machine of rank 0, if that is known
};

// Looks through what Slurm, torchrun, Open MPI, PMIx and Kubernetes set, in this order. Nothing, and why, if none of them started this process,
// or one of their numbers is none. `get`: the value of a variable, or null.
std::optional<LaunchPlace> FindLaunchPlace(const std::function<const char*(const char*)>& get, std::string* why);

// The same of this process's environment.
std::optional<LaunchPlace> FindLaunchPlaceHere(std::string* why);

// The first machine of a list as Slurm writes it: "node[07-09,12],other" is node07.
std::string FirstOfNodeList(const std::string& list);

}  // namespace df
