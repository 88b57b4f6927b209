/* M gossip rounds of one vector, as a C programmer would write them: what the rounds of
 * the package are measured against. Two forms, Isend and persistent requests, with one
 * update loop. */
#ifndef MIXING_H
#define MIXING_H

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum form { ISEND, PERSISTENT };

typedef struct {
    MPI_Comm comm;
    enum form form;
    int degree, d;
    const int *neighbours;
    double *own[3];       /* x^{k-1}, x^k, x^{k+1}: they change places */
    double *theirs;       /* degree rows */
    MPI_Request *requests; /* 2 degree; of the persistent form 3 times as many */
} mixer;

static inline mixer mixer_make(MPI_Comm comm, enum form form, int degree,
                               const int *neighbours, int d) {
    mixer m = {comm, form, degree, d, neighbours, {0}, 0, 0};
    for (int k = 0; k < 3; k++) m.own[k] = calloc(d, sizeof(double));
    m.theirs = calloc((size_t)degree * d, sizeof(double));
    m.requests = malloc(6 * degree * sizeof(MPI_Request));
    if (form != ISEND)
        for (int k = 0; k < 3; k++) {
            MPI_Request *request = m.requests + 2 * degree * k;
            for (int j = 0; j < degree; j++) {
                MPI_Recv_init(m.theirs + (size_t)j * d, d, MPI_DOUBLE, neighbours[j],
                              0, comm, request + j);
                MPI_Send_init(m.own[k], d, MPI_DOUBLE, neighbours[j], 0, comm,
                              request + degree + j);
            }
        }
    return m;
}

static inline void mixer_free(mixer *m) {
    if (m->form != ISEND)
        for (int k = 0; k < 6 * m->degree; k++) MPI_Request_free(m->requests + k);
    for (int k = 0; k < 3; k++) free(m->own[k]);
    free(m->theirs);
    free(m->requests);
}

/* weights: for each round those of x^{k-1}, the neighbours and the own x^k; the first
 * round's weight of x^{k-1} is 0. x may be out. */
static inline void mixer_run(mixer *m, const double *x, const double *weights,
                             int rounds, double *out) {
    const int degree = m->degree, d = m->d;
    int before = 0, now = 1, after = 2;
    memcpy(m->own[now], x, d * sizeof(double));
    for (int k = 0; k < rounds; k++) {
        const double *w = weights + (size_t)k * (degree + 2);
        const double *restrict xb = m->own[before], *restrict xn = m->own[now];
        double *restrict xa = m->own[after];
        const double e = w[0], s = w[degree + 1];
        if (m->form == ISEND) {
            for (int j = 0; j < degree; j++)
                MPI_Irecv(m->theirs + (size_t)j * d, d, MPI_DOUBLE, m->neighbours[j], 0,
                          m->comm, m->requests + j);
            for (int j = 0; j < degree; j++)
                MPI_Isend(m->own[now], d, MPI_DOUBLE, m->neighbours[j], 0, m->comm,
                          m->requests + degree + j);
            MPI_Waitall(2 * degree, m->requests, MPI_STATUSES_IGNORE);
        } else {
            MPI_Request *requests = m->requests + 2 * degree * now;
            MPI_Startall(2 * degree, requests);
            MPI_Waitall(2 * degree, requests, MPI_STATUSES_IGNORE);
        }
        if (degree == 1) {
            const double *restrict n0 = m->theirs;
            for (int i = 0; i < d; i++) xa[i] = e * xb[i] + w[1] * n0[i] + s * xn[i];
        } else if (degree == 2) {
            const double *restrict n0 = m->theirs, *restrict n1 = m->theirs + d;
            for (int i = 0; i < d; i++)
                xa[i] = e * xb[i] + w[1] * n0[i] + w[2] * n1[i] + s * xn[i];
        } else {
            for (int i = 0; i < d; i++) xa[i] = e * xb[i] + s * xn[i];
            for (int j = 0; j < degree; j++) {
                const double *restrict nj = m->theirs + (size_t)j * d;
                for (int i = 0; i < d; i++) xa[i] += w[j + 1] * nj[i];
            }
        }
        int free_one = before;
        before = now, now = after, after = free_one;
    }
    memcpy(out, m->own[now], d * sizeof(double));
}

#endif
