// The program dfc: reads the command line and runs the command on a thread with a deep stack, so that programs with
// deeply nested expressions compile; engines need no stack. What escapes a command is an internal error.
#include <unistd.h>

#include <new>
#include <string_view>
#include <system_error>

#include "driver/commands.h"
#include "driver/compile_budget.h"
#include "driver/evaluate.h"
#include "driver/pipeline.h"
#include "driver/system/crash.h"
#include "driver/system/deep_stack.h"
#include "driver/system/files.h"
#include "driver/system/signals.h"
#include "runtime/base/long_operation.h"
#include "runtime/base/memory.h"

namespace df {
namespace {

ExitCode Dispatch(const Options& options, Console& console) {
  ReadBoundsScope bounds({options.max_memory, options.timeout, nullptr});
  switch (options.command) {
    case Command::Compile: return CompileCommand(options, console);
    case Command::Run: return RunCommand(options, console);
    case Command::Check: return CheckCommand(options, console);
    case Command::Repl: return ReplCommand(options, console);
    case Command::Explain: return ExplainCommand(options, console);
    case Command::Worker: return WorkerCommand(options, console);
    case Command::Keygen: return KeygenCommand(options, console);
    case Command::Place: return PlaceCommand(options, console);
    case Command::Test: return TestCommand(options, console);
    case Command::Import: return ImportCommand(options, console);
  }
  return ExitCode::Internal;
}

// What the system does not give is no fault of the program.
ExitCode DispatchWithin(const Options& options, Console& console) {
  try {
    return Dispatch(options, console);
  } catch (const ReadingStopped& stopped) {
    console.Error(stopped.what());
    return CodeOf(stopped.stop());
  } catch (const std::bad_alloc&) {
    console.Error(fmt::format("the system gives no more memory: the process has {} MiB (pass `{}`)", memory::Resident() >> 20, PassScope::Current()));
    return ExitCode::Limit;
  } catch (const std::system_error& fault) {
    if (fault.code() != std::errc::resource_unavailable_try_again) throw;
    console.Error(fmt::format("no memory for a thread, or no thread left, in the pass `{}`", PassScope::Current()));
    return ExitCode::Limit;
  }
}

ExitCode RunGuarded(const Options& options, Console& console) {
  try {
    return DispatchWithin(options, console);
  } catch (const std::bad_alloc&) {  // not even to say so
    constexpr std::string_view kText = "error: out of memory\n";
    ssize_t ignored = ::write(STDERR_FILENO, kText.data(), kText.size());
    static_cast<void>(ignored);
    return ExitCode::Limit;
  } catch (const OperationAborted& aborted) {  // by a signal that came where no engine runs
    return aborted.stop == Stop::Interrupted ? ExitCode::Interrupted : ExitCode::Limit;
  } catch (const std::exception& fault) {
    console.Error(InternalErrorText(PassScope::Current(), fault.what()));
    return ExitCode::Internal;
  }
}

}  // namespace
}  // namespace df

int main(int argc, char** argv) {
  df::InstallSignalHandlers();
  df::memory::UseOneHeap();
  df::InstallMemoryHandlers();
  df::Options options;
  if (std::optional<df::ExitCode> code = df::ParseCommandLine(argc, argv, options)) return static_cast<int>(*code);
  df::ExitCode code = df::ExitCode::Internal;
  df::OnDeepStack([&] {
    df::CrashGuard guard;
    df::Console console;
    if (options.json_errors) console.UseJson();
    code = console.Finish(df::RunGuarded(options, console));
  });
  return static_cast<int>(code);
}
