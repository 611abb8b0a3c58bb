/* Ways to copy bytes. */
#ifndef COPIES_H
#define COPIES_H

#include "pair.h"

ALWAYS_INLINE void copy_bytes(enum copy how, char *to, const char *from, long bytes) {
    switch (how) {
    case CALL:
        memcpy(to, from, bytes);
        break;
    case MOVSB:
        __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
        break;
    case WORDS: /* lengths that are multiples of 8 */
        for (long at = 0; at < bytes; at += 8)
            *(volatile int64_t *)(to + at) = *(const volatile int64_t *)(from + at);
        break;
    case STREAM: /* past the caches; addresses and lengths that are multiples of 64 */
        for (long at = 0; at < bytes; at += 64) {
            const __m128i *line = (const __m128i *)(from + at);
            __m128i a = _mm_load_si128(line), b = _mm_load_si128(line + 1);
            __m128i c = _mm_load_si128(line + 2), d = _mm_load_si128(line + 3);
            __m128i *into = (__m128i *)(to + at);
            _mm_stream_si128(into, a);
            _mm_stream_si128(into + 1, b);
            _mm_stream_si128(into + 2, c);
            _mm_stream_si128(into + 3, d);
        }
        _mm_sfence();
        break;
    }
}

/* The other process reads what is copied in soon: never past the caches. */
ALWAYS_INLINE void copy_in(enum copy how, char *to, const char *from, long bytes) {
    copy_bytes(how == STREAM ? CALL : how, to, from, bytes);
}

static const char *const copy_names[] = {"memcpy", "movsb", "words", "stream"};

#endif
