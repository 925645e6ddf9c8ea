// Which of several processes this one is, by what launchers say in the environment.
#include "driver/cluster/launch.h"

#include <map>

#include "tests/unit/catch.h"

using namespace df;

namespace {

std::optional<LaunchPlace> Find(const std::map<std::string, std::string>& environment, std::string* why) {
  return FindLaunchPlace(
      [&](const char* name) -> const char* {
        auto found = environment.find(name);
        return found == environment.end() ? nullptr : found->second.c_str();
      },
      why);
}

}  // namespace

TEST_CASE("launchers say which of several processes this is") {
  std::string why;
  auto place = Find({{"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "8"}, {"SLURM_STEP_NODELIST", "n[07-09,12],other"}, {"RANK", "0"}}, &why);
  REQUIRE(place);
  CHECK((place->rank == 3 && place->size == 8 && place->root == "n07" && place->launcher == "Slurm"));
  place = Find({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "10.0.0.1"}}, &why);
  REQUIRE(place);
  CHECK((place->rank == 0 && place->size == 2 && place->root == "10.0.0.1"));
  place = Find({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "2"}}, &why);
  REQUIRE(place);
  CHECK(place->root.empty());
  place = Find({{"JOB_COMPLETION_INDEX", "1"}, {"DFC_SIZE", "4"}, {"DFC_ROOT", "dfc-0.dfc"}}, &why);
  REQUIRE(place);
  CHECK((place->size == 4 && place->root == "dfc-0.dfc"));
}

TEST_CASE("what is no place among processes is named") {
  std::string why;
  CHECK_FALSE(Find({}, &why));
  CHECK(why.starts_with("nothing in the environment"));
  CHECK_FALSE(Find({{"RANK", "1"}}, &why));
  CHECK(why.find("set WORLD_SIZE") != std::string::npos);
  for (const char* rank : {"2", "-1", "x", "", "1 "}) {
    CHECK_FALSE(Find({{"RANK", rank}, {"WORLD_SIZE", "2"}}, &why));
    CHECK(why.find("are no place among processes") != std::string::npos);
  }
}

TEST_CASE("the first machine of Slurm's lists") {
  CHECK(FirstOfNodeList("a") == "a");
  CHECK(FirstOfNodeList("a,b") == "a");
  CHECK(FirstOfNodeList("n[1-4]") == "n1");
  CHECK(FirstOfNodeList("n[003,007]") == "n003");
  CHECK(FirstOfNodeList("n[1-2]-ib,m") == "n1-ib");
  CHECK(FirstOfNodeList("a,n[1-2]") == "a");
  CHECK(FirstOfNodeList("n[1") == "n[1");
}
