// runtime/engines/reference/part_process.h
//
// One part of a graph that is cut, in a process of its own (docs/cut.md): parts.h with one store, and what goes to the other parts goes to other processes.
// The process of part 0 is the root: it runs the graph, and counts waves. The others serve. Private to the engine.
//
// The thread that brings messages touches no value: it leaves them, and the engine's thread reads them. A part says its number when it first meets another one,
// so nothing depends on who knows which process has which part.
#pragma once

#include <condition_variable>
#include <mutex>
#include <set>

#include "llvm/ADT/DenseMap.h"
#include "runtime/engines/reference/parts.h"
#include "runtime/packet/token_packet.h"
#include "runtime/peers/peers.h"

namespace df::reference {

class PartProcess final : public CutExecution, private Peers::Receiver, private CellNames {
 public:
  PartProcess(const ir::Graph& graph, const RunOptions& options, CutRunOptions cut, CutCounts* counts);
  ~PartProcess() override;
  Outcome Start(std::vector<Value> inputs) override;
  Outcome Serve() override;
  // The peers may be gone before the engine is.
  void Finish() override {
    if (!std::exchange(finished_, true)) peers_.End();
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Line {
    Line(const PacketTypes& types, TagTable& tags, CellNames& names) : writer(types, names), reader(types, tags, names) {}
    std::optional<PeerId> peer;  // once it has said its number
    TokenWriter writer;
    TokenReader reader;
    bool broken = false;         // what came made no sense; nothing more is read
  };
  struct Came {
    PeerId from;
    PeerMessage message;
  };

  // ---- the peers' thread
  void Receive(PeerId from, PeerMessage message) override;
  void Gone(PeerId peer) override;
  void Over() override;
  PeerFigures Figures() override;

  // ---- the engine's
  Outcome Run(const DelayCell* goal) override;
  void Turn();
  bool TakeMessages();
  void TakeTokens(Came& came);
  void Accept(const Message& message);
  void TakeCounts(const PeerMessage& message);
  void LookForLost();
  [[noreturn]] void Lost(const std::string& what);
  void Greet();
  bool IsWanted(uint32_t channel, const TagRef& tag) const override;
  void Send(Message message) override;
  void SendLine(Line& line);
  // True if nothing is left to be sent.
  bool SendLines();
  void AnswerWave();
  void AskAll();
  void EndOfWave();
  void Rest(bool all_sent, bool full);
  bool IsQuiet() const;

  // What a message of that kind carries; nothing if none such goes from one part to the other.
  std::optional<std::optional<ir::PortType>> TypeOf(Message::Kind kind, uint32_t index, const TagRef& tag, uint32_t from, uint32_t to) const;
  bool Delays(uint32_t site) const { return site < delay_of_site_.size() && delay_of_site_[site].valid(); }
  std::optional<std::pair<ir::SiteId, TagRef>> NameOf(const Value& reference, Value* value) override;
  Value Named(ir::SiteId site, const TagRef& tag, ir::TypeId type) override;
  uint32_t HomeOf(uint32_t site, const TagRef& tag) const override { return IsHostName(graph_, tag) ? 0 : CutExecution::HomeOf(site, tag); }
  Cell* NewErrorTag(const TagRef& tag) const override;
  void FillErrorPath(const Object* error_tag, RuntimeError& error) const override;

  Peers& peers_;
  bool finished_ = false;
  const uint32_t own_;
  const PacketTypes types_;
  std::vector<bool> to_returns_;              // of each channel: nobody takes it but Returns
  std::vector<std::unique_ptr<Line>> lines_;  // by part; null: this one
  std::set<PeerId> greeted_;
  uint32_t met_ = 0;                          // parts that have said their number
  std::optional<std::pair<PeerId, uint32_t>> wave_to_answer_;
  uint32_t wave_number_ = 0;
  const Clock::time_point began_ = Clock::now();
  Clock::time_point wave_at_, wave_by_;
  Clock::duration pause_{};
  std::optional<Clock::time_point> leave_by_;  // of a part that has lost another one

  // References that the host answers, rests of texts that are read as they are looked at: of the root, by number. Others have a name each (HostLabel),
  // at the site of any delayed call.
  std::vector<Value> hosts_;
  llvm::DenseMap<const Object*, uint64_t> host_numbers_;
  ir::SiteId host_site_;
  std::optional<ir::PortType> host_type_;

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::deque<Came> inbox_;
  std::vector<PeerId> gone_;
  bool run_over_ = false;
  std::atomic<uint64_t> peak_{0};
};

}  // namespace df::reference
