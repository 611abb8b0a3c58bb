/* Not in the ABI, but in use: handles of Fortran, and the names of MPI-1 that MPI-3 removed. The library exports none of
 * them. Define OXMPI_STRICT to do without. */
#ifndef OXMPI_STRICT
typedef int MPI_Fint;
#define MPI_Comm_c2f(comm) MPI_Comm_toint(comm)
#define PMPI_Comm_c2f(comm) PMPI_Comm_toint(comm)
#define MPI_Comm_f2c(comm) MPI_Comm_fromint(comm)
#define PMPI_Comm_f2c(comm) PMPI_Comm_fromint(comm)
#define MPI_Errhandler_c2f(errhandler) MPI_Errhandler_toint(errhandler)
#define PMPI_Errhandler_c2f(errhandler) PMPI_Errhandler_toint(errhandler)
#define MPI_Errhandler_f2c(errhandler) MPI_Errhandler_fromint(errhandler)
#define PMPI_Errhandler_f2c(errhandler) PMPI_Errhandler_fromint(errhandler)
#define MPI_File_c2f(file) MPI_File_toint(file)
#define PMPI_File_c2f(file) PMPI_File_toint(file)
#define MPI_File_f2c(file) MPI_File_fromint(file)
#define PMPI_File_f2c(file) PMPI_File_fromint(file)
#define MPI_Group_c2f(group) MPI_Group_toint(group)
#define PMPI_Group_c2f(group) PMPI_Group_toint(group)
#define MPI_Group_f2c(group) MPI_Group_fromint(group)
#define PMPI_Group_f2c(group) PMPI_Group_fromint(group)
#define MPI_Info_c2f(info) MPI_Info_toint(info)
#define PMPI_Info_c2f(info) PMPI_Info_toint(info)
#define MPI_Info_f2c(info) MPI_Info_fromint(info)
#define PMPI_Info_f2c(info) PMPI_Info_fromint(info)
#define MPI_Message_c2f(message) MPI_Message_toint(message)
#define PMPI_Message_c2f(message) PMPI_Message_toint(message)
#define MPI_Message_f2c(message) MPI_Message_fromint(message)
#define PMPI_Message_f2c(message) PMPI_Message_fromint(message)
#define MPI_Op_c2f(op) MPI_Op_toint(op)
#define PMPI_Op_c2f(op) PMPI_Op_toint(op)
#define MPI_Op_f2c(op) MPI_Op_fromint(op)
#define PMPI_Op_f2c(op) PMPI_Op_fromint(op)
#define MPI_Request_c2f(request) MPI_Request_toint(request)
#define PMPI_Request_c2f(request) PMPI_Request_toint(request)
#define MPI_Request_f2c(request) MPI_Request_fromint(request)
#define PMPI_Request_f2c(request) PMPI_Request_fromint(request)
#define MPI_Session_c2f(session) MPI_Session_toint(session)
#define PMPI_Session_c2f(session) PMPI_Session_toint(session)
#define MPI_Session_f2c(session) MPI_Session_fromint(session)
#define PMPI_Session_f2c(session) PMPI_Session_fromint(session)
#define MPI_Type_c2f(datatype) MPI_Type_toint(datatype)
#define PMPI_Type_c2f(datatype) PMPI_Type_toint(datatype)
#define MPI_Type_f2c(datatype) MPI_Type_fromint(datatype)
#define PMPI_Type_f2c(datatype) PMPI_Type_fromint(datatype)
#define MPI_Win_c2f(win) MPI_Win_toint(win)
#define PMPI_Win_c2f(win) PMPI_Win_toint(win)
#define MPI_Win_f2c(win) MPI_Win_fromint(win)
#define PMPI_Win_f2c(win) PMPI_Win_fromint(win)

typedef MPI_Comm_errhandler_function MPI_Handler_function;
#define MPI_Address(location, address) MPI_Get_address(location, address)
#define MPI_Errhandler_create(function, errhandler) MPI_Comm_create_errhandler(function, errhandler)
#define MPI_Errhandler_get(comm, errhandler) MPI_Comm_get_errhandler(comm, errhandler)
#define MPI_Errhandler_set(comm, errhandler) MPI_Comm_set_errhandler(comm, errhandler)
#define MPI_Type_hindexed(count, lengths, displacements, oldtype, newtype) \
    MPI_Type_create_hindexed(count, lengths, displacements, oldtype, newtype)
#define MPI_Type_hvector(count, length, stride, oldtype, newtype) \
    MPI_Type_create_hvector(count, length, stride, oldtype, newtype)
#define MPI_Type_struct(count, lengths, displacements, types, newtype) \
    MPI_Type_create_struct(count, lengths, displacements, types, newtype)
#endif

#ifdef __cplusplus
}
#endif
