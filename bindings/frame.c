/* Reads the interpreter's frames without making frame objects (3 to 5 ns; the public API takes 30 to 45 ns per fresh
 * frame). The layout is private to each Python version, so each has a branch here; an unknown version takes the public
 * API. */
#include "bindings/frame.h"

#if PY_VERSION_HEX >= 0x030B0000 && PY_VERSION_HEX < 0x030F0000 && !defined(Py_GIL_DISABLED)
#define VIVACE_FRAMES 1
#define Py_BUILD_CORE 1
#undef _PyGC_FINALIZED /* a macro of the public headers, an inline function of the internal ones */
#if PY_VERSION_HEX >= 0x030E0000
#include "internal/pycore_interpframe.h"
#else
#include "internal/pycore_frame.h"
#include "internal/pycore_interp.h"
#endif
#undef Py_BUILD_CORE
#endif

static PyObject* package_folder = NULL;

/* Verdicts by file name object; the cache keeps the names alive, so that an address can't come to mean another name. */
#define CACHE_SIZE 256
static struct {
  PyObject* filename;
  int internal;
} cache[CACHE_SIZE];

/* The user's code that was found last, owned: most lines are captured in a loop. */
static PyCodeObject* last_code = NULL;

static int is_internal(PyCodeObject* code) {
  PyObject* filename = code->co_filename;
  size_t slot = ((uintptr_t)filename >> 4) & (CACHE_SIZE - 1);
  if (cache[slot].filename != filename) {
    int internal = package_folder ? PyUnicode_Tailmatch(filename, package_folder, 0, PY_SSIZE_T_MAX, -1) == 1 : 0;
    Py_INCREF(filename);
    Py_XDECREF(cache[slot].filename);
    cache[slot].filename = filename;
    cache[slot].internal = internal;
  }
  return cache[slot].internal;
}

int vivace_set_package_folder(PyObject* folder) {
  if (!PyUnicode_Check(folder)) {
    PyErr_SetString(PyExc_TypeError, "the package's folder must be a str");
    return -1;
  }
  Py_INCREF(folder);
  Py_XDECREF(package_folder);
  package_folder = folder;
  Py_CLEAR(last_code);
  for (int i = 0; i < CACHE_SIZE; ++i) Py_CLEAR(cache[i].filename);
  return 0;
}

#ifdef VIVACE_FRAMES

#if PY_VERSION_HEX >= 0x030E0000
#define CODE_OF(frame) ((PyCodeObject*)PyStackRef_AsPyObjectBorrow((frame)->f_executable))
#define TOP(tstate) ((tstate)->current_frame)
#define HAS_CODE(frame) ((frame)->owner < FRAME_OWNED_BY_INTERPRETER && PyCode_Check(CODE_OF(frame)))
#elif PY_VERSION_HEX >= 0x030D0000
#define CODE_OF(frame) ((PyCodeObject*)(frame)->f_executable)
#define TOP(tstate) ((tstate)->current_frame)
#define HAS_CODE(frame) ((frame)->owner != FRAME_OWNED_BY_CSTACK && PyCode_Check((frame)->f_executable))
#elif PY_VERSION_HEX >= 0x030C0000
#define CODE_OF(frame) ((frame)->f_code)
#define TOP(tstate) ((tstate)->cframe->current_frame)
#define HAS_CODE(frame) ((frame)->owner != FRAME_OWNED_BY_CSTACK)
#else
#define CODE_OF(frame) ((frame)->f_code)
#define TOP(tstate) ((tstate)->cframe->current_frame)
#define HAS_CODE(frame) 1
#endif

static inline void store(struct _PyInterpreterFrame* frame, PyObject** code, int32_t* lasti) {
  *code = (PyObject*)CODE_OF(frame);
  Py_INCREF(*code);
  *lasti = (int32_t)(_PyInterpreterFrame_LASTI(frame) * (int)sizeof(_Py_CODEUNIT));
}

static __attribute__((noinline)) void search(struct _PyInterpreterFrame* frame, PyObject** code, int32_t* lasti) {
  while (frame && (!HAS_CODE(frame) || is_internal(CODE_OF(frame)))) frame = frame->previous;
  if (!frame) {
    *code = NULL;
    *lasti = 0;
    return;
  }
  store(frame, code, lasti);
  PyObject* old = (PyObject*)last_code;
  last_code = (PyCodeObject*)Py_NewRef(*code);
  Py_XDECREF(old);
}

void vivace_capture_line(PyObject** code, int32_t* lasti) {
  struct _PyInterpreterFrame* frame = TOP(PyThreadState_Get());
  if (frame && CODE_OF(frame) == last_code)
    store(frame, code, lasti);
  else
    search(frame, code, lasti);
}

int vivace_capture_frames(VivaceFrame* frames, int room) {
  struct _PyInterpreterFrame* frame = TOP(PyThreadState_Get());
  int n = 0;
  for (; frame && n < room; frame = frame->previous) {
    if (!HAS_CODE(frame)) continue;
    frames[n].code = (PyObject*)CODE_OF(frame);
    frames[n++].lasti = (int32_t)(_PyInterpreterFrame_LASTI(frame) * (int)sizeof(_Py_CODEUNIT));
  }
  return n;
}

#else

void vivace_capture_line(PyObject** code, int32_t* lasti) {
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  *code = NULL;
  *lasti = 0;
  while (frame) {
    PyCodeObject* own = PyFrame_GetCode(frame);
    if (!is_internal(own)) {
      *code = (PyObject*)own;
      *lasti = PyFrame_GetLasti(frame);
      Py_DECREF(frame);
      return;
    }
    Py_DECREF(own);
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
}

int vivace_capture_frames(VivaceFrame* frames, int room) {
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  int n = 0;
  while (frame) {
    if (n < room) {
      PyCodeObject* code = PyFrame_GetCode(frame);
      frames[n].code = (PyObject*)code;
      frames[n++].lasti = PyFrame_GetLasti(frame);
      Py_DECREF(code); /* the frame that runs keeps it */
    }
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  return n;
}

#endif

#if defined(VIVACE_FRAMES) && PY_VERSION_HEX < 0x030E0000
void* vivace_youngest_generation(void) { return PyThreadState_Get()->interp->gc.generation0; }
#else
void* vivace_youngest_generation(void) { return NULL; }
#endif
