/* The minibatch gradient difference of a quadratic loss in C with BLAS, in two forms:
 * rows copied together and two matrix-vector products, or two vector operations a row.
 * BLAS functions come as addresses; their integers are 64 bits wide or the lower half of
 * 64 bits. */
#ifndef PRODUCTS_H
#define PRODUCTS_H

#include <stdint.h>
#include <string.h>

enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 };

typedef struct {
    void (*gemv)(int64_t order, int64_t trans, int64_t m, int64_t n, double alpha,
                 const double *A, int64_t lda, const double *x, int64_t incx,
                 double beta, double *y, int64_t incy);
    double (*dot)(int64_t n, const double *x, int64_t incx, const double *y,
                  int64_t incy);
    void (*axpy)(int64_t n, double alpha, const double *x, int64_t incx, double *y,
                 int64_t incy);
} blas;

/* out = factor Σ_j ⟨a_j, x⟩ a_j; batch is room for b rows, z for b numbers. */
static inline void gathered(const blas *f, const double *A, int64_t d,
                            const int64_t *rows, int64_t b, const double *x,
                            double factor, double *batch, double *z, double *out) {
    for (int64_t j = 0; j < b; j++)
        memcpy(batch + j * d, A + rows[j] * d, d * sizeof(double));
    f->gemv(ROW_MAJOR, NO_TRANS, b, d, factor, batch, d, x, 1, 0.0, z, 1);
    f->gemv(ROW_MAJOR, TRANS, b, d, 1.0, batch, d, z, 1, 0.0, out, 1);
}

static inline void row_by_row(const blas *f, const double *A, int64_t d,
                              const int64_t *rows, int64_t b, const double *x,
                              double factor, double *out) {
    memset(out, 0, d * sizeof(double));
    for (int64_t j = 0; j < b; j++) {
        const double *a = A + rows[j] * d;
        f->axpy(d, factor * f->dot(d, a, 1, x, 1), a, 1, out, 1);
    }
}

/* The same for CSR rows, for which BLAS has nothing. */
static inline void csr(const double *values, const int64_t *starts,
                       const int32_t *columns, int64_t d, const int64_t *rows,
                       int64_t b, const double *x, double factor, double *out) {
    memset(out, 0, d * sizeof(double));
    for (int64_t j = 0; j < b; j++) {
        const int64_t start = starts[rows[j]], stop = starts[rows[j] + 1];
        double z = 0;
        for (int64_t k = start; k < stop; k++) z += values[k] * x[columns[k]];
        z *= factor;
        for (int64_t k = start; k < stop; k++) out[columns[k]] += z * values[k];
    }
}

#endif
