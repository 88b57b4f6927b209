/* The compiled engine: gossip rounds and products with a few rows, for double and float.
 *
 * A module of Python on its stable ABI, which reads arrays through the buffer protocol and
 * lets numpy make those that it returns. MPI's functions come as addresses and its handles
 * as numbers, so that one build serves every MPI and every CPython with a GIL.
 *
 * This source is built for every processor, for those with AVX2 and for those with AVX-512.
 * Sums have an order that is written here and no product is fused with a sum
 * (-ffp-contract=off): the same bits from all. */
#include "stable_abi.h"

#include <sched.h>
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)

/* What makes the arrays that are returned: numpy.empty(shape, dtype). */
typedef struct {
    PyObject *empty, *dtype;
} maker_t;

static PyObject *make_array(const maker_t *maker, PyObject *shape, Py_buffer *view) {
    PyObject *made =
        PyObject_CallFunctionObjArgs(maker->empty, shape, maker->dtype, NULL);
    if (made && PyObject_GetBuffer(made, view, PyBUF_WRITABLE)) {
        Py_DecRef(made);
        return NULL;
    }
    return made;
}

/* Room for a state, and the capsule that ends it. */
static void *make_state(size_t size, const char *name, void (*end)(PyObject *),
                        PyObject **capsule) {
    void *state = PyMem_Calloc(1, size);
    if (!state) {
        PyErr_NoMemory();
        return NULL;
    }
    *capsule = PyCapsule_New(state, name, end);
    if (*capsule) return state;
    PyMem_Free(state);
    return NULL;
}

static void drop(PyObject **objects, int number) {
    for (int k = 0; k < number; k++)
        if (objects[k]) Py_DecRef(objects[k]);
}

static void keep(PyObject **objects, int number) {
    for (int k = 0; k < number; k++) Py_IncRef(objects[k]);
}

#include "exchange.h"

typedef enum { DOT, TDOT, NORMAL } product_t;

typedef struct {
    Py_buffer values;  /* n × d, or the entries of CSR rows */
    Py_buffer starts;  /* CSR: int64, where each row starts, and the end */
    Py_buffer columns; /* CSR: int32 or int64 */
    Py_ssize_t d;
    maker_t maker;
    PyObject *length;       /* d */
    PyObject *otherwise[3]; /* called for each product if an argument does not fit */
} rows_t;

#define NAME(function) JOIN(function, SUFFIX)

#define REAL double
#define SUFFIX double
#include "rounds.h"
#include "rows.h"
#undef REAL
#undef SUFFIX

#define REAL float
#define SUFFIX float
#include "rounds.h"
#include "rows.h"
#undef REAL
#undef SUFFIX

/* --- mixes ------------------------------------------------------------------------- */

enum { MIX_OBJECTS = 6 };

typedef struct {
    exchange_t *exchange;
    Py_buffer weights; /* of each round: x^{k-1}, the neighbours, x^k */
    int64_t rounds;
    union {
        struct {
            PyObject *exchange, *shape;
            maker_t maker;
            PyObject *plain;     /* makes an array without gaps of one that has some */
            PyObject *exception; /* of MPI */
        } kept;
        PyObject *objects[MIX_OBJECTS];
    };
} mix_t;

static const char MIX[] = "pmgt_mpi mix";

/* Copy an array into own row 1; whether it fits. */
static int take_in(const mix_t *m, PyObject *x) {
    const exchange_t *e = m->exchange;
    Py_buffer in;
    PyObject *plain = NULL;
    if (PyObject_GetBuffer(x, &in, PyBUF_SIMPLE)) {
        PyErr_Clear();
        plain = PyObject_CallFunctionObjArgs(m->kept.plain, x, NULL);
        if (!plain || PyObject_GetBuffer(plain, &in, PyBUF_SIMPLE)) {
            drop(&plain, 1);
            return 0;
        }
    }
    const int fits = in.len == e->size * e->own.itemsize;
    if (fits) memcpy((char *)e->own.buf + e->own.strides[0], in.buf, in.len);
    PyBuffer_Release(&in);
    drop(&plain, 1);
    if (!fits) PyErr_SetString(PyExc_ValueError, "mix: an array of another size");
    return fits;
}

static void raise_error(const mix_t *m, int error) {
    PyObject *code = PyLong_FromLong(error);
    if (code) PyErr_SetObject(m->kept.exception, code);
    drop(&code, 1);
}

/* What own row 1 is mixed to: an array, new. */
static PyObject *mixed(const mix_t *m, int started) {
    exchange_t *e = m->exchange;
    Py_buffer out;
    PyObject *made = make_array(&m->kept.maker, m->kept.shape, &out);
    if (!made) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    const int error =
        e->own.itemsize == sizeof(double)
            ? rounds_double(e, m->weights.buf, m->rounds, started, out.buf)
            : rounds_float(e, m->weights.buf, m->rounds, started, out.buf);
    PyEval_RestoreThread(thread);
    PyBuffer_Release(&out);
    if (!error) return made;
    Py_DecRef(made);
    raise_error(m, error);
    return NULL;
}

/* run(x): an array, new. */
static PyObject *run(PyObject *self, PyObject *x) {
    const mix_t *m = PyCapsule_GetPointer(self, MIX);
    return m && take_in(m, x) ? mixed(m, 0) : NULL;
}

/* start(x): nothing; the messages of the first round are under way. */
static PyObject *start(PyObject *self, PyObject *x) {
    const mix_t *m = PyCapsule_GetPointer(self, MIX);
    if (!m || !take_in(m, x)) return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    const int error = post(m->exchange, 1);
    PyEval_RestoreThread(thread);
    if (!error) return Py_BuildValue("");
    raise_error(m, error);
    return NULL;
}

/* finish(): what run(x) would have given, after start(x). */
static PyObject *finish(PyObject *self, PyObject *nothing) {
    (void)nothing;
    const mix_t *m = PyCapsule_GetPointer(self, MIX);
    return m ? mixed(m, 1) : NULL;
}

static PyMethodDef MIX_METHODS[] = {
    {"run", run, METH_O, "run(x): rounds of gossip."},
    {"start", start, METH_O, "start(x): the messages of the first round."},
    {"finish", finish, METH_NOARGS, "finish(): the rounds, after start(x)."},
};

static void end_mix(PyObject *capsule) {
    mix_t *m = PyCapsule_GetPointer(capsule, MIX);
    if (m->weights.obj) PyBuffer_Release(&m->weights);
    drop(m->objects, MIX_OBJECTS);
    PyMem_Free(m);
}

/* mixer(exchange, weights, shape, empty, dtype, plain, exception): the functions run,
 * start and finish. */
static PyObject *mixer(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *capsule, *made[3] = {NULL, NULL, NULL}, *own[MIX_OBJECTS], *weights;
    mix_t *m = make_state(sizeof *m, MIX, end_mix, &capsule);
    if (!m) return NULL;
    if (PyArg_ParseTuple(arguments, "OOOOOOO", &own[0], &weights, &own[1], &own[2],
                         &own[3], &own[4], &own[5]) &&
        (m->exchange = PyCapsule_GetPointer(own[0], EXCHANGE)) &&
        !PyObject_GetBuffer(weights, &m->weights, PyBUF_SIMPLE)) {
        const Py_ssize_t row = (m->exchange->degree + 2) * m->exchange->own.itemsize;
        m->rounds = m->weights.len / row;
        keep(own, MIX_OBJECTS);
        memcpy(m->objects, own, sizeof own);
        const int fit = m->rounds > 0 && m->weights.len % row == 0;
        if (!fit)
            PyErr_SetString(PyExc_ValueError, "mixer: weights of other rounds");
        for (int k = 0; fit && k < 3; k++)
            if (!(made[k] = PyCFunction_NewEx(&MIX_METHODS[k], capsule, NULL))) break;
    }
    Py_DecRef(capsule);
    if (made[2]) return Py_BuildValue("NNN", made[0], made[1], made[2]);
    drop(made, 3);
    return NULL;
}

/* --- products with rows ------------------------------------------------------------ */

static const char ROWS[] = "pmgt_mpi rows";

_Static_assert(sizeof(long) == sizeof(int64_t), "the format l is that of int64");

/* Whether an argument is a plain vector of numbers of this format; if so, its view. */
static int take(PyObject *argument, const char *format, Py_buffer *view) {
    if (PyObject_GetBuffer(argument, view, PyBUF_ND | PyBUF_FORMAT)) {
        PyErr_Clear();
        return 0;
    }
    if (view->ndim == 1 && view->format && strcmp(view->format, format) == 0) return 1;
    PyBuffer_Release(view);
    return 0;
}

/* Whether all of these are indices of rows. */
static int are_rows(const rows_t *of, const Py_buffer *rows) {
    const Py_ssize_t n = of->starts.obj ? of->starts.shape[0] - 1 : of->values.shape[0];
    const int64_t *row = rows->buf;
    int wrong = 0;
    for (Py_ssize_t j = 0; j < rows->shape[0]; j++) wrong |= row[j] < 0 || row[j] >= n;
    return !wrong;
}

static PyObject *product_of(PyObject *self, PyObject *const *arguments,
                            Py_ssize_t number, product_t product) {
    const rows_t *of = PyCapsule_GetPointer(self, ROWS);
    if (!of) return NULL;
    const int enough = number == (product == NORMAL ? 4 : 2);
    PyObject *const otherwise = of->otherwise[product];
    if (!enough) {
        PyErr_SetString(PyExc_TypeError, product == NORMAL
                                             ? "expected rows, x, factor and shift"
                                             : "expected rows and a vector");
        return NULL;
    }
    double scalars[] = {1, 0};
    for (int k = 2; k < number; k++) {
        scalars[k - 2] = PyFloat_AsDouble(arguments[k]);
        if (scalars[k - 2] == -1 && PyErr_Occurred()) return NULL;
    }
    Py_buffer rows, x, out;
    const int fit = take(arguments[0], "l", &rows);
    const int double_ = of->values.itemsize == sizeof(double);
    int fits = fit && take(arguments[1], double_ ? "d" : "f", &x);
    if (fits) {
        const Py_ssize_t length = product == TDOT ? rows.shape[0] : of->d;
        fits = x.shape[0] == length && are_rows(of, &rows);
        if (!fits) PyBuffer_Release(&x);
    }
    PyObject *made = NULL;
    if (fits) {
        PyObject *b = product == DOT ? PyLong_FromSsize_t(rows.shape[0]) : of->length;
        made = b ? make_array(&of->maker, b, &out) : NULL;
        if (product == DOT) drop(&b, 1);
        if (made) {
            (double_ ? product_double : product_float)(of, product, &rows, &x, scalars,
                                                       out.buf);
            PyBuffer_Release(&out);
        }
        PyBuffer_Release(&x);
    }
    if (fit) PyBuffer_Release(&rows);
    if (fits) return made;
    if (product == NORMAL)
        return PyObject_CallFunctionObjArgs(otherwise, arguments[0], arguments[1],
                                            arguments[2], arguments[3], NULL);
    return PyObject_CallFunctionObjArgs(otherwise, arguments[0], arguments[1], NULL);
}

static PyObject *dot(PyObject *self, PyObject *const *arguments, Py_ssize_t number) {
    return product_of(self, arguments, number, DOT);
}

static PyObject *tdot(PyObject *self, PyObject *const *arguments, Py_ssize_t number) {
    return product_of(self, arguments, number, TDOT);
}

static PyObject *normal(PyObject *self, PyObject *const *arguments, Py_ssize_t number) {
    return product_of(self, arguments, number, NORMAL);
}

static PyMethodDef PRODUCTS[] = {
    {"dot", (PyCFunction)(void *)dot, METH_FASTCALL, "dot(rows, x): every <a_j, x>."},
    {"tdot", (PyCFunction)(void *)tdot, METH_FASTCALL, "tdot(rows, z): sum z_j a_j."},
    {"normal", (PyCFunction)(void *)normal, METH_FASTCALL,
     "normal(rows, x, factor, shift): factor sum <a_j, x> a_j + shift x."},
};

static void end_rows(PyObject *capsule) {
    rows_t *of = PyCapsule_GetPointer(capsule, ROWS);
    Py_buffer *views[] = {&of->values, &of->starts, &of->columns};
    for (int k = 0; k < 3; k++)
        if (views[k]->obj) PyBuffer_Release(views[k]);
    PyObject *objects[] = {of->maker.empty, of->maker.dtype, of->length,
                           of->otherwise[0], of->otherwise[1], of->otherwise[2]};
    drop(objects, 6);
    PyMem_Free(of);
}

/* products(values, starts, columns, d, empty, dtype, dot, tdot, normal): the functions
 * dot, tdot and normal of rows, dense if starts and columns are None; the last three are
 * called instead if an argument is no plain vector or not all indices are of rows. */
static PyObject *products(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *capsule, *made[3] = {NULL, NULL, NULL}, *values, *starts, *columns;
    PyObject *own[6];
    rows_t *of = make_state(sizeof *of, ROWS, end_rows, &capsule);
    if (!of) return NULL;
    if (!PyArg_ParseTuple(arguments, "OOOOOOOOO", &values, &starts, &columns, &own[0],
                          &own[1], &own[2], &own[3], &own[4], &own[5]) ||
        PyObject_GetBuffer(values, &of->values, PyBUF_ND) ||
        (starts != Py_None && (PyObject_GetBuffer(starts, &of->starts, PyBUF_ND) ||
                               PyObject_GetBuffer(columns, &of->columns, PyBUF_ND))))
        goto failed;
    keep(own, 6);
    of->length = own[0];
    of->maker = (maker_t){own[1], own[2]};
    memcpy(of->otherwise, own + 3, sizeof of->otherwise);
    of->d = PyLong_AsSsize_t(own[0]);
    if (of->d == -1 && PyErr_Occurred()) goto failed;
    for (int k = 0; k < 3; k++)
        if (!(made[k] = PyCFunction_NewEx(&PRODUCTS[k], capsule, NULL))) goto failed;
    Py_DecRef(capsule);
    return Py_BuildValue("NNN", made[0], made[1], made[2]);
failed:
    drop(made, 3);
    Py_DecRef(capsule);
    return NULL;
}

/* --- the module -------------------------------------------------------------------- */

/* widest(): the build for the widest registers that this processor, and its system, has. */
static PyObject *widest(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
    const char *found = "baseline";
#ifdef __x86_64__
    const unsigned avx512 = bit_AVX512F | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL;
    unsigned a, b, c, d, kept, high;
    if (__get_cpuid(1, &a, &b, &c, &d) && c & bit_OSXSAVE && c & bit_AVX) {
        __asm__("xgetbv" : "=a"(kept), "=d"(high) : "c"(0)); /* by the system */
        (void)high;
        if ((kept & 0x6) == 0x6 && __get_cpuid_count(7, 0, &a, &b, &c, &d)) {
            if (b & bit_AVX2) found = "avx2";
            if (b & bit_AVX2 && (kept & 0xe6) == 0xe6 && (b & avx512) == avx512)
                found = "avx512";
        }
    }
#endif
    return PyUnicode_FromString(found);
}

static PyMethodDef METHODS[] = {
    {"exchange", exchange, METH_VARARGS, "The messages of one agent."},
    {"mixer", mixer, METH_VARARGS, "A function that runs rounds of gossip."},
    {"products", products, METH_VARARGS, "Products with a few rows."},
    {"widest", widest, METH_NOARGS, "The name of the build for this processor."},
    {NULL, NULL, 0, NULL},
};

static int execute(PyObject *module) {
    return PyModule_AddStringConstant(module, "SOURCES", SOURCES);
}

static PyModuleDef_Slot SLOTS[] = {{Py_mod_exec, (void *)execute}, {0, NULL}};

static PyModuleDef MODULE_DEF = {
    PyModuleDef_HEAD_INIT, .m_name = TEXT(MODULE),
    .m_doc = "The compiled engine of pmgt_mpi.", .m_methods = METHODS, .m_slots = SLOTS,
};

PyMODINIT_FUNC JOIN(PyInit, MODULE)(void) { return PyModuleDef_Init(&MODULE_DEF); }
