// driver/outputs.h
//
// `--output PART=@FILE`: parts of a result as files. What is to be written is evaluated and taken apart at one time, and written at
// another: a training run holds its last complete state, and writes it now and then. docs/files.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/options.h"
#include "lang/diagnostics.h"
#include "runtime/packet/packet_file.h"
#include "runtime/files/value_file.h"

namespace df {

class Outputs {
 public:
  // Finds the parts in a result of these types. Reports what is wrong and gives nullopt.
  static std::optional<Outputs> Make(const ir::Graph& graph, llvm::ArrayRef<ir::Port> results,
                                     const std::vector<OutputArgument>& arguments, Diagnostics& diags);

  bool empty() const { return targets_.empty(); }
  // Whether some file gets all of field `index` of a result that is a record.
  bool Takes(size_t index) const;
  // Evaluates the parts of these values. Until it is fine, what was taken before stays. `fault` is set if a part cannot be
  // written in its format.
  Outcome Take(Execution& execution, llvm::ArrayRef<Value> results, std::string* fault);
  // There is something that no file has yet.
  bool pending() const { return pending_; }
  // Writes what was taken last, each file beside the old one and renamed. Reports what is wrong and returns false.
  bool Write(Diagnostics& diags);
  // "model.safetensors, log.json"
  std::string Files() const;

 private:
  enum class Format : uint8_t { Npy, Npz, Safetensors, Text, Json, Packet };
  struct Target {
    OutputArgument argument;
    Format format;
    size_t result = 0;               // which
    std::vector<uint32_t> fields;    // the way from there
    ir::PortType type;
    TypeText text;                   // of a packet
  };
  // What a target's file is to hold: arrays, bytes, or a packet.
  struct Taken {
    std::vector<ValueArray> arrays;
    std::string bytes;
    Packet packet;
  };

  explicit Outputs(const ir::Graph& graph, llvm::ArrayRef<ir::Port> results) : graph_(&graph), results_(results) {}
  static std::optional<Format> FormatOf(const std::string& file);
  bool Find(Target& target, Diagnostics& diags) const;
  Outcome TakeOne(Execution& execution, llvm::ArrayRef<Value> results, const Target& target, Taken* taken, std::string* fault) const;
  Outcome TakeValue(Execution& execution, const Target& target, ir::PortType type, Value value, const std::string& name, Taken* taken,
                    std::string* fault) const;

  const ir::Graph* graph_;
  llvm::ArrayRef<ir::Port> results_;
  std::vector<Target> targets_;
  std::vector<Taken> taken_;
  bool pending_ = false;
};

}  // namespace df
