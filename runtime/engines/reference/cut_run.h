// runtime/engines/reference/cut_run.h
//
// The reference engine on a graph that is cut into parts (docs/cut.md): each with a token store of its own, as if on a machine of its own. What
// crosses is a message, and messages take their time and overtake each other (RunOptions::seed). Results, errors and call paths are those of the
// graph in one piece.
#pragma once

#include <memory>
#include <string>

#include "runtime/run/engine.h"
#include "tagged_ir/cut/cut.h"

namespace df {

// By name: a Recv takes what comes, and its tag with it. Scheduled: it takes a token only when the part's own skeleton has made the tag
// (tagged_ir/cut/skeleton.h), as in TensorFlow.
enum class RecvRule : uint8_t { ByName, Scheduled };

// Whether tokens that say that nothing comes are there. Withheld: not between parts. None: nowhere; and an Exit does not wait for a dead token beside a
// predicate that failed. With the last two a run is an experiment, and its stores are not empty at the end.
enum class DeadTokens : uint8_t { Sent, Withheld, None };

struct CutRunOptions {
  ir::Cut cut;
  RecvRule receive = RecvRule::ByName;
  DeadTokens dead = DeadTokens::Sent;
  // So many times a part other than 0 is lost with all that it holds, and begins anew from what was sent to it.
  uint32_t losses = 0;
};

struct CutCounts {
  uint64_t tokens = 0;           // given by nodes, each once
  uint64_t dead = 0;             // of them dead
  uint64_t sent = 0;             // tokens between parts, of these:
  uint64_t sent_triggers = 0;    //   live triggers
  uint64_t sent_dead = 0;        //   dead
  uint64_t sent_control = 0;     //   of those, over the control edges of Calls and Enters
  uint64_t withheld = 0;         // dead tokens that were not sent, or not made
  uint64_t cell_messages = 0;    // about delayed calls: Force, its answer, a result that goes home
  uint64_t told = 0;             // decisions that a skeleton was told by another part
  uint64_t skeleton_firings = 0;
  uint64_t tags_made = 0;        // by skeletons, for Recvs
  uint64_t waves = 0;            // in which it was asked whether all is over
  uint64_t lost = 0;             // parts
  uint64_t repeated = 0;         // messages that would have been sent a second time
  // At the end of a run that goes on until nothing moves:
  uint64_t receives_left = 0;    // tags for which a Recv still waits
  uint64_t untaken = 0;          // tokens that no Recv took
  uint64_t records_left = 0;     // operands in stores, that wait for others
  // Of parts on processes: why the run cannot go on, if one of them is lost.
  std::string lost_part;
};

// `counts` is kept up to date while it runs, and outlives it.
std::unique_ptr<Execution> MakeCutExecution(const ir::Graph& graph, const RunOptions& options, CutRunOptions cut, CutCounts* counts);

// One part, in a process of its own: that of this process's rank among RunOptions::peers, which has to be one of the cut's. The process of part 0
// runs the graph; the others serve. Nothing is lost on purpose here: a process that is lost ends the run (CutCounts::lost_part). What is counted is what this
// part did. No table of activations may have to leave its process (ir::FitsProcesses).
std::unique_ptr<Execution> MakePartExecution(const ir::Graph& graph, const RunOptions& options, CutRunOptions cut, CutCounts* counts);

}  // namespace df
