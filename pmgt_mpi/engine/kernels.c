/* The compiled engine: gossip rounds and products with a few rows, for double and float.
 *
 * No mpi.h is needed: MPI's functions come as addresses and its handles as numbers, so
 * the same object serves whatever MPI the process has loaded. A handle is an int or a
 * pointer; passed by value as intptr_t it arrives in the same register. */
#include <stdint.h>
#include <string.h>

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define NAME(function) JOIN(function, SUFFIX)

typedef struct {
    int (*isend)(const void *, int, intptr_t, int, int, intptr_t, void *);
    int (*irecv)(void *, int, intptr_t, int, int, intptr_t, void *);
    int (*startall)(int, void *);
    int (*waitall)(int, void *, void *);
    intptr_t comm, datatype;
    int64_t size;          /* of a vector */
    int32_t degree;        /* neighbours */
    int32_t persistent;    /* or Isend and Irecv, anew in each round */
    const int32_t *neighbours;
    char *requests;        /* 2 degree for each of the three own rows */
    int64_t request_bytes; /* of one handle */
    char *statuses;        /* room for 2 degree, never read */
    char *own;             /* three rows: x^{k-1}, x^k, x^{k+1} change places */
    char *theirs;          /* degree rows */
} exchange_t;

typedef struct {
    exchange_t *exchange;
    const char *weights; /* of each round: x^{k-1}, the neighbours, x^k */
    int64_t rounds;
} mix_t;

typedef struct {
    const char *values;      /* n × d, or the entries of CSR rows */
    const int64_t *starts;   /* CSR: where each row starts, and the end; else NULL */
    const char *columns;     /* CSR: int32 or int64 */
    int64_t column_bytes;
    int64_t d;
    const int64_t *rows;     /* the minibatch: b indices */
    int64_t b;
    char *x, *z, *out;       /* d numbers, b numbers, d numbers */
} batch_t;

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
