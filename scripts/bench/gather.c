/* Minibatch gradient differences in C, timed: `repeats` times over `batches` batches of
 * indices. The minibatch of an inner step, without the network. */
#include <stdlib.h>
#include <time.h>

#include "products.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

double time_dense(const blas *f, int copied, const double *A, int64_t d,
                  const int64_t *rows, int64_t b, int64_t batches, const double *x,
                  double factor, double *out) {
    double *batch = malloc(b * d * sizeof(double)), *z = malloc(b * sizeof(double));
    double start = now();
    for (int64_t k = 0; k < batches; k++)
        if (copied)
            gathered(f, A, d, rows + k * b, b, x, factor, batch, z, out);
        else
            row_by_row(f, A, d, rows + k * b, b, x, factor, out);
    double seconds = now() - start;
    free(batch);
    free(z);
    return seconds;
}

double time_csr(const double *values, const int64_t *starts, const int32_t *columns,
                int64_t d, const int64_t *rows, int64_t b, int64_t batches,
                const double *x, double factor, double *out) {
    double start = now();
    for (int64_t k = 0; k < batches; k++)
        csr(values, starts, columns, d, rows + k * b, b, x, factor, out);
    return now() - start;
}
