/* Sessions one after another and at the same time, before MPI_Init, with it, and after MPI_Finalize. */
#include "check.h"
#include <dirent.h>
#include <pthread.h>

/* How many descriptors the process has open, the one to count them with included. */
static int descriptors(void)
{
    DIR *all = opendir("/proc/self/fd");
    int count = 0;
    CHECK(all);
    while (readdir(all))
        count++;
    closedir(all);
    return count;
}

/* The buffer of a session serves the communicators that come from it, and those of their groups. */
static void buffered(MPI_Session session, MPI_Group group, MPI_Comm comm)
{
    static char room[200];
    int own, value = 7, got = 0, bytes, other;
    void *memory;
    MPI_Group alone;
    MPI_Comm made[2];
    OK(MPI_Comm_rank(comm, &own));
    OK(MPI_Group_incl(group, 1, &own, &alone));
    OK(MPI_Comm_create_from_group(alone, "alone", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made[0]));
    OK(MPI_Comm_dup(made[0], &made[1]));
    for (other = 0; other < 2; other++) {
        CHECK(MPI_Bsend(&value, 1, MPI_INT, 0, 1, made[other]) == MPI_ERR_BUFFER);
        OK(MPI_Session_attach_buffer(session, room, sizeof room));
        OK(MPI_Bsend(&value, 1, MPI_INT, 0, 1, made[other]));
        OK(MPI_Recv(&got, 1, MPI_INT, 0, 1, made[other], MPI_STATUS_IGNORE));
        CHECK(got == value);
        CHECK(MPI_Bsend(room, sizeof room + 1, MPI_CHAR, 0, 1, made[other]) == MPI_ERR_BUFFER);
        OK(MPI_Session_flush_buffer(session));
        OK(MPI_Session_detach_buffer(session, &memory, &bytes));
        CHECK(memory == room && bytes == sizeof room);
    }
    OK(MPI_Comm_free(&made[0]));
    OK(MPI_Comm_free(&made[1]));
    OK(MPI_Group_free(&alone));
}

static void once(void)
{
    MPI_Session session, other;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Info info;
    int number, length = 0, flag, sum, one = 1;
    char name[MPI_MAX_PSET_NAME_LEN], value[32];
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other));
    OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &number));
    CHECK(number == 2);
    OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, NULL));
    CHECK(length == 12);
    length = 64;
    OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name));
    CHECK(length == 12 && !strcmp(name, "mpi://WORLD"));
    OK(MPI_Session_get_pset_info(session, name, &info));
    length = sizeof value;
    OK(MPI_Info_get_string(info, "mpi_size", &length, value, &flag));
    OK(MPI_Info_free(&info));
    OK(MPI_Group_from_session_pset(session, name, &group));
    OK(MPI_Group_size(group, &size));
    CHECK(flag && atoi(value) == size);
    OK(MPI_Comm_create_from_group(group, "test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK(sum == size);
    buffered(session, group, comm);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Group_free(&group));
    CHECK(MPI_Group_from_session_pset(session, "other", &group) == MPI_ERR_ARG);
    OK(MPI_Session_finalize(&other));
    OK(MPI_Session_finalize(&session));
    CHECK(session == MPI_SESSION_NULL);
}

static void *begin(void *session)
{
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session));
    return NULL;
}

static void *end(void *session)
{
    OK(MPI_Session_finalize(session));
    return NULL;
}

/* Any thread begins and ends sessions at any time. */
static void at_once(void)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    MPI_Session sessions[THREADS];
    void *(*both[])(void *) = {begin, end};
    int i, which;
    for (which = 0; which < 2; which++) {
        for (i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, both[which], &sessions[i]);
        for (i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
}

int main(void)
{
    int flag, provided, before, round;
    at_once();
    once();
    once();
    /* No session keeps a descriptor, such as those by which a rank learns of the end of another. */
    before = descriptors();
    for (round = 0; round < 10; round++)
        once();
    CHECK(descriptors() == before);
    OK(MPI_Initialized(&flag));
    CHECK(!flag);
    /* The sessions before do not keep the process at their level, nor their thread for the main one. */
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
    CHECK(provided == MPI_THREAD_MULTIPLE);
    OK(MPI_Is_thread_main(&flag));
    CHECK(flag);
    once();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Finalize());
    OK(MPI_Finalized(&flag));
    CHECK(flag);
    once();
    at_once();
    return 0;
}
