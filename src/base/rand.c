/* SPDX-License-Identifier: MIT */
#include "base/rand.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

void rand_bytes(void *ret, size_t len)
{
    for (size_t done = 0; done < len;) {
        ssize_t n = getrandom((char *)ret + done, len - done, 0);
        if (n > 0)
            done += (size_t)n;
        else if (errno != EINTR)
            abort();
    }
}

uint64_t rand_u64(void)
{
    uint64_t value;
    rand_bytes(&value, sizeof(value));
    return value;
}

char *rand_id(char *buf, size_t size, const char *prefix)
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
    size_t len = strlen(prefix);
    assert(size > len && size - len > RAND_ID_CHARS);

    unsigned char random[RAND_ID_CHARS]; /* five bits of each are used */
    rand_bytes(random, sizeof(random));
    memcpy(buf, prefix, len);
    for (size_t i = 0; i < RAND_ID_CHARS; i++)
        buf[len + i] = digits[random[i] & 31];
    buf[len + RAND_ID_CHARS] = '\0';
    return buf;
}
