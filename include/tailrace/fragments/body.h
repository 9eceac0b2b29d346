/* SPDX-License-Identifier: BSD-3-Clause */
/* What a body of a fragment program in a shared object is given: plain C, so that the object needs nothing of
 * Tailrace when it is linked. docs/formats/fragment_program.md says how bodies are named. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/** Stands for one execution of a body: its inputs and outputs. */
typedef struct tailrace_call tailrace_call;

/** The type of a value; an output that was not set yet is `tailrace_unset`. */
typedef enum tailrace_type {
  tailrace_unset = 0,
  tailrace_int = 1,
  tailrace_real = 2,
  tailrace_string = 3,
  tailrace_block = 4
} tailrace_type;

/**
 * Functions by which a body reads its parameters and sets its outputs. Parameters are numbered from 0.
 * Inputs and outputs that were set can be read; outputs can be set, the last value counts. Any other
 * use throws (C++) an error that names the parameter, which the body lets pass. Lent memory is valid until
 * the body returns. All functions are @local.
 */
typedef struct tailrace_body_interface {
  /** The bytes of this structure; later versions only add functions at its end. */
  unsigned long long size;
  tailrace_type (*type)(tailrace_call* call, int parameter);
  /** The name of the data fragment with its indices, or the parameter's name where it is none. */
  const char* (*name)(tailrace_call* call, int parameter);
  int (*get_int)(tailrace_call* call, int parameter);
  double (*get_real)(tailrace_call* call, int parameter);
  /** Text with a 0 behind it; `size_bytes`, without that 0, may be NULL. */
  const char* (*get_string)(tailrace_call* call, int parameter, unsigned long long* size_bytes);
  /** The bytes of a value of any type: of a number 4 or 8, of a string with its 0. */
  const void* (*get_bytes)(tailrace_call* call, int parameter, unsigned long long* size_bytes);
  /** Memory of a `value&` input that the body may change: the original at its last use, else a copy. */
  void* (*change_bytes)(tailrace_call* call, int parameter, unsigned long long* size_bytes);
  void (*set_int)(tailrace_call* call, int parameter, int value);
  void (*set_real)(tailrace_call* call, int parameter, double value);
  void (*set_string)(tailrace_call* call, int parameter, const char* text, unsigned long long size_bytes);
  /** A new block of zeros, aligned for any type and for vectors, to be filled before the body returns. */
  void* (*create_block)(tailrace_call* call, int parameter, unsigned long long size_bytes);
  /** Makes the value of `from` that of the output `parameter`, without a copy. */
  void (*share)(tailrace_call* call, int parameter, int from);
  /** Ends the body as an exception with this text would; it does not return. */
  void (*fail)(tailrace_call* call, const char* text);
  /** The name of the subroutine: one body may be that of several. */
  const char* (*subroutine)(tailrace_call* call);
  /** Keeps the memory of a value beyond the body, until `drop`, which any thread may call. */
  void* (*keep)(tailrace_call* call, int parameter);
  void (*drop)(void* kept);
} tailrace_body_interface;

/** A body. */
typedef void (*tailrace_body)(const tailrace_body_interface* tailrace, tailrace_call* call);

/** A shared object of bodies may export this as `tailrace_bodies_begin`: it is called once on each rank,
 * before any body, with the text of `tailrace-fragments --bodies-argument`. Returns NULL, or what is wrong,
 * which ends the program before it begins and is never freed. */
typedef const char* (*tailrace_bodies_begin_function)(const char* argument);

#ifdef __cplusplus
}
#endif
