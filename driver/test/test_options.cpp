// The command lines of `dfc test` and `dfc bench`.
#include "driver/test/test_options.h"

#include <algorithm>
#include <regex>

#include "driver/read_option.h"
#include "driver/test/run_tests.h"

namespace df {
namespace {

bool ParseEngines(std::string_view text, std::vector<EngineKind>& engines) {
  engines.clear();
  if (text == "all") {
    engines = {EngineKind::Tagged, EngineKind::Reference, EngineKind::Demand, EngineKind::Expanding};
    return true;
  }
  for (;;) {
    const size_t comma = std::min(text.find(','), text.size());
    EngineKind engine;
    if (!ParseEngine(text.substr(0, comma), engine)) return false;
    if (std::find(engines.begin(), engines.end(), engine) == engines.end()) engines.push_back(engine);
    if (comma == text.size()) return true;
    text.remove_prefix(comma + 1);
  }
}

// What both commands have.
void AddWays(CLI::App* app, Options& options, const char* what) {
  TestArguments& test = options.test;
  AddRead(*app, "--engine", test.engines, ParseEngines, "`all`, or names such as `tagged,reference`",
          fmt::format("which engines run every {}: all, or some of tagged (default), reference, demand and expanding", what).c_str())
      ->type_name("NAMES");
  app->add_option("--also", test.also, fmt::format("one more way to compile every {}: -O0, --no-loops, --without=NAMES, --gradient=KIND, several with blanks\n"
                                                   "between them; may be repeated", what))
      ->type_name("SWITCHES")
      ->allow_extra_args(false);
  app->add_option("--filter", test.filter, "only those of which `FILE:LINE: EXPRESSION` has a part that fits the regular expression")
      ->type_name("REGEX");
  AddRead(*app, "--timeout", options.timeout, ParseDuration, "a time, such as `10s`, `500ms` or `2m`",
          fmt::format("how long one run of a {} may take, and compiling a file; default: 60s", what).c_str())
      ->type_name("TIME");
  AddRead(*app, "--max-memory", options.max_memory, ParseBytes, "bytes, such as `2G`, `512M`, `64K` or `1000`",
          fmt::format("bytes that one run of a {} may take; default: 2G", what).c_str())
      ->type_name("SIZE");
  AddRead(*app, "--threads", options.threads, ParseThreads, "a number from 1 to 256, such as `4`",
          fmt::format("how many threads the tagged engine runs a {} on; default: 1", what).c_str())
      ->type_name("N");
  AddModuleFolders(*app, options);
}

}  // namespace

CLI::App* AddBenchOptions(CLI::App& main, Options& options) {
  TestArguments& test = options.test;
  CLI::App* app = main.add_subcommand("bench", "measure the expressions of `-- BENCH:` lines in sources");
  app->add_option("FILES", test.paths, "sources, and folders of sources; default: the current folder. The same expression in several files is compared");
  AddWays(app, options, "expression");
  AddRead(*app, "--time", test.bench_time, ParseDuration, "a time, such as `1s` or `200ms`",
          "how long each way of each expression is run, at least five times; default: 1s")
      ->type_name("TIME");
  app->add_option_function<std::string>("--format", [&options](const std::string& name) {
       options.test.format = name == "json" ? TestFormat::Json : TestFormat::Text;
     }, "text (default) or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORMAT");
  return app;
}

CLI::App* AddTestOptions(CLI::App& main, Options& options) {
  TestArguments& test = options.test;
  CLI::App* app = main.add_subcommand("test", "run the tests in sources: cases, examples, properties, stored outputs");
  app->add_option("FILES", test.paths, "sources, and folders of sources; default: the current folder");
  AddWays(app, options, "test");
  app->add_option_function<std::string>("--format",
                                              [&options](const std::string& name) {
                                                options.test.format = name == "json"    ? TestFormat::Json
                                                                      : name == "junit" ? TestFormat::JUnit
                                                                                        : TestFormat::Text;
                                              },
                                              "text (default), json, or junit: XML for a CI server")
      ->check(CLI::IsMember({"text", "json", "junit"}))
      ->type_name("FORMAT");
  AddRead(*app, "-j,--jobs", test.jobs, ParseThreads, "a number from 1 to 256, such as `4`", "files tested side by side; default: one per processor")
      ->type_name("N");
  AddRead(*app, "--seed", test.seed, ParseCount, "a whole number from 1 on, such as `7`", "where the random values of properties come from; default: 1")
      ->type_name("N");
  app->add_flag("--update", test.update, "what whole programs print becomes their stored output, NAME.out");
  app->add_flag("-v,--verbose", test.verbose, "list the tests that passed as well");
  app->add_flag("--differential", test.differential,
                "every test on every engine, at -O0, without loops, without each optimisation and switch, and by GHC where it is there: what differs\nis told, and the smallest program that does");
  app->add_flag("--coverage", test.coverage, "tell which clauses, guards and branches of the files and their modules did not run");
  app->add_option("--coverage-html", test.coverage_html, "write the sources with what ran, and how often: a page each, and index.html; implies --coverage")
      ->type_name("FOLDER");
  app->add_flag("--watch", test.watch, "after a change test again what it reaches, until Ctrl-C")->excludes("--update");
  return app;
}

void FinishTestOptions(Options& options) {
  TestArguments& test = options.test;
  options.command = Command::Test;
  if (!test.coverage_html.empty()) test.coverage = true;
  if (test.paths.empty()) test.paths = {"."};
  for (const std::string& switches : test.also) {
    Options ignored;
    if (!test::ApplySwitches(switches, ignored))
      throw CLI::ValidationError("--also", "`" + switches + "` is none of -O0, --no-loops, --without=NAMES and --gradient=KIND");
  }
  try {
    static_cast<void>(std::regex(test.filter));
  } catch (const std::regex_error&) {
    throw CLI::ValidationError("--filter", "`" + test.filter + "` is no regular expression");
  }
}

}  // namespace df
