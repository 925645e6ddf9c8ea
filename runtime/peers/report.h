// runtime/peers/report.h
//
// What the processes of a run have done, for people: each knows its own, and the root gets it at the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace df {

// Every figure of a process, once: its field, its key in JSON, and what it counts. Their order is that of the wire.
#define DF_PEER_FIGURES(DF_FIGURE)                                                                             \
  DF_FIGURE(given, "far_given")              /* calls that went to others */                                   \
  DF_FIGURE(taken, "far_taken")              /* and came from them */                                          \
  DF_FIGURE(lost, "far_lost")                /* given away, and done again since who had them was lost */      \
  DF_FIGURE(kept_back, "far_kept_back")      /* could not go, or their results could not */                    \
  DF_FIGURE(held_back, "far_held_back")      /* requests that got nothing because there was no memory for it */ \
  DF_FIGURE(peak_memory, "peak_bytes")       /* of live values */                                              \
  DF_FIGURE(peak_in_flight, "peak_in_flight_bytes") /* of messages on their way (in_flight.h) */               \
  DF_FIGURE(peak_tickets, "peak_tickets")    /* calls that were away at once */                                \
  DF_FIGURE(peak_ticket_bytes, "peak_ticket_bytes") /* of their packets, at once */                            \
  DF_FIGURE(longest_still, "longest_still_ms") /* milliseconds in which a thread with work looked at nothing */ \
  DF_FIGURE(shared, "shared_calls")          /* calls whose pieces processes have divided among them (docs/spread.md) */ \
  DF_FIGURE(made, "pieces_made")             /* packets of pieces that were made for the others, */            \
  DF_FIGURE(came, "pieces_came")             /* and that came from them */                                     \
  DF_FIGURE(again, "pieces_again")           /* pieces of others that were made here: of who was lost, or late */

struct PeerFigures {
#define DF_FIGURE(field, key) uint64_t field = 0;
  DF_PEER_FIGURES(DF_FIGURE)
#undef DF_FIGURE
  uint64_t still = 0;  // at this moment: milliseconds
};

// What went between two processes, as one of them counts it: messages of the run, and all bytes.
struct PeerLink {
  uint32_t rank = 0;  // of the other one
  uint64_t messages_out = 0, bytes_out = 0, messages_in = 0, bytes_in = 0;
};

// A process of the run, as the root knows it.
struct PeerReport {
  uint32_t rank = 0;
  std::string where;                    // "here", "host/123 (tcp://host:7000)"
  std::string lost;                     // why, if it was lost
  uint64_t still = 0;                   // of who is there: milliseconds since it has looked at anything
  std::optional<PeerFigures> figures;   // nothing: it has told nothing
  std::vector<PeerLink> links;
  // What it did when, on its own clock, which is so far ahead of this one's (runtime/packet/timeline_packet.h).
  std::string trace;
  uint64_t began = 0;                   // nanoseconds of its clock
  std::optional<int64_t> clock_ahead;
  uint64_t clock_error = 0;
};

// "3 of 4 processes; process 2 in one step for 12 s"
std::string DescribePace(const std::vector<PeerReport>& processes);

}  // namespace df
