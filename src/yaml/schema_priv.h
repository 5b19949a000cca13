/* SPDX-License-Identifier: MIT */
/* yaml/schema_priv - the core schema of YAML 1.2 (section 10.3): which text is of which type. */
#ifndef YAML_SCHEMA_PRIV_H
#define YAML_SCHEMA_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "yaml/read.h"

/* The type of a plain scalar. */
enum yaml_type yaml_schema_resolve(const char *text, size_t len);

/*
 * The type that a core tag ("tag:yaml.org,2002:int") gives; YAML_NONE for any other. "!" is
 * that of a string.
 */
enum yaml_type yaml_schema_tag_type(const char *tag);

/* Whether a scalar of this text, which is of type `resolved` when plain, may be tagged so. */
bool yaml_schema_tag_fits(enum yaml_type tagged, enum yaml_type resolved);

/* The magnitude of the text of a YAML_INT; false if it is too large. */
bool yaml_schema_int(const char *text, bool *ret_negative, uint64_t *ret);

/* The nearest double of the text of a YAML_INT or YAML_FLOAT. */
double yaml_schema_double(const char *text);

/* The value of the text of a YAML_BOOL. */
bool yaml_schema_bool(const char *text);

#endif
