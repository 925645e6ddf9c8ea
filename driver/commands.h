// driver/commands.h
//
// The commands of dfc. Each prints what it has to say on the console and returns the exit code.
#pragma once

#include "driver/options.h"
#include "driver/system/console.h"

namespace df {

ExitCode CompileCommand(const Options& options, Console& console);
ExitCode RunCommand(const Options& options, Console& console);
ExitCode CheckCommand(const Options& options, Console& console);
ExitCode ReplCommand(const Options& options, Console& console);
ExitCode ExplainCommand(const Options& options, Console& console);
ExitCode WorkerCommand(const Options& options, Console& console);
ExitCode KeygenCommand(const Options& options, Console& console);
ExitCode PlaceCommand(const Options& options, Console& console);
ExitCode TestCommand(const Options& options, Console& console);
ExitCode ImportCommand(const Options& options, Console& console);

}  // namespace df
