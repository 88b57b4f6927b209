/* Products of a few rows of REAL, dense or CSR; included by kernels.c for each type.
 *
 * Sums are added in an order that is written here, whatever the alignment of the rows:
 * the same numbers give the same bits. */

#ifndef AHEAD
#define AHEAD 8 /* rows that are asked for before they are needed */
#endif

/* 32 bytes of numbers, wherever they lie; a machine without such registers uses two. */
typedef REAL NAME(vector)
    __attribute__((vector_size(32), aligned(sizeof(REAL)), may_alias));
#define LANES ((int64_t)(32 / sizeof(REAL)))

/* ⟨a_r, x⟩ of four rows at once: x is read once for all of them. */
static inline void NAME(dot4)(const REAL *const a[4], const REAL *x, int64_t d,
                              REAL z[4]) {
    NAME(vector) sum[4] = {{0}};
    const int64_t whole = d - d % LANES;
    for (int64_t i = 0; i < whole; i += LANES) {
        const NAME(vector) xi = *(const NAME(vector) *)(x + i);
        for (int r = 0; r < 4; r++) sum[r] += *(const NAME(vector) *)(a[r] + i) * xi;
    }
    for (int r = 0; r < 4; r++) {
        REAL total = 0;
        for (int l = 0; l < LANES; l++) total += sum[r][l];
        for (int64_t i = whole; i < d; i++) total += a[r][i] * x[i];
        z[r] = total;
    }
}

/* out += Σ_r s_r a_r over four rows. */
static inline void NAME(add4)(REAL *restrict out, const REAL *const a[4],
                              const REAL s[4], int64_t d) {
    const REAL *restrict a0 = a[0], *restrict a1 = a[1];
    const REAL *restrict a2 = a[2], *restrict a3 = a[3];
    const REAL s0 = s[0], s1 = s[1], s2 = s[2], s3 = s[3];
    for (int64_t i = 0; i < d; i++)
        out[i] += (s0 * a0[i] + s1 * a1[i]) + (s2 * a2[i] + s3 * a3[i]);
}

/* A minibatch: b rows by their indices, and the vectors of a product with them. */
typedef struct {
    const rows_t *of;
    const int64_t *rows;
    int64_t b;
    const REAL *x;
    REAL *z, *out;
} NAME(batch);

/* The address of row j, after asking for a later one. */
static inline const REAL *NAME(dense_row)(const NAME(batch) *p, int64_t j) {
    const REAL *A = p->of->values.buf;
    const int64_t d = p->of->d;
    if (j + AHEAD < p->b) {
        const char *later = (const char *)(A + p->rows[j + AHEAD] * d);
        const int64_t bytes = d * (int64_t)sizeof(REAL);
        for (int64_t k = 0; k < bytes && k < 1024; k += 64)
            __builtin_prefetch(later + k);
    }
    return A + p->rows[j] * d;
}

/* Dense rows, four at a time: z = a x if `dots`, then out += factor z a if `adds`; z is
 * not kept where it is NULL. */
static inline void NAME(dense)(const NAME(batch) *p, int dots, int adds, REAL factor) {
    for (int64_t j = 0; j < p->b; j += 4) {
        const int count = p->b - j < 4 ? (int)(p->b - j) : 4;
        const REAL *a[4];
        REAL s[4] = {0};
        for (int r = 0; r < 4; r++) a[r] = r < count ? NAME(dense_row)(p, j + r) : a[0];
        if (dots) NAME(dot4)(a, p->x, p->of->d, s);
        for (int r = 0; r < count && p->z; r++) {
            if (dots)
                p->z[j + r] = s[r];
            else
                s[r] = p->z[j + r];
        }
        if (adds) {
            for (int r = 0; r < 4; r++) s[r] = r < count ? factor * s[r] : 0;
            NAME(add4)(p->out, a, s, p->of->d);
        }
    }
}

/* CSR rows, one after another. */
#define CSR(INDEX)                                                                     \
    for (int64_t j = 0; j < p->b; j++) {                                               \
        const int64_t start = starts[p->rows[j]], stop = starts[p->rows[j] + 1];       \
        const INDEX *columns = p->of->columns.buf;                                     \
        if (j + AHEAD < p->b) {                                                        \
            const int64_t later = starts[p->rows[j + AHEAD]];                          \
            __builtin_prefetch(columns + later);                                       \
            __builtin_prefetch(values + later);                                        \
            __builtin_prefetch((const char *)(values + later) + 64);                   \
        }                                                                              \
        REAL s = 0;                                                                    \
        if (dots)                                                                      \
            for (int64_t k = start; k < stop; k++) s += values[k] * x[columns[k]];     \
        if (z && dots) z[j] = s;                                                       \
        if (z && !dots) s = z[j];                                                      \
        if (adds) {                                                                    \
            s *= factor;                                                               \
            for (int64_t k = start; k < stop; k++) out[columns[k]] += s * values[k];   \
        }                                                                              \
    }

static inline void NAME(sparse)(const NAME(batch) *p, int dots, int adds, REAL factor) {
    const REAL *values = p->of->values.buf, *restrict x = p->x;
    const int64_t *starts = p->of->starts.buf;
    REAL *restrict out = p->out, *restrict z = p->z;
    if (p->of->columns.itemsize == 4) {
        CSR(int32_t)
    } else {
        CSR(int64_t)
    }
}
#undef CSR

static void NAME(products)(const NAME(batch) *p, int dots, int adds, REAL factor) {
    PyThreadState *thread = PyEval_SaveThread();
    if (p->of->starts.obj)
        NAME(sparse)(p, dots, adds, factor);
    else
        NAME(dense)(p, dots, adds, factor);
    PyEval_RestoreThread(thread);
}

/* The product with a batch whose vectors are views: dot(rows, x) is z_j = ⟨a_j, x⟩ for
 * each of the rows, tdot(rows, z) is Σ_j z_j a_j, and normal(rows, x, factor, shift) is
 * factor Σ_j ⟨a_j, x⟩ a_j + shift x, every row read once. */
static void NAME(product)(const rows_t *of, product_t product, const Py_buffer *rows,
                          const Py_buffer *x, const double *scalars, void *out) {
    NAME(batch) p = {of, rows->buf, rows->len / (int64_t)sizeof(int64_t), x->buf,
                     NULL, out};
    const REAL factor = (REAL)scalars[0], shift = (REAL)scalars[1];
    if (product == DOT) {
        p.z = out;
        NAME(products)(&p, 1, 0, 0);
    } else if (product == TDOT) {
        p.z = x->buf;
        memset(out, 0, of->d * sizeof(REAL));
        NAME(products)(&p, 0, 1, 1);
    } else {
        for (int64_t i = 0; i < of->d; i++) p.out[i] = shift * p.x[i];
        NAME(products)(&p, 1, 1, factor);
    }
}
#undef LANES
