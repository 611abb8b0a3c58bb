/* Calls from several threads at once, then from one after another; fork and exec between. With the argument "serialized"
   another thread than the first ends the library. */
#include "check.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 200 };

static void *exchange(void *number)
{
    int tag = (int)(size_t)number, i, value, flag;
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Comm own;
    OK(MPI_Is_thread_main(&flag));
    CHECK(!flag);
    for (i = 0; i < ROUNDS; i++) {
        MPI_Request requests[2];
        int out = 1000 * tag + i + rank;
        OK(MPI_Irecv(&value, 1, MPI_INT, left, tag, MPI_COMM_WORLD, &requests[0]));
        OK(MPI_Isend(&out, 1, MPI_INT, right, tag, MPI_COMM_WORLD, &requests[1]));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK(value == 1000 * tag + i + left);
        OK(MPI_Sendrecv(&out, 1, MPI_INT, right, tag, &value, 1, MPI_INT, left, tag, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
        CHECK(value == 1000 * tag + i + left);
        OK(MPI_Comm_dup(MPI_COMM_SELF, &own));
        OK(MPI_Comm_free(&own));
    }
    return NULL;
}

static void *finalize(void *ignored)
{
    (void)ignored;
    OK(MPI_Finalize());
    return NULL;
}

int main(int argc, char **argv)
{
    int provided, i, flag, status, wanted;
    pthread_t threads[THREADS];
    wanted = argc > 1 && !strcmp(argv[1], "serialized") ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE;
    OK(MPI_Init_thread(NULL, NULL, wanted, &provided));
    CHECK(provided == wanted);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Is_thread_main(&flag));
    CHECK(flag);
    if (fork() == 0)
        execlp("true", "true", NULL);
    wait(&status);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    if (wanted == MPI_THREAD_SERIALIZED) {
        OK(MPI_Barrier(MPI_COMM_WORLD));
        pthread_create(&threads[0], NULL, finalize, NULL);
        pthread_join(threads[0], NULL);
        OK(MPI_Finalized(&flag));
        return !flag;
    }
    for (i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, exchange, (void *)(size_t)i);
    for (i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return finish();
}
