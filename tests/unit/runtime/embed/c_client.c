/* A program in C99 that runs a graph by dfc.h; called by c_api_test.cpp. */
#include <stdio.h>
#include <string.h>

#include "runtime/embed/dfc.h"
#include "tests/unit/runtime/embed/c_client.h"

#define EXPECT(what)                                      \
  do {                                                    \
    if (!(what)) {                                        \
      snprintf(said, size, "line %d: %s", __LINE__, #what); \
      return 0;                                           \
    }                                                     \
  } while (0)

static void Count(void* owner) { ++*(int*)owner; }

int QuotientClient(const void* graph, size_t bytes, char* said, size_t size) {
  dfc_error* error = NULL;
  dfc_program* program = dfc_program_from_bytes(graph, bytes, &error);
  dfc_settings* settings = dfc_settings_new();
  dfc_run* run;
  dfc_view* view;
  dfc_progress progress;
  int64_t value = 0;
  EXPECT(dfc_abi() == DFC_ABI);
  EXPECT(program != NULL);
  EXPECT(dfc_entry_count(program) == 0);
  EXPECT(dfc_input_count(program, NULL) == 2);
  EXPECT(strcmp(dfc_input_name(program, "", 1), "x") == 0);
  EXPECT(strcmp(dfc_input_type(program, NULL, 1), "Double") == 0);
  EXPECT(dfc_input_name(program, NULL, 2) == NULL);
  EXPECT(strcmp(dfc_result_type(program, NULL, 0), "Int") == 0);
  dfc_settings_threads(settings, 1);
  EXPECT(dfc_settings_engine(settings, "tagged"));
  EXPECT(!dfc_settings_engine(settings, "steam"));
  EXPECT(dfc_run_new(program, "f", settings, &error) == NULL);
  EXPECT(strcmp(dfc_error_message(error), "the graph has no entry `f`") == 0);
  dfc_error_free(error);
  run = dfc_run_new(program, NULL, settings, &error);
  EXPECT(run != NULL);
  dfc_settings_free(settings);
  dfc_program_free(program); /* the run keeps what it needs */

  EXPECT(!dfc_set_int(run, "m", 1, &error));
  EXPECT(dfc_error_get_code(error) == DFC_ERROR_HOST);
  EXPECT(strcmp(dfc_error_text(error), "error: there is no input `m`") == 0);
  dfc_error_free(error);
  EXPECT(!dfc_set_text(run, "n", "seven", NULL));
  EXPECT(dfc_set_int(run, "n", 7, &error));
  EXPECT(dfc_set_double(run, "x", 0.5, &error));
  EXPECT(dfc_execute(run, &error) == DFC_DONE);
  EXPECT(dfc_result_count(run) == 2);
  EXPECT(strcmp(dfc_result_text(run, 0), "14") == 0);
  EXPECT(dfc_result_text(run, 2) == NULL);
  view = dfc_result(run, 0);
  EXPECT(dfc_view_kind(view) == DFC_KIND_INT);
  EXPECT(strcmp(dfc_view_type(view), "Int") == 0);

  EXPECT(dfc_set_int(run, "n", 0, &error));
  EXPECT(dfc_execute(run, &error) == DFC_FAILED);
  EXPECT(dfc_error_get_code(error) == DFC_ERROR_DIVIDE_BY_ZERO);
  EXPECT(strcmp(dfc_error_message(error), "divide by zero") == 0);
  EXPECT(dfc_error_path_length(error) == 1);
  EXPECT(strcmp(dfc_error_path_what(error, 0), "at") == 0);
  EXPECT(strcmp(dfc_error_path_file(error, 0), "test.df") == 0);
  EXPECT(strcmp(dfc_error_path_function(error, 0), "main") == 0);
  EXPECT(dfc_error_path_line(error, 0) == 4 && dfc_error_path_column(error, 0) == 7);
  dfc_error_free(error);
  EXPECT(!dfc_get_progress(run, &progress));
  EXPECT(progress.milliseconds == 0);
  dfc_cancel(run);
  EXPECT(dfc_execute(run, NULL) != DFC_DONE);
  dfc_run_free(run);
  EXPECT(dfc_view_int(view, &value) && value == 14); /* a view outlives its run */
  dfc_view_free(view);

  EXPECT(dfc_program_from_bytes("no graph", 8, &error) == NULL);
  EXPECT(strlen(dfc_error_message(error)) > 0);
  dfc_error_free(error);
  dfc_error_free(NULL);
  return 1;
}

int LayerClient(const void* graph, size_t bytes, char* said, size_t size) {
  dfc_program* program = dfc_program_from_bytes(graph, bytes, NULL);
  dfc_run* run = dfc_run_new(program, NULL, NULL, NULL);
  double x[2] = {0.5, -1}, w[4] = {1, 0, 0, 1};
  int64_t vector[1] = {2}, matrix[2] = {2, 2};
  int released = 0;
  dfc_view* view;
  dfc_dtype dtype;
  size_t rank;
  const int64_t* shape;
  const double* y;
  EXPECT(dfc_set_array(run, "x", x, DFC_FLOAT64, 1, vector, NULL, &released, Count, NULL));
  EXPECT(dfc_set_array(run, "w", w, DFC_FLOAT64, 2, matrix, NULL, NULL, NULL, NULL));
  EXPECT(!dfc_set_array(run, "w", w, DFC_FLOAT64, 1, vector, NULL, &released, Count, NULL));
  EXPECT(released == 1);
  EXPECT(dfc_execute(run, NULL) == DFC_DONE);
  view = dfc_result(run, 0);
  y = dfc_view_array(view, &dtype, &rank, &shape);
  EXPECT(y && dtype == DFC_FLOAT64 && rank == 1 && shape[0] == 2);
  EXPECT(y[0] > 0.46211 && y[0] < 0.46212);
  dfc_clear_input(run, "x");
  EXPECT(released == 2);
  EXPECT(dfc_execute(run, NULL) == DFC_FAILED);
  dfc_run_free(run);
  dfc_program_free(program);
  EXPECT(y[1] < -0.76159 && y[1] > -0.7616);
  dfc_view_free(view);
  return 1;
}
