/* Sessions one after another and at the same time, without MPI_Init. */
#include "check.h"

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
    OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name));
    CHECK(!strcmp(name, "mpi://WORLD"));
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
    OK(MPI_Comm_free(&comm));
    OK(MPI_Group_free(&group));
    CHECK(MPI_Group_from_session_pset(session, "other", &group) == MPI_ERR_ARG);
    OK(MPI_Session_finalize(&other));
    OK(MPI_Session_finalize(&session));
    CHECK(session == MPI_SESSION_NULL);
}

int main(void)
{
    int flag;
    once();
    once();
    OK(MPI_Initialized(&flag));
    CHECK(!flag);
    start();
    once();
    return finish();
}
