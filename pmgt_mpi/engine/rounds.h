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

/* Send row `now` to all neighbours and receive theirs; 0 or MPI's error. */
static int NAME(trade)(exchange_t *e, const REAL *own, REAL *theirs, int now) {
    const int degree = e->degree;
    char *requests = e->requests;
    int error = 0;
    if (e->persistent) {
        requests += 2 * degree * now * e->request_bytes;
        error = e->startall(2 * degree, requests);
    } else {
        for (int j = 0; j < degree && !error; j++)
            error = e->irecv(theirs + j * e->size, (int)e->size, e->datatype,
                             e->neighbours[j], 0, e->comm,
                             requests + j * e->request_bytes);
        for (int j = 0; j < degree && !error; j++)
            error = e->isend(own, (int)e->size, e->datatype, e->neighbours[j], 0,
                             e->comm, requests + (degree + j) * e->request_bytes);
    }
    return error ? error : e->waitall(2 * degree, requests, e->statuses);
}

/* All rounds of one mix. It starts from own row 1, and leaves its result in own row
 * (1 + rounds) mod 3. In the first there is no x^{k-1} yet, and its weight is
 * not read. */
int NAME(mix)(const mix_t *m) {
    exchange_t *e = m->exchange;
    const REAL *weights = (const REAL *)m->weights;
    const int degree = e->degree;
    REAL *own = (REAL *)e->own, *theirs = (REAL *)e->theirs;
    const REAL *row[degree + 2];
    for (int j = 0; j < degree; j++) row[j + 1] = theirs + j * e->size;
    int now = 1;
    for (int64_t k = 0; k < m->rounds; k++) {
        const int after = (now + 1) % 3, before = (now + 2) % 3;
        const int error = NAME(trade)(e, own + now * e->size, theirs, now);
        if (error) return error;
        row[0] = own + before * e->size;
        row[degree + 1] = own + now * e->size;
        const int skip = k == 0;
        NAME(update)(own + after * e->size, row + skip, weights + skip,
                     degree + 2 - skip, e->size);
        weights += degree + 2;
        now = after;
    }
    return 0;
}
