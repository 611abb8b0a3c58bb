/* Datatypes in messages and reductions, and functions of the program as operations. */
#include "check.h"

struct pair {
    double value;
    int index;
};

struct sparse {
    int a;
    char gap[4];
    double b;
    char end[16];
};

static MPI_Datatype expected_type;

/* (a, b) of x -> a x + b: composition, which does not commute. */
static void compose(void *in, void *inout, int *len, MPI_Datatype *type)
{
    struct sparse *x = in, *y = inout;
    int i;
    CHECK(*type == expected_type);
    for (i = 0; i < *len; i++) {
        y[i].b = x[i].a * y[i].b + x[i].b;
        y[i].a = x[i].a * y[i].a;
    }
}

static void add(void *in, void *inout, MPI_Count *len, MPI_Datatype *type)
{
    int *x = in, *y = inout;
    MPI_Count i;
    CHECK(*type == expected_type);
    for (i = 0; i < *len; i++)
        y[i] += x[i];
}

static MPI_Datatype sparse_type(void)
{
    int lens[2] = {1, 1};
    MPI_Aint places[2] = {0, 8};
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE}, plain, type;
    OK(MPI_Type_create_struct(2, lens, places, types, &plain));
    OK(MPI_Type_create_resized(plain, 0, sizeof(struct sparse), &type));
    OK(MPI_Type_free(&plain));
    OK(MPI_Type_commit(&type));
    return type;
}

static void functions(void)
{
    enum { MANY = 5000 };
    MPI_Op op, large;
    MPI_Datatype type = sparse_type();
    struct sparse *mine = calloc(MANY, sizeof *mine), *all = calloc(MANY, sizeof *all);
    int i, r, commute, *ints = calloc(MANY, sizeof *ints);
    MPI_Request request;
    OK(MPI_Op_create(compose, 0, &op));
    OK(MPI_Op_commutative(op, &commute));
    CHECK(!commute);
    expected_type = type;
    for (i = 0; i < MANY; i++) {
        mine[i].a = 2;
        mine[i].b = rank + i;
        memset(all[i].gap, 7, sizeof all[i].gap);
        memset(all[i].end, 7, sizeof all[i].end);
    }
    OK(MPI_Allreduce(mine, all, MANY, type, op, MPI_COMM_WORLD));
    for (i = 0; i < MANY; i++) {
        double a = 1, b = 0;
        for (r = size - 1; r >= 0; r--)
            b = 2 * b + r + i, a *= 2;
        CHECK(all[i].a == a && all[i].b == b);
        CHECK(all[i].gap[0] == 7 && all[i].end[15] == 7);
    }
    /* A request keeps what the program frees. */
    OK(MPI_Iscan(mine, all, MANY, type, op, MPI_COMM_WORLD, &request));
    OK(MPI_Op_free(&op));
    CHECK(op == MPI_OP_NULL);
    OK(MPI_Type_free(&type));
    CHECK(type == MPI_DATATYPE_NULL);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(all[0].a == 1 << (rank + 1));
    OK(MPI_Op_create_c(add, 1, &large));
    expected_type = MPI_INT;
    for (i = 0; i < MANY; i++)
        ints[i] = i + rank;
    OK(MPI_Allreduce(MPI_IN_PLACE, ints, MANY, MPI_INT, large, MPI_COMM_WORLD));
    for (i = 0; i < MANY; i++)
        CHECK(ints[i] == size * i + size * (size - 1) / 2);
    OK(MPI_Op_free(&large));
    free(mine);
    free(all);
    free(ints);
}

static void predefined(void)
{
    struct pair mine[3] = {{0}}, all[3];
    long double wide, sum = 0, expected = 0;
    int i, r;
    memset(all, 5, sizeof all);
    /* Its padding is sent, too. */
    memset(&wide, 0, sizeof wide);
    wide = 1.0L + rank * 0x1p-60L;
    for (i = 0; i < 3; i++) {
        mine[i].value = (rank * (i + 1)) % 3;
        mine[i].index = rank;
    }
    OK(MPI_Allreduce(mine, all, 3, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD));
    for (i = 0; i < 3; i++) {
        int best = 0;
        for (r = 1; r < size; r++)
            if ((r * (i + 1)) % 3 > (best * (i + 1)) % 3)
                best = r;
        CHECK(all[i].index == best && all[i].value == (best * (i + 1)) % 3);
    }
    OK(MPI_Allreduce(&wide, &sum, 1, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    for (r = 0; r < size; r++)
        expected += 1.0L + r * 0x1p-60L;
    CHECK(sum == expected);
    i = 3;
    r = 4;
    OK(MPI_Reduce_local(&i, &r, 1, MPI_INT, MPI_REPLACE));
    CHECK(r == 3);
    r = 4;
    OK(MPI_Reduce_local(&i, &r, 1, MPI_INT, MPI_NO_OP));
    CHECK(r == 4);
    OK(MPI_Reduce_local(&mine[0], &all[0], 1, MPI_DOUBLE_INT, MPI_MINLOC));
    CHECK(MPI_Reduce_local(&i, &r, 1, MPI_PACKED, MPI_SUM) == MPI_ERR_OP);
    CHECK(MPI_Reduce_local(&i, &r, 1, MPI_INT, MPI_OP_NULL) == MPI_ERR_OP);
}

static void messages(void)
{
    double matrix[4][5], column[4] = {0};
    MPI_Datatype type, doubled, absolute;
    MPI_Aint place;
    MPI_Status status;
    MPI_Request request;
    int i, count, elements, to = (rank + 1) % size, from = (rank + size - 1) % size, one = 1;
    for (i = 0; i < 20; i++)
        matrix[i / 5][i % 5] = i + 100 * rank;
    OK(MPI_Type_vector(4, 1, 5, MPI_DOUBLE, &type));
    CHECK(MPI_Send(matrix, 1, type, to, 1, MPI_COMM_WORLD) == MPI_ERR_TYPE);
    OK(MPI_Type_commit(&type));
    OK(MPI_Irecv(column, 4, MPI_DOUBLE, from, 1, MPI_COMM_WORLD, &request));
    OK(MPI_Send(&matrix[0][2], 1, type, to, 1, MPI_COMM_WORLD));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Get_count(&status, type, &count));
    OK(MPI_Get_elements(&status, type, &elements));
    CHECK(count == 1 && elements == 4);
    for (i = 0; i < 4; i++)
        CHECK(column[i] == 5 * i + 2 + 100 * from);
    /* The datatype goes before the message has arrived; displacements are addresses. */
    OK(MPI_Get_address(matrix, &place));
    OK(MPI_Type_create_hindexed(1, &one, &place, type, &absolute));
    OK(MPI_Type_commit(&absolute));
    OK(MPI_Type_free(&type));
    OK(MPI_Irecv(MPI_BOTTOM, 1, absolute, from, 2, MPI_COMM_WORLD, &request));
    OK(MPI_Type_free(&absolute));
    for (i = 0; i < 4; i++)
        column[i] = rank - i;
    OK(MPI_Type_contiguous(2, MPI_DOUBLE, &type));
    OK(MPI_Type_dup(type, &doubled));
    OK(MPI_Type_commit(&doubled));
    OK(MPI_Send(column, 2, doubled, to, 2, MPI_COMM_WORLD));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Get_count(&status, doubled, &count));
    CHECK(count == 2);
    for (i = 0; i < 4; i++)
        CHECK(matrix[i][0] == from - i && matrix[i][1] == 5 * i + 1 + 100 * rank);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_free(&doubled));
    CHECK(MPI_Type_free(&doubled) == MPI_ERR_TYPE);
}

static void packing(void)
{
    struct sparse values[2] = {{0}}, back[2] = {{0}};
    char buffer[64];
    unsigned char external[40];
    long big = -5;
    int position = 0, bytes, i;
    MPI_Aint at = 0, room;
    MPI_Datatype type = sparse_type(), real;
    for (i = 0; i < 2; i++)
        values[i].a = i + 1, values[i].b = -i - 0.5;
    OK(MPI_Pack_size(2, type, MPI_COMM_WORLD, &bytes));
    CHECK(bytes == 24);
    OK(MPI_Pack(values, 2, type, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
    CHECK(position == 24);
    CHECK(MPI_Pack(values, 2, type, buffer, 40, &position, MPI_COMM_WORLD) == MPI_ERR_TRUNCATE);
    position = 0;
    OK(MPI_Unpack(buffer, sizeof buffer, &position, back, 2, type, MPI_COMM_WORLD));
    CHECK(back[1].a == 2 && back[1].b == -1.5 && position == 24);
    OK(MPI_Pack_external_size("external32", 1, MPI_LONG, &room));
    CHECK(room == 4);
    OK(MPI_Pack_external("external32", &big, 1, MPI_LONG, external, sizeof external, &at));
    CHECK(at == 4 && external[0] == 0xff && external[3] == 0xfb);
    OK(MPI_Pack_external("external32", values, 2, type, external, sizeof external, &at));
    CHECK(at == 28 && external[7] == 1 && external[8] == 0xbf && external[9] == 0xe0);
    at = 0;
    big = 0;
    OK(MPI_Unpack_external("external32", external, 28, &at, &big, 1, MPI_LONG));
    CHECK(big == -5);
    memset(back, 0, sizeof back);
    OK(MPI_Unpack_external("external32", external, 28, &at, back, 2, type));
    CHECK(back[1].a == 2 && back[1].b == -1.5 && at == 28);
    CHECK(MPI_Pack_external("native", &big, 1, MPI_LONG, external, 8, &at) == MPI_ERR_ARG);
    OK(MPI_Type_free(&type));
    OK(MPI_Type_create_f90_real(6, 30, &real));
    OK(MPI_Type_create_f90_real(6, 30, &type));
    CHECK(real == type && MPI_Type_free(&real) == MPI_ERR_TYPE);
    OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &type));
    CHECK(type == MPI_DOUBLE_INT);
}

int main(void)
{
    start();
    functions();
    /* From here on some calls are to fail. */
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    predefined();
    messages();
    packing();
    return finish();
}
