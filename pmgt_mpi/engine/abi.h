/* What the engine uses of Python and numpy, written out here: their headers are often not
 * installed, and without them one object serves every version of both.
 *
 * Python's functions belong to its stable ABI. They come as addresses (`attach`), and so
 * does PyArray_New, from the table that numpy keeps for extensions. An array begins so
 * in every release of numpy; abi.py sees that it does before anything is attached. */

typedef struct {
    intptr_t references;
    const void *type;
} object_t; /* PyObject */

typedef struct {
    object_t head;
    char *data;
    int nd;
    const intptr_t *dimensions, *strides;
    const object_t *base, *dtype;
    int flags;
} array_t; /* PyArrayObject */

enum { CONTIGUOUS = 0x001, ALIGNED = 0x100, TYPE_FLOAT = 11, TYPE_DOUBLE = 12 };

typedef struct {
    void *(*save_thread)(void);
    void (*restore_thread)(void *);
    double (*as_double)(const object_t *);
    object_t *(*from_long)(long);
    void (*release)(object_t *);
    object_t *(*vectorcall)(const object_t *, const object_t *const *, size_t,
                            const object_t *);
    object_t *(*error_occurred)(void);
    void (*set_error)(const object_t *, const object_t *);
    array_t *(*new_array)(const void *, int, const intptr_t *, int, const intptr_t *,
                          void *, int, int, object_t *);
    const void *array_type;
    const object_t *dtype_double, *dtype_float, *dtype_index;
} python_t;

static python_t python;

void attach(const python_t *found) { python = *found; }

/* Whether x is an array of this type and shape, and nothing but its numbers in a row. */
static inline int fits(const object_t *x, const object_t *dtype, int nd,
                       const intptr_t *shape) {
    const array_t *a = (const array_t *)x;
    const int whole = CONTIGUOUS | ALIGNED;
    if (x->type != python.array_type || a->dtype != dtype || a->nd != nd ||
        (a->flags & whole) != whole)
        return 0;
    for (int k = 0; k < nd; k++)
        if (shape && a->dimensions[k] != shape[k]) return 0;
    return 1;
}

static inline array_t *new_array(int type, int nd, const intptr_t *shape) {
    return python.new_array(python.array_type, nd, shape, type, NULL, NULL, 0, 0, NULL);
}
