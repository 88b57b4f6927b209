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

/* The address of row j, after asking for a later one. */
static inline const REAL *NAME(dense_row)(const batch_t *p, int64_t j) {
    const REAL *A = (const REAL *)p->values;
    if (j + AHEAD < p->b) {
        const char *later = (const char *)(A + p->rows[j + AHEAD] * p->d);
        const int64_t bytes = p->d * (int64_t)sizeof(REAL);
        for (int64_t k = 0; k < bytes && k < 1024; k += 64)
            __builtin_prefetch(later + k);
    }
    return A + p->rows[j] * p->d;
}

/* Dense rows, four at a time: z = a x if `dots`, then out += factor z a if `adds`. */
static inline void NAME(dense)(batch_t *p, int dots, int adds, REAL factor) {
    REAL *z = (REAL *)p->z;
    for (int64_t j = 0; j < p->b; j += 4) {
        const int count = p->b - j < 4 ? (int)(p->b - j) : 4;
        const REAL *a[4];
        REAL s[4] = {0};
        for (int r = 0; r < 4; r++) a[r] = r < count ? NAME(dense_row)(p, j + r) : a[0];
        if (dots) {
            NAME(dot4)(a, (const REAL *)p->x, p->d, s);
            for (int r = 0; r < count; r++) z[j + r] = s[r];
        }
        if (adds) {
            for (int r = 0; r < 4; r++) s[r] = r < count ? factor * z[j + r] : 0;
            NAME(add4)((REAL *)p->out, a, s, p->d);
        }
    }
}

/* CSR rows, one after another. */
#define CSR(INDEX)                                                                     \
    for (int64_t j = 0; j < p->b; j++) {                                               \
        const int64_t start = p->starts[p->rows[j]], stop = p->starts[p->rows[j] + 1]; \
        const INDEX *columns = (const INDEX *)p->columns;                              \
        if (j + AHEAD < p->b) {                                                        \
            const int64_t later = p->starts[p->rows[j + AHEAD]];                       \
            __builtin_prefetch(columns + later);                                       \
            __builtin_prefetch(values + later);                                        \
            __builtin_prefetch((const char *)(values + later) + 64);                   \
        }                                                                              \
        if (dots) {                                                                    \
            REAL sum = 0;                                                              \
            for (int64_t k = start; k < stop; k++) sum += values[k] * x[columns[k]];   \
            z[j] = sum;                                                                \
        }                                                                              \
        if (adds) {                                                                    \
            const REAL s = factor * z[j];                                              \
            for (int64_t k = start; k < stop; k++) out[columns[k]] += s * values[k];   \
        }                                                                              \
    }

static inline void NAME(sparse)(batch_t *p, int dots, int adds, REAL factor) {
    const REAL *values = (const REAL *)p->values, *restrict x = (const REAL *)p->x;
    REAL *restrict out = (REAL *)p->out, *restrict z = (REAL *)p->z;
    if (p->column_bytes == 4) {
        CSR(int32_t)
    } else {
        CSR(int64_t)
    }
}
#undef CSR

static inline void NAME(products)(batch_t *p, int dots, int adds, REAL factor) {
    if (p->starts)
        NAME(sparse)(p, dots, adds, factor);
    else
        NAME(dense)(p, dots, adds, factor);
}

/* z_j = ⟨a_j, x⟩ for each row of the batch. */
void NAME(dot)(batch_t *p) { NAME(products)(p, 1, 0, 0); }

/* out = Σ_j z_j a_j. */
void NAME(tdot)(batch_t *p) {
    memset(p->out, 0, p->d * sizeof(REAL));
    NAME(products)(p, 0, 1, 1);
}

/* out = factor Σ_j ⟨a_j, x⟩ a_j + shift x, every row read once. */
void NAME(normal)(batch_t *p, double factor, double shift) {
    const REAL *restrict x = (const REAL *)p->x;
    REAL *restrict out = (REAL *)p->out;
    for (int64_t i = 0; i < p->d; i++) out[i] = (REAL)shift * x[i];
    NAME(products)(p, 1, 1, (REAL)factor);
}
#undef LANES
