/* The messages of one agent: buffers of numpy, requests of MPI, and MPI's functions by
 * address. A handle of MPI is an int or a pointer, as its size tells. */

enum { OWN = 3, ASKS = 8 };

typedef struct exchange exchange_t;

typedef struct {
    int (*isend)(const exchange_t *, const void *row, int neighbour, char *request);
    int (*irecv)(const exchange_t *, void *row, int neighbour, char *request);
    int (*startall)(const exchange_t *, int number, char *requests);
    int (*testall)(const exchange_t *, int number, char *requests, int *done);
    int bytes; /* of a handle */
} mpi_t;

struct exchange {
    const mpi_t *mpi;
    unsigned long long isend, irecv, startall, testall; /* addresses */
    unsigned long long comm, datatype;                  /* handles */
    int persistent; /* or Isend and Irecv, anew in each round */
    int patient;    /* a round does not wait until its own row is sent */
    int degree;     /* neighbours */
    int size;       /* of a vector */
    Py_buffer neighbours; /* int32 */
    Py_buffer requests;   /* for each own row: degree to receive, degree to send it */
    Py_buffer statuses;   /* room for 2 degree, never read */
    Py_buffer own;        /* OWN rows: x^{k-1}, x^k, x^{k+1} change places */
    Py_buffer theirs;     /* degree rows */
    Py_buffer rounds;     /* so far: int64 */
};

#define MPI_OF(KIND, HANDLE)                                                           \
    static int isend_##KIND(const exchange_t *e, const void *row, int neighbour,       \
                            char *request) {                                           \
        int (*call)(const void *, int, HANDLE, int, int, HANDLE, HANDLE *) =           \
            (void *)(uintptr_t)e->isend;                                               \
        return call(row, e->size, (HANDLE)(intptr_t)e->datatype, neighbour, 0,         \
                    (HANDLE)(intptr_t)e->comm, (HANDLE *)request);                     \
    }                                                                                  \
    static int irecv_##KIND(const exchange_t *e, void *row, int neighbour,             \
                            char *request) {                                           \
        int (*call)(void *, int, HANDLE, int, int, HANDLE, HANDLE *) =                 \
            (void *)(uintptr_t)e->irecv;                                               \
        return call(row, e->size, (HANDLE)(intptr_t)e->datatype, neighbour, 0,         \
                    (HANDLE)(intptr_t)e->comm, (HANDLE *)request);                     \
    }                                                                                  \
    static int startall_##KIND(const exchange_t *e, int number, char *requests) {      \
        int (*call)(int, HANDLE *) = (void *)(uintptr_t)e->startall;                   \
        return call(number, (HANDLE *)requests);                                       \
    }                                                                                  \
    static int testall_##KIND(const exchange_t *e, int number, char *requests,         \
                              int *done) {                                             \
        int (*call)(int, HANDLE *, int *, void *) = (void *)(uintptr_t)e->testall;     \
        return call(number, (HANDLE *)requests, done, e->statuses.buf);                \
    }                                                                                  \
    static const mpi_t mpi_##KIND = {isend_##KIND, irecv_##KIND, startall_##KIND,      \
                                     testall_##KIND, sizeof(HANDLE)};

MPI_OF(of_ints, int)
MPI_OF(of_pointers, void *)
#undef MPI_OF

/* Wait for some requests. Some MPIs' own wait keeps the core, which the rank that is
 * waited for may need: with more ranks than cores a round then takes some time slices
 * of the system. So MPI is asked again and again, and now and then others run. */
static int wait_for(const exchange_t *e, int number, char *requests) {
    for (unsigned asked = 1;; asked++) {
        int done = 0;
        const int error = e->mpi->testall(e, number, requests, &done);
        if (error || done) return error;
        if (asked % ASKS == 0) sched_yield();
    }
}

/* Where the requests that receive the neighbours' rows lie, beside own row `now`; those
 * that send it follow. */
static inline char *requests_of(const exchange_t *e, int now) {
    return (char *)e->requests.buf + 2 * e->degree * now * e->mpi->bytes;
}

/* Wait until own row `now` is sent, if the round has not. */
static inline int wait_sent(const exchange_t *e, int now) {
    if (!e->patient) return 0;
    return wait_for(e, e->degree, requests_of(e, now) + e->degree * e->mpi->bytes);
}

/* Start to send own row `now` to all neighbours, and to receive theirs; 0 or MPI's
 * error. */
static int post(const exchange_t *e, int now) {
    const int degree = e->degree;
    char *requests = requests_of(e, now);
    int error = 0;
    if (e->persistent) {
        error = e->mpi->startall(e, 2 * degree, requests);
    } else {
        const int32_t *neighbours = e->neighbours.buf;
        const char *own = (char *)e->own.buf + now * e->own.strides[0];
        char *theirs = e->theirs.buf, *request = requests;
        for (int j = 0; j < degree && !error; j++, request += e->mpi->bytes)
            error = e->mpi->irecv(e, theirs + j * e->theirs.strides[0], neighbours[j],
                                  request);
        for (int j = 0; j < degree && !error; j++, request += e->mpi->bytes)
            error = e->mpi->isend(e, own, neighbours[j], request);
    }
    return error;
}

/* Wait for the neighbours' rows, and if the exchange is not patient, until own row `now`
 * is sent. */
static inline int arrive(const exchange_t *e, int now) {
    return wait_for(e, e->patient ? e->degree : 2 * e->degree, requests_of(e, now));
}

static const char EXCHANGE[] = "pmgt_mpi exchange";

static void end_exchange(PyObject *capsule) {
    exchange_t *e = PyCapsule_GetPointer(capsule, EXCHANGE);
    Py_buffer *views[] = {&e->neighbours, &e->requests, &e->statuses,
                          &e->own,        &e->theirs,   &e->rounds};
    for (size_t k = 0; k < sizeof views / sizeof *views; k++)
        if (views[k]->obj) PyBuffer_Release(views[k]);
    PyMem_Free(e);
}

/* Whether an array has this many rows of the exchange's vectors. */
static int holds_rows(const exchange_t *e, const Py_buffer *view, int rows) {
    return view->ndim == 2 && view->shape[0] == rows && view->shape[1] == e->size &&
           view->itemsize == e->own.itemsize && view->strides[1] == view->itemsize;
}

/* exchange((isend, irecv, startall, testall), handle_bytes, comm, datatype, persistent,
 *          patient, neighbours, requests, statuses, own, theirs, rounds) */
static PyObject *exchange(PyObject *module, PyObject *arguments) {
    (void)module;
    PyObject *capsule;
    exchange_t *e = make_state(sizeof *e, EXCHANGE, end_exchange, &capsule);
    if (!e) return NULL;
    int bytes;
    PyObject *own, *theirs;
    const int flags = PyBUF_STRIDES | PyBUF_WRITABLE;
    if (!PyArg_ParseTuple(arguments, "(KKKK)iKKppy*w*w*OOw*", &e->isend, &e->irecv,
                          &e->startall, &e->testall, &bytes, &e->comm, &e->datatype,
                          &e->persistent, &e->patient, &e->neighbours, &e->requests,
                          &e->statuses, &own, &theirs, &e->rounds) ||
        PyObject_GetBuffer(own, &e->own, flags) ||
        PyObject_GetBuffer(theirs, &e->theirs, flags)) {
        Py_DecRef(capsule);
        return NULL;
    }
    e->mpi = bytes == mpi_of_ints.bytes ? &mpi_of_ints : &mpi_of_pointers;
    e->degree = (int)(e->neighbours.len / (Py_ssize_t)sizeof(int32_t));
    e->size = e->own.ndim == 2 ? (int)e->own.shape[1] : 0;
    if (bytes != e->mpi->bytes || e->degree < 1 || !holds_rows(e, &e->own, OWN) ||
        !holds_rows(e, &e->theirs, e->degree) ||
        e->requests.len != 2 * (Py_ssize_t)OWN * e->degree * bytes ||
        e->rounds.len != sizeof(int64_t)) {
        PyErr_SetString(PyExc_ValueError, "the buffers of an exchange do not fit");
        Py_DecRef(capsule);
        return NULL;
    }
    return capsule;
}
