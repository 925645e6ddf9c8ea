// Loads a compiled graph, sets its inputs, runs it on two threads at once and prints its results:
//   embed FILE.graph [NAME=VALUE | NAME=@FILE]... [--output=FILE]
// With --output the first result goes to a file (.npy, .npz, .safetensors) and is not printed.
#include <dfc/embed.h>

#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace {

// What one run prints, or why there is nothing to print.
struct Answer {
  bool ok = false;
  std::string text;
};

Answer RunOnce(const df::Program& program, const std::vector<std::string>& inputs, const std::string& output) {
  df::RunSettings settings;
  settings.max_memory = uint64_t{1} << 30;
  settings.timeout = std::chrono::seconds(60);
  df::Run run(program, settings);
  for (const std::string& input : inputs) {
    size_t equals = input.find('=');
    std::string error;
    if (equals == std::string::npos) return {false, "`" + input + "` is not of the form NAME=VALUE"};
    std::string name = input.substr(0, equals), value = input.substr(equals + 1);
    bool file = value.size() > 1 && value[0] == '@';
    if (!(file ? run.SetInputFile(name, value.substr(1), &error) : run.SetInputText(name, value, &error))) return {false, error};
  }
  if (run.Execute() != df::RunStatus::Done) return {false, run.error()};
  if (!output.empty()) {
    std::string error;
    bool written = run.WriteResult(0, output, &error);
    return {written, error};
  }
  Answer answer{true, ""};
  for (size_t i = 0; i < run.result_count(); ++i) answer.text += run.result(i).text + "\n";
  return answer;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: embed FILE.graph [NAME=VALUE | NAME=@FILE]... [--output=FILE]\n";
    return 2;
  }
  std::string error;
  std::optional<df::Program> program = df::Program::Load(argv[1], &error);
  if (!program) {
    std::cerr << error << "\n";
    return 4;
  }
  std::vector<std::string> inputs(argv + 2, argv + argc);
  std::string output;
  if (constexpr std::string_view kOutput = "--output="; !inputs.empty() && inputs.back().starts_with(kOutput)) {
    output = inputs.back().substr(kOutput.size());
    inputs.pop_back();
    Answer answer = RunOnce(*program, inputs, output);
    if (!answer.ok) std::cerr << answer.text << "\n";
    return answer.ok ? 0 : 1;
  }

  // A program may be run by any number of threads at once.
  Answer answers[2];
  std::thread other([&] { answers[1] = RunOnce(*program, inputs, output); });
  answers[0] = RunOnce(*program, inputs, output);
  other.join();
  if (!answers[0].ok || !answers[1].ok) {
    std::cerr << (answers[0].ok ? answers[1] : answers[0]).text << "\n";
    return 1;
  }
  if (answers[0].text != answers[1].text) {
    std::cerr << "two runs of one graph differ\n";
    return 1;
  }
  std::cout << answers[0].text;
  return 0;
}
