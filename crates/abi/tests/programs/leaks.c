/* Ends with objects that it has not freed; with "freed" without any. */
#include "check.h"

static void handler(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Datatype pair, real;
    MPI_Info info[2];
    MPI_Request request;
    MPI_Errhandler made;
    int value;
    start();
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_name(comm, "halo"));
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Info_create(&info[0]));
    OK(MPI_Info_create(&info[1]));
    OK(MPI_Recv_init(&value, 1, MPI_INT, 0, 0, comm, &request));
    /* Neither what the library keeps nor what a predefined communicator holds is the program's to free. */
    OK(MPI_Type_create_f90_real(6, 30, &real));
    OK(MPI_Comm_create_errhandler(handler, &made));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, made));
    OK(MPI_Errhandler_free(&made));
    if (argc > 1 && !strcmp(argv[1], "freed")) {
        OK(MPI_Request_free(&request));
        OK(MPI_Info_free(&info[0]));
        OK(MPI_Info_free(&info[1]));
        OK(MPI_Type_free(&pair));
        OK(MPI_Comm_free(&comm));
    }
    return finish();
}
