/* Gossip rounds in C, timed: `repeats` mixes of `rounds` rounds each. Gives the seconds
 * of this rank, and in `out` the result of one mix of x. */
#include "mixing.h"

double time_rounds(int comm, int form, int degree, const int *neighbours, int d,
                   const double *x, const double *weights, int rounds, int repeats,
                   double *out) {
    MPI_Comm c = MPI_Comm_f2c(comm);
    mixer m = mixer_make(c, (enum form)form, degree, neighbours, d);
    mixer_run(&m, x, weights, rounds, out); /* warm */
    MPI_Barrier(c);
    double start = MPI_Wtime();
    for (int r = 0; r < repeats; r++) mixer_run(&m, x, weights, rounds, out);
    double seconds = MPI_Wtime() - start;
    mixer_free(&m);
    return seconds;
}
