/* The compiled engine: gossip rounds and products with a few rows, for double and float.
 *
 * No mpi.h is needed: MPI's functions come as addresses and its handles as numbers, so
 * the same object serves whatever MPI the process has loaded. A handle is an int or a
 * pointer; passed by value as intptr_t it arrives in the same register.
 *
 * What Python calls takes and gives arrays. Its `self` is an array too, whose bytes are
 * the struct that says what it works on, and its GIL is given away meanwhile. */
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "abi.h"

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define NAME(function) JOIN(function, SUFFIX)

enum { OWN = 3, ASKS = 8 };

typedef struct {
    int (*isend)(const void *, int, intptr_t, int, int, intptr_t, void *);
    int (*irecv)(void *, int, intptr_t, int, int, intptr_t, void *);
    int (*startall)(int, void *);
    int (*testall)(int, void *, int *, void *);
    intptr_t comm, datatype;
    int64_t size, stride;  /* of a vector; from one row to the next */
    int32_t degree;        /* neighbours */
    int32_t persistent;    /* or Isend and Irecv, anew in each round */
    int32_t patient;       /* a round does not wait until its own row is sent */
    const int32_t *neighbours;
    char *requests;        /* for each own row: degree to receive, degree to send it */
    int64_t request_bytes; /* of one handle */
    char *statuses;        /* room for 2 degree, never read */
    char *own;             /* OWN rows: x^{k-1}, x^k, x^{k+1} change places */
    char *theirs;          /* degree rows */
    int64_t rounds;        /* so far */
} exchange_t;

typedef struct {
    exchange_t *exchange;
    const char *weights; /* of each round: x^{k-1}, the neighbours, x^k */
    int64_t rounds, nd;
    const intptr_t *shape;     /* of the arrays */
    const object_t *otherwise; /* makes an array that fits of one that does not */
    const object_t *exception; /* of MPI */
} mix_t;

typedef struct {
    const char *values;    /* n × d, or the entries of CSR rows */
    const int64_t *starts; /* CSR: where each row starts, and the end; else NULL */
    const char *columns;   /* CSR: int32 or int64 */
    int64_t column_bytes;
    int64_t d;
    const object_t *otherwise; /* called instead if an argument does not fit */
} rows_t;

/* Wait for some requests. Some MPIs' own wait keeps the core, which the rank that is
 * waited for may need: with more ranks than cores a round then takes some time slices
 * of the system. So MPI is asked again and again, and now and then others run. */
static int wait_for(const exchange_t *e, int number, char *requests) {
    for (unsigned asked = 1;; asked++) {
        int done = 0;
        const int error = e->testall(number, requests, &done, e->statuses);
        if (error || done) return error;
        if (asked % ASKS == 0) sched_yield();
    }
}

#define REAL double
#define SUFFIX double
#define TYPE TYPE_DOUBLE
#define DTYPE python.dtype_double
#include "rounds.h"
#include "rows.h"
#undef REAL
#undef SUFFIX
#undef TYPE
#undef DTYPE

#define REAL float
#define SUFFIX float
#define TYPE TYPE_FLOAT
#define DTYPE python.dtype_float
#include "rounds.h"
#include "rows.h"
