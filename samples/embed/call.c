/* Loads a compiled graph, gives each input as it is written in the language, and prints the results or what went wrong:
 *   call FILE.graph [NAME=VALUE]...
 * C99, and the installed header and library: cc -std=c99 call.c -ldfc */
#include <dfc/dfc.h>
#include <stdio.h>
#include <string.h>

static int Fail(dfc_error* error) {
  size_t i;
  fprintf(stderr, "error %d: %s\n", (int)dfc_error_get_code(error), dfc_error_message(error));
  for (i = 0; i < dfc_error_path_length(error); ++i)
    fprintf(stderr, "  %s %s:%u in `%s`\n", dfc_error_path_what(error, i), dfc_error_path_file(error, i), (unsigned)dfc_error_path_line(error, i),
            dfc_error_path_function(error, i));
  dfc_error_free(error);
  return 1;
}

int main(int argc, char** argv) {
  dfc_error* error = NULL;
  dfc_program* program;
  dfc_run* run;
  size_t k;
  int i, code = 0;
  if (argc < 2 || dfc_abi() != DFC_ABI) return 2;
  program = dfc_program_load(argv[1], &error);
  if (!program) return Fail(error);
  run = dfc_run_new(program, NULL, NULL, &error);
  if (!run) return Fail(error);
  for (i = 2; i < argc; ++i) {
    char* equals = strchr(argv[i], '=');
    if (!equals) return 2;
    *equals = '\0';
    if (!dfc_set_text(run, argv[i], equals + 1, &error)) return Fail(error);
  }
  if (dfc_execute(run, &error) == DFC_DONE) {
    for (k = 0; k < dfc_result_count(run); ++k) puts(dfc_result_text(run, k));
  } else {
    code = Fail(error);
  }
  dfc_run_free(run);
  dfc_program_free(program);
  return code;
}
