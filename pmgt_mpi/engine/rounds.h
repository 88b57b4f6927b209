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

/* Where the requests that receive the neighbours' rows lie, beside own row `now`; those
 * that send it follow. */
static inline char *NAME(requests)(const exchange_t *e, int now) {
    return e->requests + 2 * e->degree * now * e->request_bytes;
}

/* Wait until own row `now` is sent, if the round has not. */
static inline int NAME(wait_sent)(const exchange_t *e, int now) {
    if (!e->patient) return 0;
    char *sends = NAME(requests)(e, now) + e->degree * e->request_bytes;
    return wait_for(e, e->degree, sends);
}

/* Send own row `now` to all neighbours, and receive theirs; 0 or MPI's error. */
static int NAME(trade)(const exchange_t *e, int now) {
    const int degree = e->degree;
    const REAL *own = (const REAL *)e->own + now * e->stride;
    REAL *theirs = (REAL *)e->theirs;
    char *requests = NAME(requests)(e, now);
    int error = 0;
    if (e->persistent) {
        error = e->startall(2 * degree, requests);
    } else {
        for (int j = 0; j < degree && !error; j++)
            error = e->irecv(theirs + j * e->stride, (int)e->size, e->datatype,
                             e->neighbours[j], 0, e->comm,
                             requests + j * e->request_bytes);
        for (int j = 0; j < degree && !error; j++)
            error = e->isend(own, (int)e->size, e->datatype, e->neighbours[j], 0,
                             e->comm, requests + (degree + j) * e->request_bytes);
    }
    if (error) return error;
    return wait_for(e, e->patient ? degree : 2 * degree, requests);
}

/* All rounds of one mix, from own row 1 to `out`. In the first there is no x^{k-1} yet,
 * and its weight is not read; later it is not read itself where it has no weight. If the
 * exchange is patient, an own row may still be on its way in the next round: it is waited
 * for before it is written again. */
static int NAME(rounds)(const mix_t *m, REAL *out) {
    exchange_t *e = m->exchange;
    const REAL *weights = (const REAL *)m->weights;
    const int degree = e->degree, last = (int)m->rounds - 1;
    REAL *own = (REAL *)e->own;
    const REAL *row[degree + 2];
    for (int j = 0; j < degree; j++) row[j + 1] = (REAL *)e->theirs + j * e->stride;
    int now = 1, error = 0;
    for (int k = 0; k <= last; k++) {
        const int after = (now + 1) % OWN, before = (now + 2) % OWN;
        const int skip = k == 0 || weights[0] == 0;
        error = NAME(trade)(e, now);
        if (!error && k > 1) error = NAME(wait_sent)(e, after);
        if (error) return error;
        row[0] = own + before * e->stride;
        row[degree + 1] = own + now * e->stride;
        NAME(update)(k == last ? out : own + after * e->stride, row + skip,
                     weights + skip, degree + 2 - skip, e->size);
        weights += degree + 2;
        now = after;
        e->rounds++; /* here and not at the end: the watchdog sees that it goes on */
    }
    if (last > 0) error = NAME(wait_sent)(e, (now + 1) % OWN);
    return error ? error : NAME(wait_sent)(e, (now + 2) % OWN);
}

/* mix(x): an array, new. */
object_t *NAME(mix)(const object_t *self, const object_t *x) {
    const mix_t *m = (const mix_t *)((const array_t *)self)->data;
    exchange_t *e = m->exchange;
    object_t *made = NULL;
    if (!fits(x, DTYPE, (int)m->nd, m->shape)) {
        x = made = python.vectorcall(m->otherwise, &x, 1, NULL);
        if (!x) return NULL;
    }
    array_t *out = new_array(TYPE, (int)m->nd, m->shape);
    if (out) {
        const size_t bytes = e->size * sizeof(REAL);
        memcpy((REAL *)e->own + e->stride, ((const array_t *)x)->data, bytes);
        void *thread = python.save_thread();
        const int error = NAME(rounds)(m, (REAL *)out->data);
        python.restore_thread(thread);
        if (error) {
            object_t *code = python.from_long(error);
            python.set_error(m->exception, code);
            python.release(code);
            python.release(&out->head);
            out = NULL;
        }
    }
    if (made) python.release(made);
    return (object_t *)out;
}
