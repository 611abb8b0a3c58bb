/* Random epochs with random accesses: kinds of window, calls, operations, element types, and layouts at both ends. A model
 * of all ranks' memory, which every rank keeps, says what they leave and what they bring.
 * Arguments: how many accesses, and a seed. */
#include "check.h"
#include "elements.h"

enum { PARTS = 3, PART = 6144, BYTES = PARTS * PART, EACH = 40, MOST = 60, MOST_RANKS = 16 };

static uint64_t seed;

/* A number below a bound, of splitmix64: all ranks draw alike. */
static int below(int bound)
{
    uint64_t z = seed += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return (int)((z ^ (z >> 31)) % (uint64_t)bound);
}

/* Places of elements, in the order of a datatype. */
struct layout {
    enum { CONTIGUOUS, VECTOR, INDEXED, BACKWARDS, TWICE, LAYOUTS } kind;
    int count, block, stride, span, places[MOST];
};

static void draw_layout(struct layout *layout, int count)
{
    int i, at = 0, half;
    layout->kind = below(LAYOUTS);
    if (layout->kind == TWICE && count % 2)
        layout->kind = INDEXED;
    layout->count = count;
    layout->block = count % 3 == 0 ? 3 : 1;
    layout->stride = layout->block + below(3);
    for (i = 0; i < count; i++)
        switch (layout->kind) {
        case CONTIGUOUS: layout->places[i] = i; break;
        case VECTOR: layout->places[i] = i / layout->block * layout->stride + i % layout->block; break;
        default: layout->places[i] = at, at += 1 + below(3);
        }
    layout->span = layout->places[count - 1] + 1;
    if (layout->kind == BACKWARDS)
        for (i = 0; i < count / 2; i++) {
            int other = layout->places[count - 1 - i];
            layout->places[count - 1 - i] = layout->places[i], layout->places[i] = other;
        }
    if (layout->kind == TWICE) {
        half = layout->places[count / 2 - 1] + 1 + below(2);
        for (i = count / 2; i < count; i++)
            layout->places[i] = layout->places[i - count / 2] + half;
        layout->stride = half, layout->span = layout->places[count - 1] + 1;
    }
}

/* The datatype of a layout, and how many of it. */
static MPI_Datatype typed(const struct layout *layout, const struct element *element, int *count)
{
    MPI_Datatype type, whole;
    *count = 1;
    switch (layout->kind) {
    case CONTIGUOUS:
        OK(MPI_Type_dup(element->mpi, &type));
        *count = layout->count;
        break;
    case VECTOR:
        OK(MPI_Type_vector(layout->count / layout->block, layout->block, layout->stride, element->mpi, &type));
        break;
    case TWICE:
        OK(MPI_Type_create_indexed_block(layout->count / 2, 1, layout->places, element->mpi, &whole));
        OK(MPI_Type_create_resized(whole, 0, layout->stride * (MPI_Aint)element->size, &type));
        OK(MPI_Type_free(&whole));
        *count = 2;
        break;
    default:
        OK(MPI_Type_create_indexed_block(layout->count, 1, layout->places, element->mpi, &type));
    }
    OK(MPI_Type_commit(&type));
    return type;
}

/* How a part of a rank's memory is used in an epoch, and by whom: puts do not meet, and all combine by one operation, but
 * an origin that is alone may do so by several. */
struct part {
    enum { PUTS, GETS, COMBINES, ORDERED, USES } use;
    const struct element *element;
    enum operation op;
    int owner, used;
};

struct access {
    enum { PUT, GET, ACCUMULATE, GET_ACCUMULATE, FETCH, SWAP } call;
    const struct element *element;
    enum operation op;
    int origin, target, part, first, count;
    struct layout from, to, into;
    /* At the origin: the operands, what was brought, and what should have been, if that is known. */
    char *operands, *brought, *expected;
};

static char *memory, *model[MOST_RANKS];
static struct part parts[MOST_RANKS][PARTS];
static MPI_Aint bases[MOST_RANKS];
static int unit;
static MPI_Win win;

static char *place(char *base, const struct access *access, int i)
{
    return base + access->part * PART + (access->first + access->to.places[i]) * access->element->size;
}

/* An element of a small number; products stay powers of two, which all types have. */
static void set(const struct element *element, enum operation op, void *at)
{
    static const int factors[] = {1, -1, 2, -2};
    int value = op == PROD ? factors[below(4)] : below(7) - 3, other = below(5);
    element->set(at, value, other);
}

/* New uses of all parts, and new elements there. */
static void renew(void)
{
    int owner, i;
    size_t at;
    for (owner = 0; owner < size; owner++)
        for (i = 0; i < PARTS; i++) {
            struct part *part = &parts[owner][i];
            part->use = below(USES), part->owner = below(size), part->used = 0;
            part->element = &elements[below(ELEMENTS)];
            part->op = part->element->ops[below(part->element->op_count)];
            memset(model[owner] + i * PART, 0, PART);
            for (at = 0; at < PART; at += part->element->size)
                set(part->element, SUM, model[owner] + i * PART + at);
        }
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win));
    memcpy(memory, model[rank], BYTES);
    OK(MPI_Win_unlock(rank, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Draws an access; false if its part has no room for it. */
static bool draw_access(struct access *access)
{
    static const int longest[] = {1, 4, 20, MOST};
    struct part *part;
    int slots, align = 1;
    memset(access, 0, sizeof *access);
    access->target = below(size), access->part = below(PARTS);
    part = &parts[access->target][access->part];
    access->element = part->element, access->op = part->op;
    access->origin = part->use == PUTS || part->use == ORDERED ? part->owner : below(size);
    access->count = 1 + below(longest[below(4)]);
    access->call = part->use == PUTS ? PUT : part->use == GETS ? GET : ACCUMULATE + below(2);
    if (part->use == ORDERED)
        switch (below(6)) {
        case 0: access->op = REPLACE; break;
        case 1: access->op = NO_OP, access->call = GET_ACCUMULATE; break;
        case 2: access->call = FETCH; break;
        case 3: access->call = part->element->ops == integer_ops ? SWAP : FETCH; break;
        default: access->op = part->element->ops[below(part->element->op_count)];
        }
    if (access->call == FETCH || access->call == SWAP)
        access->count = 1;
    draw_layout(&access->from, access->count);
    draw_layout(&access->to, access->count);
    draw_layout(&access->into, access->count);
    slots = PART / (int)access->element->size - access->to.span;
    /* A displacement is a number of units. */
    while (align * (int)access->element->size % unit)
        align++;
    if (part->use == PUTS) {
        access->first = (part->used + align - 1) / align * align;
        part->used = access->first + access->to.span;
    } else
        access->first = below(slots + 1) / align * align;
    return access->first <= slots;
}

/* Draws the operands, does the access to the model, and notes what it should bring. */
static void foresee(struct access *access)
{
    const struct element *element = access->element;
    size_t width = element->size;
    char operand[2][sizeof(long double)], *at;
    bool mine = access->origin == rank, hits;
    int i;
    if (mine) {
        access->operands = malloc((access->from.span + 2) * width);
        access->brought = malloc(access->into.span * width);
        access->expected = malloc(access->count * width);
        memset(access->brought, 0x5a, access->into.span * width);
    }
    for (i = 0; i < access->count; i++) {
        memset(operand, 0, sizeof operand);
        set(element, access->op, operand[0]), set(element, access->op, operand[1]);
        at = place(model[access->target], access, i);
        if (access->call == SWAP && below(2))
            element->copy(operand[0], at);
        if (mine) {
            memcpy(access->expected + i * width, at, width);
            memcpy(access->operands + access->from.places[i] * width, operand[0], width);
            if (access->call == SWAP)
                memcpy(access->operands + (access->from.span + 1) * width, operand[1], width);
        }
        hits = element->same(at, operand[0]);
        if (access->call == PUT || (access->call > GET && access->call != SWAP && access->op == REPLACE))
            element->copy(at, operand[0]);
        else if (access->call == SWAP && hits)
            element->copy(at, operand[1]);
        else if (access->call > GET && access->call != SWAP && access->op != NO_OP)
            element->combine(access->op, at, operand[0]);
    }
}

/* Does the access; gives its request, if it `asks` for one. */
static MPI_Request make(struct access *access, bool asks)
{
    const struct element *element = access->element;
    MPI_Op op = mpi_ops[access->op];
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Aint at = bases[access->target] + (access->part * PART + access->first * (MPI_Aint)element->size) / unit;
    int counts[3], target = access->target;
    MPI_Datatype from = typed(&access->from, element, &counts[0]), to = typed(&access->to, element, &counts[1]),
                 into = typed(&access->into, element, &counts[2]);
    char *operands = access->operands, *brought = access->brought;
    switch (access->call) {
    case PUT:
        if (asks)
            OK(MPI_Rput(operands, counts[0], from, target, at, counts[1], to, win, &request));
        else
            OK(MPI_Put(operands, counts[0], from, target, at, counts[1], to, win));
        break;
    case GET:
        if (asks)
            OK(MPI_Rget(brought, counts[2], into, target, at, counts[1], to, win, &request));
        else
            OK(MPI_Get(brought, counts[2], into, target, at, counts[1], to, win));
        break;
    case ACCUMULATE:
        if (asks)
            OK(MPI_Raccumulate(operands, counts[0], from, target, at, counts[1], to, op, win, &request));
        else
            OK(MPI_Accumulate(operands, counts[0], from, target, at, counts[1], to, op, win));
        break;
    case GET_ACCUMULATE:
        if (asks)
            OK(MPI_Rget_accumulate(operands, counts[0], from, brought, counts[2], into, target, at, counts[1], to, op, win,
                &request));
        else
            OK(MPI_Get_accumulate(operands, counts[0], from, brought, counts[2], into, target, at, counts[1], to, op, win));
        break;
    case FETCH:
        OK(MPI_Fetch_and_op(operands, brought, element->mpi, target, at, op, win));
        break;
    case SWAP:
        /* The new element, and what it takes the place of. */
        OK(MPI_Compare_and_swap(operands + (access->from.span + 1) * element->size, operands, brought, element->mpi, target,
            at, win));
        break;
    }
    OK(MPI_Type_free(&from));
    OK(MPI_Type_free(&to));
    OK(MPI_Type_free(&into));
    return request;
}

/* Checks what an access has brought, and that bytes between its elements are as they were. */
static void check(const struct access *access)
{
    const struct element *element = access->element;
    char untouched[sizeof(long double)];
    bool known = parts[access->target][access->part].use != COMBINES;
    int i, slot;
    if (access->call == PUT || access->call == ACCUMULATE)
        return;
    memset(untouched, 0x5a, sizeof untouched);
    for (slot = 0; slot < access->into.span; slot++) {
        const char *brought = access->brought + slot * element->size;
        for (i = 0; i < access->count && access->into.places[i] != slot; i++)
            ;
        if (i == access->count)
            CHECK(memcmp(brought, untouched, element->size) == 0);
        else if (known)
            CHECK(element->same(brought, access->expected + i * element->size));
    }
}

/* The kinds of epochs. */
enum { FENCE, GENERAL, LOCK, LOCK_ALL, LOCKS, EPOCHS };

static bool reaches[MOST_RANKS][MOST_RANKS];

static MPI_Group group_of(bool accessed)
{
    MPI_Group all, some;
    int other, count = 0, ranks[MOST_RANKS];
    for (other = 0; other < size; other++)
        if (accessed ? reaches[rank][other] : reaches[other][rank])
            ranks[count++] = other;
    OK(MPI_Win_get_group(win, &all));
    OK(MPI_Group_incl(all, count, ranks, &some));
    OK(MPI_Group_free(&all));
    return some;
}

static void begin(int kind)
{
    int other;
    MPI_Group to, from;
    switch (kind) {
    case FENCE: OK(MPI_Win_fence(below(2) ? MPI_MODE_NOPRECEDE : 0, win)); break;
    case GENERAL:
        to = group_of(true), from = group_of(false);
        OK(MPI_Win_post(from, 0, win));
        OK(MPI_Win_start(to, 0, win));
        OK(MPI_Group_free(&to));
        OK(MPI_Group_free(&from));
        break;
    case LOCK_ALL: OK(MPI_Win_lock_all(0, win)); break;
    case LOCKS:
        for (other = 0; other < size; other++)
            OK(MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win));
    }
}

static void end(int kind)
{
    int other, flag;
    switch (kind) {
    case FENCE: OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win)); break;
    case GENERAL:
        OK(MPI_Win_complete(win));
        for (flag = 0; !flag;)
            OK(MPI_Win_test(win, &flag));
        break;
    case LOCK_ALL: OK(MPI_Win_unlock_all(win)); break;
    case LOCKS:
        for (other = size - 1; other >= 0; other--)
            OK(MPI_Win_unlock(other, win));
    }
}

/* Completes an access of a passive epoch, perhaps. */
static void complete(struct access *access, MPI_Request *request, int how)
{
    switch (how) {
    case 0: OK(MPI_Win_flush(access->target, win)); break;
    case 1: OK(MPI_Win_flush_all(win)); break;
    case 2: OK(MPI_Win_flush_local(access->target, win)); break;
    case 3: OK(MPI_Win_flush_local_all(win)); break;
    case 4:
        if (*request == MPI_REQUEST_NULL)
            return;
        OK(MPI_Wait(request, MPI_STATUS_IGNORE));
        break;
    default: return;
    }
    check(access);
}

static void epoch(void)
{
    static struct access accesses[EACH];
    MPI_Request requests[EACH];
    int kind = below(EPOCHS), count = 0, i, other;
    renew();
    for (i = 0; i < size; i++)
        for (other = 0; other < size; other++)
            reaches[i][other] = below(2);
    begin(kind);
    for (i = 0; i < EACH; i++) {
        struct access *access = &accesses[count];
        int exclusive, how, asks;
        bool drawn = draw_access(access);
        exclusive = below(3) == 0, how = below(8), asks = below(2);
        if (!drawn || (kind == GENERAL && !reaches[access->origin][access->target]))
            continue;
        foresee(access);
        if (access->origin != rank)
            continue;
        if (kind == LOCK)
            OK(MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, access->target, 0, win));
        requests[count] = make(access, asks && kind >= LOCK);
        if (kind >= LOCK)
            complete(access, &requests[count], how);
        if (kind == LOCK)
            OK(MPI_Win_unlock(access->target, win));
        count++;
    }
    OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    end(kind);
    for (i = 0; i < count; i++) {
        check(&accesses[i]);
        free(accesses[i].operands), free(accesses[i].brought), free(accesses[i].expected);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    for (i = 0; i < PARTS; i++) {
        const struct element *element = parts[rank][i].element;
        size_t at;
        for (at = 0; at < PART; at += element->size)
            CHECK(element->same(memory + i * PART + at, model[rank] + i * PART + at));
    }
    OK(MPI_Win_unlock(rank, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void epochs(int steps)
{
    for (; steps > 0; steps -= EACH)
        epoch();
    OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    int steps = argc > 1 ? atoi(argv[1]) : 2000, i, together;
    char *private = malloc(BYTES);
    MPI_Aint base;
    MPI_Comm node;
    start();
    CHECK(size <= MOST_RANKS);
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    for (i = 0; i < size; i++)
        model[i] = malloc(BYTES);

    unit = 1 << below(4);
    memory = private;
    OK(MPI_Win_create(memory, BYTES, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    epochs(steps / 5);

    OK(MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &memory));
    OK(MPI_Win_create(memory, BYTES, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    epochs(steps / 5);
    OK(MPI_Free_mem(memory));

    unit = 1 << below(4);
    OK(MPI_Win_allocate(BYTES, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    epochs(steps / 5);

    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    OK(MPI_Comm_size(node, &together));
    OK(MPI_Comm_free(&node));
    OK(MPI_Allreduce(MPI_IN_PLACE, &together, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    if (together == size) {
        OK(MPI_Win_allocate_shared(BYTES, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
        epochs(steps / 5);
    }

    unit = 1;
    memory = private;
    OK(MPI_Get_address(memory, &base));
    OK(MPI_Allgather(&base, 1, MPI_AINT, bases, 1, MPI_AINT, MPI_COMM_WORLD));
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_attach(win, memory, BYTES));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    epochs(steps / 5);

    free(private);
    for (i = 0; i < size; i++)
        free(model[i]);
    return finish();
}
