/* Gossip rounds of vectors of REAL; included by kernels.c for each type. */

/* out = Σ_r w[r] row[r], the rows added in their order: x^{k-1}, the neighbours by id,
 * x^k. A block of the result stays in the first-level cache while rows are added. */
static void NAME(update)(REAL *restrict out, const REAL *const *row, const REAL *w,
                         int rows, int64_t size) {
    enum { BLOCK = 1024 };
    for (int64_t start = 0; start < size; start += BLOCK) {
        const int64_t stop = start + BLOCK < size ? start + BLOCK : size;
        int r = 0;
        if (rows >= 4) {
            const REAL *restrict a = row[0], *restrict b = row[1];
            const REAL *restrict c = row[2], *restrict d = row[3];
            for (int64_t i = start; i < stop; i++)
                out[i] = w[0] * a[i] + w[1] * b[i] + w[2] * c[i] + w[3] * d[i];
            r = 4;
        } else if (rows == 3) {
            const REAL *restrict a = row[0], *restrict b = row[1];
            const REAL *restrict c = row[2];
            for (int64_t i = start; i < stop; i++)
                out[i] = w[0] * a[i] + w[1] * b[i] + w[2] * c[i];
            r = 3;
        } else {
            const REAL *restrict a = row[0], *restrict b = row[1];
            for (int64_t i = start; i < stop; i++) out[i] = w[0] * a[i] + w[1] * b[i];
            r = 2;
        }
        for (; r < rows; r++) {
            const REAL *restrict a = row[r];
            for (int64_t i = start; i < stop; i++) out[i] += w[r] * a[i];
        }
    }
}

/* All rounds of one mix, from own row 1 to `out`; the messages of the first may have been
 * started. In the first there is no x^{k-1} yet,
 * and its weight is not read; later it is not read itself where it has no weight. If the
 * exchange is patient, an own row may still be on its way in the next round: it is waited
 * for before it is written again. */
static int NAME(rounds)(exchange_t *e, const void *all_weights, int64_t rounds,
                        int started, void *out) {
    const REAL *weights = all_weights;
    const int degree = e->degree;
    const int64_t last = rounds - 1;
    const REAL *row[degree + 2];
    REAL *own[OWN];
    for (int r = 0; r < OWN; r++)
        own[r] = (REAL *)((char *)e->own.buf + r * e->own.strides[0]);
    for (int j = 0; j < degree; j++)
        row[j + 1] = (REAL *)((char *)e->theirs.buf + j * e->theirs.strides[0]);
    int now = 1, error = 0;
    for (int64_t k = 0; k <= last; k++) {
        const int after = (now + 1) % OWN, before = (now + 2) % OWN;
        const int skip = k == 0 || weights[0] == 0;
        if (k > 0 || !started) error = post(e, now);
        if (!error) error = arrive(e, now);
        if (!error && k > 1) error = wait_sent(e, after);
        if (error) return error;
        row[0] = own[before];
        row[degree + 1] = own[now];
        NAME(update)(k == last ? out : own[after], row + skip, weights + skip,
                     degree + 2 - skip, e->size);
        weights += degree + 2;
        now = after;
        ++*(int64_t *)e->rounds.buf; /* here: the watchdog sees that it goes on */
    }
    if (last > 0) error = wait_sent(e, (now + 1) % OWN);
    return error ? error : wait_sent(e, (now + 2) % OWN);
}
