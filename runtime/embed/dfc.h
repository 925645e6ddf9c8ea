/* runtime/embed/dfc.h
 *
 * Running compiled graphs from C, or from any language that calls C, without the compiler. It is embed.h behind opaque handles: no
 * exception crosses it, no structure of it has a layout that may change, and what is here stays as it is.
 *
 *   dfc_error* error = NULL;
 *   dfc_program* program = dfc_program_load("fact.graph", &error);
 *   dfc_run* run = program ? dfc_run_new(program, NULL, NULL, &error) : NULL;
 *   if (run && dfc_set_int(run, "n", 20, &error) && dfc_execute(run, &error) == DFC_DONE)
 *     puts(dfc_result_text(run, 0));
 *   else
 *     fputs(dfc_error_text(error), stderr);
 *
 * Where a function takes `dfc_error**`, which may be NULL, it leaves an error there if it fails, to be freed by dfc_error_free; what was
 * there before is not looked at. Texts are UTF-8 and end with a 0; those that functions return belong to the handle, and last until it is
 * freed or, of a run, until its next dfc_execute. A program may be used by many threads at once, a run by one at a time, but for
 * dfc_cancel and dfc_get_progress; views may be freed on any thread, at any time, and outlive their run.
 */
#ifndef DFC_H
#define DFC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* More functions may come with the same number; a program that was built with another number does not fit. */
#define DFC_ABI 1
int dfc_abi(void);
const char* dfc_version(void);

typedef struct dfc_program dfc_program;
typedef struct dfc_settings dfc_settings;
typedef struct dfc_run dfc_run;
typedef struct dfc_view dfc_view;
typedef struct dfc_element dfc_element;
typedef struct dfc_error dfc_error;

typedef enum {
  DFC_DONE = 0,
  DFC_FAILED = 1, /* the program's result is an error, or an input is missing */
  DFC_MEMORY_LIMIT = 2,
  DFC_FRAME_LIMIT = 3,
  DFC_TIMEOUT = 4,
  DFC_INTERRUPTED = 5,
  DFC_INTERNAL = 6
} dfc_status;

typedef enum { DFC_FLOAT32 = 0, DFC_FLOAT64 = 1, DFC_INT64 = 2, DFC_BOOL = 3 } dfc_dtype; /* a bool is a byte, 0 or 1 */

/* ---- errors */

typedef enum {
  DFC_ERROR_NONE = 0,
  DFC_ERROR_DIVIDE_BY_ZERO = 1,
  DFC_ERROR_OVERFLOW = 2,
  DFC_ERROR_USER = 3,     /* `error`, and what the library says with it */
  DFC_ERROR_NO_MATCH = 4,
  DFC_ERROR_RANGE = 5,
  DFC_ERROR_LOOP = 6,     /* a value that needs itself */
  DFC_ERROR_LIMIT = 7,
  DFC_ERROR_INTERRUPTED = 8,
  DFC_ERROR_HOST = 9,     /* of the calling program: a name, a type, a file that is not there */
  DFC_ERROR_INTERNAL = 10
} dfc_error_code;

dfc_error_code dfc_error_get_code(const dfc_error* error);
const char* dfc_error_message(const dfc_error* error); /* "divide by zero" */
const char* dfc_error_text(const dfc_error* error);    /* all of it, as dfc prints it */
/* The place, then the calls that led there, innermost first. */
size_t dfc_error_path_length(const dfc_error* error);
const char* dfc_error_path_what(const dfc_error* error, size_t index);     /* "at", "called at", "... 980 more calls ..." */
const char* dfc_error_path_file(const dfc_error* error, size_t index);     /* "" if it is not known */
const char* dfc_error_path_function(const dfc_error* error, size_t index); /* likewise */
uint32_t dfc_error_path_line(const dfc_error* error, size_t index);        /* from 1; 0 if it is not known */
uint32_t dfc_error_path_column(const dfc_error* error, size_t index);
void dfc_error_free(dfc_error* error); /* NULL is fine, as of all functions of this name */

/* ---- programs */

dfc_program* dfc_program_load(const char* path, dfc_error** error);
dfc_program* dfc_program_from_bytes(const void* bytes, size_t size, dfc_error** error);
void dfc_program_free(dfc_program* program); /* runs and views keep what they need */

/* What `--export` made; 0: the program has `main` alone, whose name as an entry is NULL or "". */
size_t dfc_entry_count(const dfc_program* program);
const char* dfc_entry_name(const dfc_program* program, size_t index);
/* 0 and NULL if there is no such entry, input or result. */
size_t dfc_input_count(const dfc_program* program, const char* entry);
const char* dfc_input_name(const dfc_program* program, const char* entry, size_t index);
const char* dfc_input_type(const dfc_program* program, const char* entry, size_t index);
size_t dfc_result_type_count(const dfc_program* program, const char* entry);
const char* dfc_result_type(const dfc_program* program, const char* entry, size_t index);

/* ---- settings: limits and the like; each has the default of embed.h */

dfc_settings* dfc_settings_new(void);
void dfc_settings_free(dfc_settings* settings);
void dfc_settings_threads(dfc_settings* settings, uint32_t threads); /* 0: one per processor */
void dfc_settings_max_memory(dfc_settings* settings, uint64_t bytes);
void dfc_settings_max_frames(dfc_settings* settings, uint64_t frames);
void dfc_settings_timeout(dfc_settings* settings, uint64_t milliseconds);
void dfc_settings_batch(dfc_settings* settings, uint32_t rows);
int dfc_settings_engine(dfc_settings* settings, const char* name);    /* "tagged", "reference", "demand"; 0: there is none such */
void dfc_settings_device(dfc_settings* settings, const char* name);

/* ---- runs */

/* `entry` may be NULL, `settings` too. */
dfc_run* dfc_run_new(const dfc_program* program, const char* entry, const dfc_settings* settings, dfc_error** error);
void dfc_run_free(dfc_run* run);

/* 1, or 0 and an error. An input stays set for the next dfc_execute. */
int dfc_set_int(dfc_run* run, const char* input, int64_t value, dfc_error** error);
int dfc_set_double(dfc_run* run, const char* input, double value, dfc_error** error);
int dfc_set_bool(dfc_run* run, const char* input, int value, dfc_error** error);
int dfc_set_text(dfc_run* run, const char* input, const char* as_in_the_language, dfc_error** error);
int dfc_set_string(dfc_run* run, const char* input, const char* utf8, size_t size, dfc_error** error);
int dfc_set_file(dfc_run* run, const char* input, const char* path, dfc_error** error);
/* Strides are in bytes; NULL: row-major. Row-major elements at a place fit for their type are not copied: `release`, which may be NULL,
 * is called with `owner` when nobody looks at them any more, by any thread. Otherwise it is called before this returns. It is called in
 * any case, also where this fails. */
typedef void (*dfc_release)(void* owner);
int dfc_set_array(dfc_run* run, const char* input, const void* data, dfc_dtype dtype, size_t rank, const int64_t* shape, const int64_t* strides,
                  void* owner, dfc_release release, dfc_error** error);
/* Records, lists and others by their parts, named as in a file of arrays: "layer1.weight". Elements are copied. */
typedef struct dfc_part {
  const char* name;
  const void* data;
  dfc_dtype dtype;
  size_t rank;
  const int64_t* shape;
  const int64_t* strides;
} dfc_part;
int dfc_set_parts(dfc_run* run, const char* input, const dfc_part* parts, size_t count, dfc_error** error);
/* A list, for the next dfc_execute alone: `next` is called when the run asks for an element, sets it and returns 1, or returns 0: there is
 * none any more; or -1: the run fails. */
typedef int (*dfc_next)(void* state, dfc_element* element);
int dfc_set_list(dfc_run* run, const char* input, dfc_next next, void* state, dfc_error** error);
int dfc_element_int(dfc_element* element, int64_t value, dfc_error** error);
int dfc_element_double(dfc_element* element, double value, dfc_error** error);
int dfc_element_bool(dfc_element* element, int value, dfc_error** error);
int dfc_element_text(dfc_element* element, const char* as_in_the_language, dfc_error** error);
int dfc_element_string(dfc_element* element, const char* utf8, size_t size, dfc_error** error);
int dfc_element_parts(dfc_element* element, const dfc_part* parts, size_t count, dfc_error** error);
/* A result of an earlier dfc_execute of the same run. */
int dfc_set_view(dfc_run* run, const char* input, const dfc_view* view, dfc_error** error);
void dfc_clear_input(dfc_run* run, const char* input);

/* The error is that of the run, where it is not DFC_DONE. */
dfc_status dfc_execute(dfc_run* run, dfc_error** error);
void dfc_cancel(dfc_run* run); /* from any thread: the dfc_execute that goes on, or the next one, is DFC_INTERRUPTED */
/* How far an execution has come, from any thread: 1 if one goes on, else 0 and what the last one has counted. `steps` grows while it computes,
 * by one for some hundred or thousand steps of the thread that executes. */
typedef struct dfc_progress {
  uint64_t steps;
  uint64_t elements;     /* that were asked for of lists (dfc_set_list) */
  uint64_t milliseconds; /* since it began; 0 where none goes on */
} dfc_progress;
int dfc_get_progress(const dfc_run* run, dfc_progress* progress);

size_t dfc_result_count(const dfc_run* run); /* after DFC_DONE */
const char* dfc_result_text(const dfc_run* run, size_t index); /* as `show` prints it; NULL: there is none such */
dfc_view* dfc_result(const dfc_run* run, size_t index);
int dfc_write_result(const dfc_run* run, size_t index, const char* path, dfc_error** error); /* .npy, .npz, .safetensors */

/* ---- views: parts of results, which own what they look at */

typedef enum {
  DFC_KIND_UNIT = 0,
  DFC_KIND_BOOL = 1,
  DFC_KIND_CHAR = 2,
  DFC_KIND_INT = 3,
  DFC_KIND_INTEGER = 4,
  DFC_KIND_FLOAT = 5,
  DFC_KIND_DOUBLE = 6,
  DFC_KIND_TEXT = 7,
  DFC_KIND_TENSOR = 8,
  DFC_KIND_DATA = 9
} dfc_kind;

void dfc_view_free(dfc_view* view);
dfc_kind dfc_view_kind(const dfc_view* view);
const char* dfc_view_type(dfc_view* view);
int dfc_view_int(const dfc_view* view, int64_t* value); /* 0: it is no Int, and no Integer of 64 bits */
double dfc_view_double(const dfc_view* view);           /* of a Float or Double */
int dfc_view_bool(const dfc_view* view);
uint32_t dfc_view_char(const dfc_view* view);
const char* dfc_view_string(dfc_view* view, size_t* size); /* of a String or Text; NULL of another type. `size` may be NULL */
const char* dfc_view_show(dfc_view* view);                 /* as `show` prints it; not while its run executes */
/* Of a tensor, row-major; NULL of another type. The elements last as long as the view. */
const void* dfc_view_array(dfc_view* view, dfc_dtype* dtype, size_t* rank, const int64_t** shape);
size_t dfc_view_constructor_index(const dfc_view* view);
const char* dfc_view_constructor(dfc_view* view);
size_t dfc_view_size(const dfc_view* view);                        /* fields */
dfc_view* dfc_view_field(const dfc_view* view, size_t index);      /* NULL: there is none such */
const char* dfc_view_field_name(dfc_view* view, size_t index);     /* of a record's; else "" */
int dfc_view_is_list(const dfc_view* view);
size_t dfc_view_list_length(dfc_view* view);
dfc_view* dfc_view_list_element(dfc_view* view, size_t index);

#ifdef __cplusplus
}
#endif

#endif
