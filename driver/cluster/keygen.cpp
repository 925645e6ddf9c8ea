// `dfc keygen`: the key file of a cluster (docs/distributed.md).
#include "backends/net/keys.h"
#include "backends/zmq/new_keys.h"
#include "driver/commands.h"

namespace df {

ExitCode KeygenCommand(const Options& options, Console& console) {
  std::string why;
  const std::optional<net::ClusterKeys> keys = net::NewClusterKeys(&why);
  if (keys && net::WriteKeyFile(options.output.empty() ? "cluster.key" : options.output, *keys, &why)) return ExitCode::Fine;
  console.Error(why);
  return ExitCode::Failed;
}

}  // namespace df
