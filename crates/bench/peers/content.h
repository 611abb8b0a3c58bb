/* The data that the programs of this folder send: bytes that depend on the sender. */
#ifndef CONTENT_H
#define CONTENT_H

/* The byte at place `at` of the data that `rank` sends in messages of `bytes`. */
static inline unsigned char byte_of(int rank, long bytes, long at) {
    return (unsigned char)(at * 31 + rank * 101 + bytes);
}

/* Writes the data that `rank` sends, or with `wrong` data that no rank sends. */
static inline void write_bytes(char *to, int rank, long bytes, int wrong) {
    for (long at = 0; at < bytes; at++)
        to[at] = wrong ? ~byte_of(rank, bytes, at) : byte_of(rank, bytes, at);
}

/* Whether this is the data that `rank` sends. */
static inline int are_bytes(const char *from, int rank, long bytes) {
    int right = 1;
    for (long at = 0; at < bytes; at++)
        right &= (unsigned char)from[at] == byte_of(rank, bytes, at);
    return right;
}

#endif
