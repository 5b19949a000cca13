/* SPDX-License-Identifier: MIT */
#include "sandbox/caps.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"

enum {
    CAPS = 64, /* more than any kernel has */
    /* Executing a program as root gives nothing, and neither this nor that can be taken back. */
    SECURE_BITS = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
                  SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED,
};

#define BIT(cap) (UINT64_C(1) << (cap))

static int get_permitted(uint64_t *ret, struct err *err)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &head, data) < 0)
        return err_set(err, errno, "read the capabilities");
    *ret = data[0].permitted | (uint64_t)data[1].permitted << 32;
    return 0;
}

/* Sets the permitted and effective sets to own, the inheritable one to passed. */
static int set_caps(uint64_t own, uint64_t passed, struct err *err)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
        data[i].permitted = data[i].effective = (uint32_t)(own >> 32 * i);
        data[i].inheritable = (uint32_t)(passed >> 32 * i);
    }
    if (syscall(SYS_capset, &head, data) < 0)
        return err_set(err, errno, "set the capabilities");
    return 0;
}

/* What is ambient is kept when a program is executed. The others went with the inheritable set. */
static int raise_ambient(uint64_t keep, struct err *err)
{
    for (int cap = 0; cap < CAPS; cap++) {
        if (!(keep & BIT(cap)) || prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, cap, 0, 0) == 1)
            continue;
        if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0) < 0)
            return err_set(err, errno, "make capability %d ambient", cap);
    }
    return 0;
}

static int drop_bounding(uint64_t keep, struct err *err)
{
    for (int cap = 0; cap < CAPS; cap++) {
        if (keep & BIT(cap) || prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
            continue;
        if (errno == EINVAL)
            break; /* past the last one */
        return err_set(err, errno, "take capability %d out of the bounding set", cap);
    }
    return 0;
}

static int set_secure_bits(struct err *err)
{
    int now = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0);
    int want = (now | SECURE_BITS) & ~SECBIT_KEEP_CAPS;
    if (now == want || prctl(PR_SET_SECUREBITS, want, 0, 0, 0) == 0)
        return 0;
    return err_set(err, errno, "set the secure bits");
}

int sandbox_caps_drop(uint64_t keep, struct err *err)
{
    uint64_t permitted = 0;
    int rc = get_permitted(&permitted, err);
    if (rc < 0)
        return rc;
    keep &= permitted;

    /* CAP_SETPCAP goes last: it is what the steps between take. */
    uint64_t setpcap = permitted & BIT(CAP_SETPCAP);
    rc = set_caps(keep | setpcap, keep, err);
    if (rc == 0 && setpcap)
        rc = drop_bounding(keep, err);
    if (rc == 0)
        rc = raise_ambient(keep, err);
    if (rc == 0 && setpcap)
        rc = set_secure_bits(err);
    return rc < 0 ? rc : set_caps(keep, keep, err);
}
