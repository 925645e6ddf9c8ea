// runtime/packet/sent_objects.h
//
// What is large goes once: the sender's side. A text, a tensor or an Integer of some size is sent to a receiver ahead of the first packet
// that holds it, under a name; in that packet and in later ones the name is all that stands there. docs/wire.md.
//
// The sender alone decides what a receiver keeps, and so always knows: within the room that the receiver has offered it gives, and takes
// back. Entries do not keep their objects alive. When an object goes, or is about to be changed in place, its name is taken back.
//
// Lists and trees that are evaluated as a whole have names, too. How large one is shows only once it has been written; then it gets its name, and the packet is
// written anew. What is within it gets one if it goes for a second time. What frees its cells looks at no names, so who named it holds it, and lets it
// go when nothing else does. Trees take an eighth of the room: their cells are about ten times their packets.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <unordered_map>

#include "runtime/packet/pack.h"

namespace df {

class ReceivedObjects;

class SentObjects {
  struct At;
  struct Kept;

 public:
  using Receiver = uint32_t;
  // What an object takes of the room beside its packet, so that there are no more of them than there is room, whatever their size.
  static constexpr size_t kEntryBytes = 64;

  // How what is decided reaches a receiver: what is told to one comes in this order, and before what is sent to it later. May be called on
  // any thread that has values, and must not give values up.
  class Line {
   public:
    virtual void Give(Receiver receiver, uint64_t name, Packet object) = 0;
    virtual void TakeBack(Receiver receiver, uint64_t name) = 0;

   protected:
    ~Line() = default;
  };

  // Both outlive it. Objects of `least` bytes and more have names.
  SentObjects(const PacketTypes& types, Line& line, size_t least) : types_(types), line_(line), least_(least) {}
  ~SentObjects() { End(); }
  SentObjects(const SentObjects&) = delete;
  SentObjects& operator=(const SentObjects&) = delete;

  // The receiver keeps so many bytes for this sender, as they stand in packets. Before that it keeps nothing. `knows`: it knows its own objects
  // by their names, too.
  void SetRoom(Receiver receiver, size_t bytes, bool knows = false);
  // The object of this process that has the name, as it is now. Only for a process whose values are all of one thread, and on that.
  Value Own(uint64_t name, ir::TypeId type, bool* gone);
  // It is gone.
  void Forget(Receiver receiver);
  // From now on nothing is named, and nothing is said on the line.
  void End();

  // For one packet, until that has been sent. On a thread that has values.
  class ForPacket final : public KnownObjects {
   public:
    // `all`: also what nobody but the packet holds, as it may have to go again. Else only what somebody could send again.
    // `received`: what came from there goes back by the name that it has there.
    ForPacket(SentObjects& sent, Receiver receiver, bool all, const ReceivedObjects* received = nullptr);
    ~ForPacket();
    ForPacket(const ForPacket&) = delete;
    ForPacket& operator=(const ForPacket&) = delete;
    bool Look(const Value& object, ir::TypeId type, size_t bytes, uint64_t* name, bool* its) override;
    bool LookTree(const Value& object, ir::TypeId type, PackReferences* references, uint64_t* name, bool* its) override;
    void NoteTree(const Value& object, ir::TypeId type, size_t begin, size_t bytes) override;
    bool NameTrees(PackReferences* references) override;
    size_t LeastTree() const override { return least_tree_; }

   private:
    bool Use(At& at, std::list<Kept>::iterator kept, uint64_t* name);
    void KeepNotes();

    SentObjects& sent_;
    const Receiver receiver_;
    const bool all_;
    const ReceivedObjects* const received_;
    bool knows_ = false;
    size_t least_tree_ = SIZE_MAX, most_tree_ = 0;
    std::vector<uint64_t> used_;
    struct Noted {
      Value value;
      ir::TypeId type;
      size_t begin, bytes;
      bool within;  // another one
    };
    std::vector<Noted> noted_;
  };

  // For tests and statistics.
  size_t Used(Receiver receiver) const;
  size_t given() const;

 private:
  struct Kept {
    uint64_t name;
    size_t bytes;
    bool tree;
    uint32_t packets = 0;  // that are being written with it
  };
  struct At {
    size_t room = 0, used = 0, trees = 0;
    bool knows = false;
    size_t room_for_trees() const { return room / 8; }
    std::list<Kept> kept;  // what was used last is last
    std::unordered_map<uint64_t, std::list<Kept>::iterator> by_name;
  };
  struct Named {
    SentObjects* owner;
    uint64_t name;
    uint32_t type;
  };
  // A list or tree that was sent, and is held. Name 0: not under a name yet. `refused`: it cannot go by itself.
  struct Tree {
    Value held;
    uint32_t type;
    uint64_t looked_at;  // when that many packets had been written
    uint64_t name = 0;
    bool refused = false;
  };
  static constexpr size_t kMostTrees = 256;
  static constexpr uint64_t kNotesStay = 32;  // packets

  static void Lost(Object& object);
  // All under the mutex.
  void DropTrees(std::vector<Value>& dropped);
  // There is room for it.
  std::list<Kept>::iterator Give(Receiver receiver, At& at, Kept object, Packet packet);
  bool MakeRoom(Receiver receiver, At& at, size_t bytes);
  bool MakeRoomForTree(Receiver receiver, At& at, size_t bytes);
  void TakeBack(Receiver receiver, At& at, std::list<Kept>::iterator kept);

  const PacketTypes& types_;
  Line& line_;
  const size_t least_;
  bool ended_ = false;
  uint64_t next_ = 1, given_ = 0, packets_ = 0;
  std::map<Receiver, At> receivers_;
  std::unordered_map<uint64_t, Object*> by_name_;
  std::unordered_map<const Object*, Tree> trees_;

  // Of all objects of the process that have a name. An object is one run's, but may live on after it.
  struct All;
  static All& all();
};

}  // namespace df
