/* Counts what the program sends and receives, from inside the MPI library's profiling
 * interface: preloaded, it stands between the program and MPI. Messages that MPI sends
 * for a collective do not pass through these functions: of a collective the calls are
 * counted, and the bytes that its definition gives to this rank.
 *
 * At the end each rank writes COUNT_FILE.RANK, one line
 *   sent TAG DESTINATION MESSAGES BYTES   for each tag and rank that it sent anything to
 *   collective CALLS BYTES
 * MPI_Pcontrol(1) sets all counts to zero, and MPI_Pcontrol(0) ends the counting. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 4096
#define TAGS 2 /* of gossip, and of sums; all others are counted with the latter */

static struct {
    long long messages[TAGS][MOST], bytes[TAGS][MOST], calls, received;
} counts;
static int counting = 1;

/* Persistent sends: remembered when made, counted when started. */
static struct {
    MPI_Request request;
    int destination, tag;
    long long size;
} made[1 << 16];
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

static void count(int destination, int tag, long long size) {
    if (!counting) return;
    const int row = tag < TAGS ? tag : TAGS - 1;
    counts.messages[row][destination] += 1;
    counts.bytes[row][destination] += size;
}

static void count_collective(long long received) {
    if (!counting) return;
    counts.calls += 1;
    counts.received += received;
}

int MPI_Pcontrol(const int level, ...) {
    if (level) memset(&counts, 0, sizeof counts);
    counting = level;
    return MPI_SUCCESS;
}

int MPI_Isend(const void *buffer, int n, MPI_Datatype type, int destination, int tag,
              MPI_Comm comm, MPI_Request *request) {
    count(world_rank(destination, comm), tag, size_of(n, type));
    return PMPI_Isend(buffer, n, type, destination, tag, comm, request);
}

int MPI_Send(const void *buffer, int n, MPI_Datatype type, int destination, int tag,
             MPI_Comm comm) {
    count(world_rank(destination, comm), tag, size_of(n, type));
    return PMPI_Send(buffer, n, type, destination, tag, comm);
}

int MPI_Send_init(const void *buffer, int n, MPI_Datatype type, int destination,
                  int tag, MPI_Comm comm, MPI_Request *request) {
    int error = PMPI_Send_init(buffer, n, type, destination, tag, comm, request);
    if (number_made == (int)(sizeof made / sizeof *made)) abort();
    made[number_made].request = *request;
    made[number_made].tag = tag;
    made[number_made].destination = world_rank(destination, comm);
    made[number_made++].size = size_of(n, type);
    return error;
}

static void started(MPI_Request request) {
    /* Backwards: a handle that was freed may have been given out again. */
    for (int k = number_made - 1; k >= 0; k--)
        if (made[k].request == request) {
            count(made[k].destination, made[k].tag, made[k].size);
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

int MPI_Barrier(MPI_Comm comm) {
    count_collective(0);
    return PMPI_Barrier(comm);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request) {
    count_collective(0);
    return PMPI_Ibarrier(comm, request);
}

int MPI_Bcast(void *buffer, int n, MPI_Datatype type, int root, MPI_Comm comm) {
    count_collective(size_of(n, type));
    return PMPI_Bcast(buffer, n, type, root, comm);
}

int MPI_Allreduce(const void *own, void *all, int n, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
    count_collective(size_of(n, type));
    return PMPI_Allreduce(own, all, n, type, op, comm);
}

int MPI_Gather(const void *own, int n, MPI_Datatype type, void *all, int each,
               MPI_Datatype kind, int root, MPI_Comm comm) {
    int rank, size;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    count_collective(rank == root ? size * size_of(each, kind) : 0);
    return PMPI_Gather(own, n, type, all, each, kind, root, comm);
}

int MPI_Gatherv(const void *own, int n, MPI_Datatype type, void *all,
                const int each[], const int starts[], MPI_Datatype kind, int root,
                MPI_Comm comm) {
    int rank, size;
    long long total = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    for (int i = 0; rank == root && i < size; i++) total += size_of(each[i], kind);
    count_collective(total);
    return PMPI_Gatherv(own, n, type, all, each, starts, kind, root, comm);
}

int MPI_Allgather(const void *own, int n, MPI_Datatype type, void *all, int each,
                  MPI_Datatype kind, MPI_Comm comm) {
    int size;
    PMPI_Comm_size(comm, &size);
    count_collective(size * size_of(each, kind));
    return PMPI_Allgather(own, n, type, all, each, kind, comm);
}

int MPI_Allgatherv(const void *own, int n, MPI_Datatype type, void *all,
                   const int each[], const int starts[], MPI_Datatype kind,
                   MPI_Comm comm) {
    int size;
    long long total = 0;
    PMPI_Comm_size(comm, &size);
    for (int i = 0; i < size; i++) total += size_of(each[i], kind);
    count_collective(total);
    return PMPI_Allgatherv(own, n, type, all, each, starts, kind, comm);
}

int MPI_Finalize(void) {
    int rank;
    char name[4096];
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "%s.%d", getenv("COUNT_FILE"), rank);
    FILE *file = fopen(name, "w");
    for (int tag = 0; tag < TAGS; tag++)
        for (int i = 0; i < MOST; i++)
            if (counts.messages[tag][i])
                fprintf(file, "sent %d %d %lld %lld\n", tag, i, counts.messages[tag][i],
                        counts.bytes[tag][i]);
    fprintf(file, "collective %lld %lld\n", counts.calls, counts.received);
    fclose(file);
    return PMPI_Finalize();
}
