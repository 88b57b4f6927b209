/* Counts what the program sends to each rank, from inside the MPI library's profiling
 * interface: preloaded, it stands between the program and MPI. Messages of collectives
 * do not pass through these functions. At the end each rank writes COUNT_FILE.RANK:
 * one line "destination messages bytes" for each rank that it sent anything to. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 4096

static long long messages[MOST], bytes[MOST];

/* Persistent sends: remembered when made, counted when started. */
static struct { MPI_Request request; int destination; long long size; } made[1 << 16];
static int number_made;

static long long size_of(int count, MPI_Datatype type) {
    int size;
    PMPI_Type_size(type, &size);
    return (long long)count * size;
}

static int world_rank(int rank, MPI_Comm comm) {
    MPI_Group group, world;
    int translated;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_translate_ranks(group, 1, &rank, world, &translated);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world);
    return translated;
}

static void count(int destination, long long size) {
    messages[destination] += 1;
    bytes[destination] += size;
}

int MPI_Isend(const void *buffer, int n, MPI_Datatype type, int destination, int tag,
              MPI_Comm comm, MPI_Request *request) {
    count(world_rank(destination, comm), size_of(n, type));
    return PMPI_Isend(buffer, n, type, destination, tag, comm, request);
}

int MPI_Send(const void *buffer, int n, MPI_Datatype type, int destination, int tag,
             MPI_Comm comm) {
    count(world_rank(destination, comm), size_of(n, type));
    return PMPI_Send(buffer, n, type, destination, tag, comm);
}

int MPI_Send_init(const void *buffer, int n, MPI_Datatype type, int destination,
                  int tag, MPI_Comm comm, MPI_Request *request) {
    int error = PMPI_Send_init(buffer, n, type, destination, tag, comm, request);
    if (number_made == (int)(sizeof made / sizeof *made)) abort();
    made[number_made].request = *request;
    made[number_made].destination = world_rank(destination, comm);
    made[number_made++].size = size_of(n, type);
    return error;
}

static void started(MPI_Request request) {
    /* Backwards: a handle that was freed may have been given out again. */
    for (int k = number_made - 1; k >= 0; k--)
        if (made[k].request == request) {
            count(made[k].destination, made[k].size);
            break;
        }
}

int MPI_Start(MPI_Request *request) {
    started(*request);
    return PMPI_Start(request);
}

int MPI_Startall(int n, MPI_Request requests[]) {
    for (int i = 0; i < n; i++) started(requests[i]);
    return PMPI_Startall(n, requests);
}

int MPI_Request_free(MPI_Request *request) {
    for (int k = 0; k < number_made; k++)
        if (made[k].request == *request) made[k].request = MPI_REQUEST_NULL;
    return PMPI_Request_free(request);
}

int MPI_Finalize(void) {
    int rank;
    char name[4096];
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "%s.%d", getenv("COUNT_FILE"), rank);
    FILE *file = fopen(name, "w");
    for (int i = 0; i < MOST; i++)
        if (messages[i]) fprintf(file, "%d %lld %lld\n", i, messages[i], bytes[i]);
    fclose(file);
    return PMPI_Finalize();
}
