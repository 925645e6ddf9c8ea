// driver/system/standard_streams.h
//
// The outside of a graph that acts, as the program dfc has it: standard input, standard output and standard error.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "driver/system/console.h"
#include "driver/system/file_access.h"
#include "runtime/run/perform.h"

namespace df {

class StandardStreams : public Host {
 public:
  // Where the input comes from instead: a prompt reads it too. It may ask the streams for what the descriptor has.
  using Source = std::function<Input(StandardStreams&, std::string&)>;

  // Output is line by line on a terminal, otherwise in blocks. A wait for input ends when `interrupt`, which may be
  // null, is set, or `timeout` (0: none) from now.
  StandardStreams(Console& console, const std::atomic<bool>* interrupt, std::chrono::milliseconds timeout,
                  Source source = {}, Grants grants = {});

  Input Read(std::string& bytes) override;
  Input ReadDescriptor(std::string& bytes);
  bool Write(std::string_view bytes) override;
  bool WriteError(std::string_view bytes) override;
  Answer Ask(ir::Question what, int64_t number, std::string_view text) override;
  Answer ReadFile(int64_t file, std::string& bytes) override;
  Answer WriteFile(int64_t file, std::string_view bytes) override;
  Answer SizeOfFile(int64_t file) override;
  void CloseFile(int64_t file) override;

 private:
  bool Ends() const;

  Console& console_;
  const std::atomic<bool>* interrupt_;
  std::optional<std::chrono::steady_clock::time_point> deadline_;
  Source source_;
  Grants grants_;
  std::optional<FileAccess> files_;  // once something is asked
};

}  // namespace df
