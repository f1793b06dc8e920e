/* The Python line that is running: the nearest frame whose code is not vivace's own. */
#pragma once
#include <Python.h>

#ifdef __cplusplus
extern "C" {
#endif

/* New reference to its code object (NULL if there is no frame) and the byte offset of its current instruction. */
void vivace_capture_line(PyObject** code, int32_t* lasti);
typedef struct {
  PyObject* code;
  int32_t lasti;
} VivaceFrame;
/* All frames of this thread, vivace's own included, innermost first, up to `room` of them; the code objects are
 * borrowed. Returns how many there are. */
int vivace_capture_frames(VivaceFrame* frames, int room);
/* Code from files below this folder counts as vivace's own. Returns -1 with an exception set on failure. */
int vivace_set_package_folder(PyObject* folder);

/* The head of the list of objects in the collector's youngest generation, where its layout is known; else NULL. */
void* vivace_youngest_generation(void);

#ifdef __cplusplus
}
#endif
