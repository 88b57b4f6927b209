/* One epoch of PMGT-KatyushaX (Liu and Low 2024, Algorithm 1) on shift-and-invert PCA in
 * C with BLAS, no regularizer: full gradient, T + 1 inner steps, mixes of M rounds. It
 * is timed over `repeats` epochs from the same state with the same indices; indices are
 * given, not drawn. Gives this rank's seconds, and y, q and s_hat after one epoch. */
#include "mixing.h"
#include "products.h"

typedef struct {
    int64_t n, d, b, inner; /* rows, columns, batch size, T + 1 */
    double eta, tau, c, kappa;
    const double *A, *Q, *shift;             /* ∇f_i(x) = Q x + shift */
    const double *y, *q, *s_hat, *grad_x;    /* the state */
    const int64_t *rows;                     /* inner × b */
    const double *weights;                   /* rounds × (degree + 2) */
    int64_t rounds;
    double *y_out, *q_out, *s_out;
} epoch;

static void one_epoch(const epoch *e, const blas *f, mixer *m, int copied,
                      double *work) {
    const int64_t d = e->d, b = e->b;
    double *x = work, *g = x + d, *s_hat = g + d, *s = s_hat + d, *v = s + d;
    double *w = v + d, *delta = w + d, *out = delta + d, *next = out + d;
    double *z = next + d, *batch = z + b;
    const int rounds = (int)e->rounds;
    for (int64_t i = 0; i < d; i++) x[i] = e->tau * e->q[i] + (1 - e->tau) * e->y[i];
    mixer_run(m, x, e->weights, rounds, x);
    memcpy(g, e->shift, d * sizeof(double));
    f->gemv(ROW_MAJOR, NO_TRANS, d, d, 1.0, e->Q, d, x, 1, 1.0, g, 1);
    for (int64_t i = 0; i < d; i++) s_hat[i] = e->s_hat[i] + g[i] - e->grad_x[i];
    mixer_run(m, s_hat, e->weights, rounds, s_hat);
    memcpy(s, s_hat, d * sizeof(double));
    memcpy(v, s_hat, d * sizeof(double));
    memcpy(w, x, d * sizeof(double));
    const double factor = e->kappa / b;
    for (int64_t t = 0; t < e->inner; t++) {
        const int64_t *rows = e->rows + t * b;
        for (int64_t i = 0; i < d; i++) delta[i] = w[i] - x[i];
        if (copied)
            gathered(f, e->A, d, rows, b, delta, factor, batch, z, out);
        else
            row_by_row(f, e->A, d, rows, b, delta, factor, out);
        for (int64_t i = 0; i < d; i++) {
            next[i] = s_hat[i] + out[i] + e->c * delta[i];
            s[i] += next[i] - v[i];
            v[i] = next[i];
        }
        mixer_run(m, s, e->weights, rounds, s);
        for (int64_t i = 0; i < d; i++) w[i] -= e->eta * s[i];
        mixer_run(m, w, e->weights, rounds, w);
    }
    memcpy(e->y_out, w, d * sizeof(double));
    memcpy(e->s_out, s_hat, d * sizeof(double));
    const double tau = e->tau;
    for (int64_t i = 0; i < d; i++)
        e->q_out[i] = (e->q[i] + tau / 2 * w[i] - (x[i] - w[i]) / (2 * tau)) /
                      (1 + tau / 2);
    mixer_run(m, e->q_out, e->weights, rounds, e->q_out);
}

double time_epochs(int comm, int persistent, int copied, int degree,
                   const int *neighbours, const blas *f, const epoch *e, int repeats) {
    MPI_Comm c = MPI_Comm_f2c(comm);
    mixer m =
        mixer_make(c, persistent ? PERSISTENT : ISEND, degree, neighbours, (int)e->d);
    double *work = malloc((9 * e->d + e->b + e->b * e->d) * sizeof(double));
    one_epoch(e, f, &m, copied, work); /* warm */
    MPI_Barrier(c);
    double start = MPI_Wtime();
    for (int r = 0; r < repeats; r++) one_epoch(e, f, &m, copied, work);
    double seconds = MPI_Wtime() - start;
    free(work);
    mixer_free(&m);
    return seconds;
}
