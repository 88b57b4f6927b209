/* What the engine uses of Python's stable ABI, as of 3.11: no more than Python's own
 * documentation fixes for every later CPython with a GIL. Python's headers are often not
 * installed; where they are, `-include Python.h` takes their word instead of this one. */
#ifndef Py_PYTHON_H
#include <stddef.h>
#include <stdint.h>

typedef intptr_t Py_ssize_t;
typedef struct _object PyObject;
typedef struct _typeobject PyTypeObject;
struct _object {
    Py_ssize_t ob_refcnt;
    PyTypeObject *ob_type;
};

typedef struct {
    void *buf;
    PyObject *obj;
    Py_ssize_t len, itemsize;
    int readonly, ndim;
    char *format;
    Py_ssize_t *shape, *strides, *suboffsets;
    void *internal;
} Py_buffer;

typedef PyObject *(*PyCFunction)(PyObject *, PyObject *);
typedef struct {
    const char *ml_name;
    PyCFunction ml_meth;
    int ml_flags;
    const char *ml_doc;
} PyMethodDef;

typedef struct {
    int slot;
    void *value;
} PyModuleDef_Slot;

typedef struct {
    struct {
        PyObject ob_base;
        PyObject *(*m_init)(void);
        Py_ssize_t m_index;
        PyObject *m_copy;
    } m_base;
    const char *m_name, *m_doc;
    Py_ssize_t m_size;
    PyMethodDef *m_methods;
    PyModuleDef_Slot *m_slots;
    int (*m_traverse)(PyObject *, int (*)(PyObject *, void *), void *);
    int (*m_clear)(PyObject *);
    void (*m_free)(void *);
} PyModuleDef;

typedef struct _ts PyThreadState;

#define PyModuleDef_HEAD_INIT { { 1, NULL }, NULL, 0, NULL }
#define PyMODINIT_FUNC __attribute__((visibility("default"))) PyObject *
#define METH_VARARGS 0x0001
#define METH_NOARGS 0x0004
#define METH_O 0x0008
#define METH_FASTCALL 0x0080
#define PyBUF_SIMPLE 0
#define PyBUF_WRITABLE 0x0001
#define PyBUF_FORMAT 0x0004
#define PyBUF_ND 0x0008
#define PyBUF_STRIDES (0x0010 | PyBUF_ND)
#define Py_mod_exec 2

int PyArg_ParseTuple(PyObject *, const char *, ...);
PyObject *Py_BuildValue(const char *, ...);
int PyObject_GetBuffer(PyObject *, Py_buffer *, int);
void PyBuffer_Release(Py_buffer *);
PyObject *PyObject_CallFunctionObjArgs(PyObject *, ...);
PyObject *PyCFunction_NewEx(PyMethodDef *, PyObject *, PyObject *);
PyObject *PyCapsule_New(void *, const char *, void (*)(PyObject *));
void *PyCapsule_GetPointer(PyObject *, const char *);
PyObject *PyModuleDef_Init(PyModuleDef *);
int PyModule_AddStringConstant(PyObject *, const char *, const char *);
PyObject *PyLong_FromLong(long);
PyObject *PyLong_FromSsize_t(Py_ssize_t);
Py_ssize_t PyLong_AsSsize_t(PyObject *);
PyObject *PyUnicode_FromString(const char *);
double PyFloat_AsDouble(PyObject *);
PyObject *PyErr_Occurred(void);
void PyErr_Clear(void);
void PyErr_SetObject(PyObject *, PyObject *);
void PyErr_SetString(PyObject *, const char *);
PyObject *PyErr_NoMemory(void);
extern PyObject *PyExc_TypeError, *PyExc_ValueError;
extern PyObject _Py_NoneStruct;
#define Py_None (&_Py_NoneStruct)
void Py_IncRef(PyObject *);
void Py_DecRef(PyObject *);
PyThreadState *PyEval_SaveThread(void);
void PyEval_RestoreThread(PyThreadState *);
void *PyMem_Calloc(size_t, size_t);
void PyMem_Free(void *);
#endif
