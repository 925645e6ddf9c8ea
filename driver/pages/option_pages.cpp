#include "driver/pages/option_pages.h"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace df {
namespace {

struct OptionRow {
  const CLI::Option* option;
  std::vector<std::string> names;  // "--input", "-i"
  std::string value;               // "NAME=VALUE"; "" of a flag
  std::string text;
};

// The word that a type is shown as: "NAME" of "NAME:{text,json}".
std::string ValueName(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "";
  std::string name = option.get_type_name();
  name.resize(std::min(name.find(':'), name.size()));
  return name.empty() ? "VALUE" : name;
}

std::vector<OptionRow> RowsOf(const CLI::App& app) {
  std::vector<OptionRow> rows;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty() || option->get_positional()) continue;
    OptionRow row{option, {}, ValueName(*option), option->get_description()};
    for (const std::string& name : option->get_snames()) row.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) row.names.push_back("--" + name);
    std::replace(row.text.begin(), row.text.end(), '\n', ' ');
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<const CLI::App*> CommandsOf(const CLI::App& app) {
  std::vector<const CLI::App*> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); })) commands.push_back(command);
  return commands;
}

std::string WordsOf(const OptionRow& row, const OptionWords& words) {
  const auto found = words.find(row.option);
  return found == words.end() ? "" : fmt::format("{}", fmt::join(found->second, " "));
}

// Of a positional: whether it is a file.
bool TakesFile(const CLI::App& command) {
  const std::vector<const CLI::Option*> options = command.get_options();
  return std::any_of(options.begin(), options.end(), [](const CLI::Option* option) { return option->get_positional() && option->get_name() == "FILE"; });
}

// The words that stand for the positional of a command, if they are a few.
std::string PositionalWords(const CLI::App& command, const OptionWords& words) {
  for (const CLI::Option* option : command.get_options())
    if (auto found = words.find(option); option->get_positional() && found != words.end()) return fmt::format("{}", fmt::join(found->second, " "));
  return "";
}

// ---------------------------------------------------------------- bash

// The words and files that may follow an option. A flag has words behind `=` alone.
void AddBashValues(std::string& out, const CLI::App& command, const std::string& name, const OptionWords& words) {
  for (const OptionRow& row : RowsOf(command)) {
    const std::string values = WordsOf(row, words);
    if (row.value.empty() && values.empty()) continue;
    std::vector<std::string> keys;
    for (const std::string& spelling : row.names) keys.push_back(fmt::format("'{}:{}'", name, spelling));
    const std::string reply = !values.empty()       ? fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\")); return", values)
                              : row.value == "DIR" ? "COMPREPLY=($(compgen -d -- \"$cur\")); return"
                                                   : "COMPREPLY=($(compgen -f -- \"$cur\")); return";
    out += fmt::format("    {}) {} ;;\n", fmt::join(keys, "|"), row.value.empty() ? "if [[ $equals ]]; then " + reply + "; fi" : reply);
  }
}

void AddBashCommand(std::string& out, const CLI::App& command, const std::string& name, const std::string& others) {
  std::string options;
  for (const OptionRow& row : RowsOf(command)) options += fmt::format("{} ", fmt::join(row.names, " "));
  out += fmt::format("    '{}') options='{}'; others='{}'; files={} ;;\n", name, options, others, TakesFile(command) ? "yes" : "");
}

std::string BashScript(const CLI::App& app, const OptionWords& words) {
  std::string names, out = "# Completion of dfc for bash: `source <(dfc completion bash)`, or in /usr/share/bash-completion/completions.\n"
                           "_dfc() {\n"
                           "  local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= equals= options= others= files= i\n"
                           "  # `--engine=tagged` is three words here.\n"
                           "  if [[ $cur == = ]]; then cur= equals=yes; elif [[ $previous == = ]]; then previous=${COMP_WORDS[COMP_CWORD-2]} equals=yes; fi\n"
                           "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
                           "    case ${COMP_WORDS[i]} in\n";
  for (const CLI::App* command : CommandsOf(app)) names += (names.empty() ? "" : " ") + command->get_name();
  std::string pattern = names;
  std::replace(pattern.begin(), pattern.end(), ' ', '|');
  out += fmt::format("      {}) command=${{COMP_WORDS[i]}}; break ;;\n    esac\n  done\n", pattern);
  out += "  COMPREPLY=()\n  case $command:$previous in\n";
  for (const CLI::App* command : CommandsOf(app)) AddBashValues(out, *command, command->get_name(), words);
  AddBashValues(out, app, "", words);
  out += "  esac\n  case $command in\n";
  for (const CLI::App* command : CommandsOf(app)) AddBashCommand(out, *command, command->get_name(), PositionalWords(*command, words));
  AddBashCommand(out, app, "", names);
  out += "  esac\n"
         "  if [[ $cur == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
         "    return\n"
         "  fi\n"
         "  COMPREPLY=($(compgen -W \"$others\" -- \"$cur\"))\n"
         "  if [[ $files ]]; then COMPREPLY+=($(compgen -f -- \"$cur\")); fi\n"
         "}\n"
         "complete -o filenames -F _dfc dfc\n";
  return out;
}

// ---------------------------------------------------------------- zsh

// In a specification of _arguments, between single quotes.
std::string ZshText(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\'') out += "'\\''";
    else if (c == '[' || c == ']' || c == ':' || c == '\\') out += std::string("\\") + c;
    else out += c;
  }
  return out;
}

void AddZshArguments(std::string& out, const CLI::App& command, const OptionWords& words, const char* indent) {
  for (const OptionRow& row : RowsOf(command))
    for (const std::string& spelling : row.names) {
      const std::string values = WordsOf(row, words);
      const bool is_long = spelling.starts_with("--");
      out += fmt::format("{}'*{}{}[{}]", indent, spelling, row.value.empty() ? "" : is_long ? "=" : "+", ZshText(row.text));
      if (!row.value.empty()) out += fmt::format(":{}:{}", ZshText(row.value), !values.empty() ? "(" + values + ")" : row.value == "DIR" ? "_files -/" : "_files");
      out += "' \\\n";
    }
}

std::string ZshScript(const CLI::App& app, const OptionWords& words) {
  std::string out = "#compdef dfc\n# Completion of dfc for zsh: a file `_dfc` in a folder of $fpath, or `source <(dfc completion zsh)` behind compinit.\n_dfc() {\n"
                    "  local -a commands\n  local command= word\n  commands=(\n";
  std::string pattern;
  for (const CLI::App* command : CommandsOf(app)) {
    out += fmt::format("    '{}:{}'\n", command->get_name(), ZshText(command->get_description()));
    pattern += (pattern.empty() ? "" : "|") + command->get_name();
  }
  out += fmt::format("  )\n  for word in ${{words[2,CURRENT-1]}}; do\n    case $word in {}) command=$word; break ;; esac\n  done\n  case $command in\n", pattern);
  for (const CLI::App* command : CommandsOf(app)) {
    const std::string positional = PositionalWords(*command, words);
    out += fmt::format("    {})\n      _arguments -s \\\n", command->get_name());
    AddZshArguments(out, *command, words, "        ");
    out += fmt::format("        '*: :{}' ;;\n", !positional.empty() ? fmt::format("({} {})", command->get_name(), positional) : TakesFile(*command) ? "_files" : "()");
  }
  out += "    *)\n      _arguments -s \\\n";
  AddZshArguments(out, app, words, "        ");
  out += "        '*: :{ _describe command commands; _files }' ;;\n  esac\n}\n"
         "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _dfc \"$@\"; else compdef _dfc dfc; fi\n";
  return out;
}

// ---------------------------------------------------------------- fish

std::string FishText(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

void AddFishOptions(std::string& out, const CLI::App& command, const std::string& condition, const OptionWords& words) {
  for (const OptionRow& row : RowsOf(command)) {
    out += fmt::format("complete -c dfc -n '{}'", condition);
    for (const std::string& name : row.names) out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    const std::string values = WordsOf(row, words);
    if (!row.value.empty()) out += values.empty() ? " -r -F" : fmt::format(" -x -a '{}'", values);
    else if (!values.empty()) out += fmt::format(" -a '{}'", values);
    out += fmt::format(" -d '{}'\n", FishText(row.text));
  }
}

std::string FishScript(const CLI::App& app, const OptionWords& words) {
  std::string out = "# Completion of dfc for fish: `dfc completion fish | source`, or a file `dfc.fish` in ~/.config/fish/completions.\n", names;
  for (const CLI::App* command : CommandsOf(app)) names += (names.empty() ? "" : " ") + command->get_name();
  const std::string none = "not __fish_seen_subcommand_from " + names;
  for (const CLI::App* command : CommandsOf(app))
    out += fmt::format("complete -c dfc -n '{}' -a {} -d '{}'\n", none, command->get_name(), FishText(command->get_description()));
  AddFishOptions(out, app, none, words);
  for (const CLI::App* command : CommandsOf(app)) {
    const std::string condition = "__fish_seen_subcommand_from " + command->get_name();
    if (!TakesFile(*command)) out += fmt::format("complete -c dfc -n '{}' -f\n", condition);
    if (const std::string positional = PositionalWords(*command, words); !positional.empty())
      out += fmt::format("complete -c dfc -n '{}' -a '{}'\n", condition, positional);
    AddFishOptions(out, *command, condition, words);
  }
  return out;
}

// ---------------------------------------------------------------- the manual page

// Text in which nothing is taken for a request, and dashes can be copied.
std::string Roff(std::string_view text) {
  std::string out;
  for (char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '\\') out += "\\e";
    else if (c == '-') out += "\\-";
    else if (c == '`') out += "\\(ga";
    else out += c;
  }
  return out;
}

void AddManualOptions(std::string& out, const CLI::App& app) {
  for (const OptionRow& row : RowsOf(app)) {
    out += ".TP\n";
    std::vector<std::string> spellings;
    for (const std::string& name : row.names) spellings.push_back("\\fB" + Roff(name) + "\\fR");
    out += fmt::format("{}{}\n", fmt::join(spellings, ", "), row.value.empty() ? "" : " \\fI" + Roff(row.value) + "\\fR");
    out += Roff(row.text.empty() ? "see \\-\\-help" : row.text) + "\n";
  }
}

std::string Usage(const CLI::App& command) {
  std::string words;
  for (const CLI::Option* option : command.get_options())
    if (option->get_positional()) words += option->get_required() ? " " + option->get_name() : " [" + option->get_name() + "]";
  return words;
}

}  // namespace

std::string CompletionScript(const CLI::App& app, const OptionWords& words, std::string_view shell) {
  if (shell == "bash") return BashScript(app, words);
  if (shell == "zsh") return ZshScript(app, words);
  return shell == "fish" ? FishScript(app, words) : "";
}

std::string ManualPage(const CLI::App& app, std::string_view version, std::string_view footer) {
  std::string out = fmt::format(".TH DFC 1 \"\" \"{}\" \"User Commands\"\n.SH NAME\ndfc \\- a compiler to one static dataflow graph, and engines that run it\n", version);
  out += ".SH SYNOPSIS\n.nf\n\\fBdfc\\fR [OPTIONS] FILE\n";
  for (const CLI::App* command : CommandsOf(app)) out += fmt::format("\\fBdfc {}\\fR [OPTIONS]{}\n", command->get_name(), Usage(*command));
  out += ".fi\n.SH DESCRIPTION\n.nf\n" + Roff(app.get_description()) + "\n.fi\n.SH OPTIONS OF dfc FILE\n";
  AddManualOptions(out, app);
  for (const CLI::App* command : CommandsOf(app)) {
    out += fmt::format(".SH dfc {}\n{}\n", command->get_name(), Roff(command->get_description()));
    AddManualOptions(out, *command);
  }
  out += ".SH EXIT STATUS\n" + Roff(footer) + "\n";
  return out;
}

}  // namespace df
