/* The predefined element types on which windows have operations, with what a test needs of each. */
#include <complex.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct short_int { short value; int index; };
struct two_int { int value; int index; };
struct long_int { long value; int index; };
struct float_int { float value; int index; };
struct double_int { double value; int index; };

/* Name, C type, type in which it wraps, MPI type. */
#define INTEGERS(X)                                                                                                    \
    X(i8, int8_t, uint8_t, MPI_INT8_T) X(i16, int16_t, uint16_t, MPI_INT16_T) X(i32, int32_t, uint32_t, MPI_INT32_T)   \
    X(i64, int64_t, uint64_t, MPI_INT64_T) X(u8, uint8_t, uint8_t, MPI_UINT8_T)                                        \
    X(u16, uint16_t, uint16_t, MPI_UINT16_T) X(u32, uint32_t, uint32_t, MPI_UINT32_T)                                  \
    X(u64, uint64_t, uint64_t, MPI_UINT64_T) X(l, long, unsigned long, MPI_LONG)
#define FLOATS(X)                                                                                                      \
    X(f32, float, float, MPI_FLOAT) X(f64, double, double, MPI_DOUBLE)                                                 \
    X(f80, long double, long double, MPI_LONG_DOUBLE)
#define COMPLEXES(X)                                                                                                   \
    X(c32, float _Complex, float _Complex, MPI_C_FLOAT_COMPLEX)                                                        \
    X(c64, double _Complex, double _Complex, MPI_C_DOUBLE_COMPLEX)
#define PAIRS(X)                                                                                                       \
    X(si, struct short_int, short, MPI_SHORT_INT) X(ii, struct two_int, int, MPI_2INT)                                 \
    X(li, struct long_int, long, MPI_LONG_INT) X(fi, struct float_int, float, MPI_FLOAT_INT)                           \
    X(di, struct double_int, double, MPI_DOUBLE_INT)

/* Operations; the last two belong to windows. */
enum operation { SUM, PROD, MIN, MAX, BAND, BOR, BXOR, LAND, LOR, LXOR, MINLOC, MAXLOC, REPLACE, NO_OP, END };

static const enum operation integer_ops[] = {SUM, PROD, MIN, MAX, BAND, BOR, BXOR, LAND, LOR, LXOR};
static const enum operation float_ops[] = {SUM, PROD, MIN, MAX};
static const enum operation complex_ops[] = {SUM};
static const enum operation pair_ops[] = {MINLOC, MAXLOC};

/* The functions of each type. */
#define SCALAR(name, T, _, mpi)                                                                                        \
    static bool same_##name(const void *at, const void *other) { return *(const T *)at == *(const T *)other; }         \
    static void copy_##name(void *to, const void *from) { *(T *)to = *(const T *)from; }
#define REAL(name, T, _, mpi) SCALAR(name, T, _, mpi)                                                                  \
    static void set_##name(void *at, int value, int other) { (void)other, *(T *)at = (T)value; }
#define COMPLEX(name, T, _, mpi) SCALAR(name, T, _, mpi)                                                               \
    static void set_##name(void *at, int value, int other) { *(T *)at = (T)(value + other * I); }                      \
    static void combine_##name(enum operation op, void *at, const void *operand)                                       \
    {                                                                                                                  \
        if (op == SUM)                                                                                                 \
            *(T *)at += *(const T *)operand;                                                                           \
    }
#define FLOAT(name, T, _, mpi) REAL(name, T, _, mpi)                                                                   \
    static void combine_##name(enum operation op, void *at, const void *operand)                                       \
    {                                                                                                                  \
        T a = *(T *)at, b = *(const T *)operand;                                                                       \
        *(T *)at = op == SUM ? a + b : op == PROD ? a * b : op == MIN ? (a < b ? a : b) : a > b ? a : b;               \
    }
#define INTEGER(name, T, U, mpi) REAL(name, T, U, mpi)                                                                 \
    static void combine_##name(enum operation op, void *at, const void *operand)                                       \
    {                                                                                                                  \
        T a = *(T *)at, b = *(const T *)operand;                                                                       \
        switch (op) {                                                                                                  \
        case SUM: a = (T)((U)a + (U)b); break;                                                                         \
        case PROD: a = (T)(uint64_t)((uint64_t)(U)a * (U)b); break;                                                    \
        case MIN: a = a < b ? a : b; break;                                                                            \
        case MAX: a = a > b ? a : b; break;                                                                            \
        case BAND: a = a & b; break;                                                                                   \
        case BOR: a = a | b; break;                                                                                    \
        case BXOR: a = a ^ b; break;                                                                                   \
        case LAND: a = a && b; break;                                                                                  \
        case LOR: a = a || b; break;                                                                                   \
        default: a = !a != !b; break;                                                                                  \
        }                                                                                                              \
        *(T *)at = a;                                                                                                  \
    }
#define PAIR(name, T, V, mpi)                                                                                          \
    static bool same_##name(const void *at, const void *other)                                                         \
    {                                                                                                                  \
        const T *a = at, *b = other;                                                                                   \
        return a->value == b->value && a->index == b->index;                                                           \
    }                                                                                                                  \
    static void copy_##name(void *to, const void *from)                                                                \
    {                                                                                                                  \
        ((T *)to)->value = ((const T *)from)->value, ((T *)to)->index = ((const T *)from)->index;                      \
    }                                                                                                                  \
    static void set_##name(void *at, int value, int other) { ((T *)at)->value = (V)value, ((T *)at)->index = other; }  \
    static void combine_##name(enum operation op, void *at, const void *operand)                                       \
    {                                                                                                                  \
        T *a = at;                                                                                                     \
        const T *b = operand;                                                                                          \
        if (a->value == b->value)                                                                                      \
            a->index = a->index < b->index ? a->index : b->index;                                                      \
        else if ((b->value < a->value) == (op == MINLOC))                                                              \
            copy_##name(at, operand);                                                                                  \
    }

INTEGERS(INTEGER) FLOATS(FLOAT) COMPLEXES(COMPLEX) PAIRS(PAIR)

struct element {
    MPI_Datatype mpi;
    size_t size;
    /* An element of a small number, and of another one where it has two. */
    void (*set)(void *at, int value, int other);
    bool (*same)(const void *at, const void *other);
    void (*copy)(void *to, const void *from);
    void (*combine)(enum operation op, void *at, const void *operand);
    const enum operation *ops;
    int op_count;
};

#define ROW(name, T, mpi, ops) {mpi, sizeof(T), set_##name, same_##name, copy_##name, combine_##name, ops, sizeof(ops) / sizeof *(ops)},
#define INTEGER_ROW(name, T, _, mpi) ROW(name, T, mpi, integer_ops)
#define FLOAT_ROW(name, T, _, mpi) ROW(name, T, mpi, float_ops)
#define COMPLEX_ROW(name, T, _, mpi) ROW(name, T, mpi, complex_ops)
#define PAIR_ROW(name, T, _, mpi) ROW(name, T, mpi, pair_ops)

static const struct element elements[] = {
    INTEGERS(INTEGER_ROW) FLOATS(FLOAT_ROW) COMPLEXES(COMPLEX_ROW) PAIRS(PAIR_ROW)
};

enum { ELEMENTS = sizeof elements / sizeof *elements };

static const MPI_Op mpi_ops[] = {MPI_SUM, MPI_PROD, MPI_MIN, MPI_MAX, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND, MPI_LOR, MPI_LXOR,
    MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
