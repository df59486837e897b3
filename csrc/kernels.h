/* The kernels of this package, at LEVEL. */
#include "compare_tmpl.h"
#include "compose_tmpl.h"
#include "delta_tmpl.h"
#include "ops_tmpl.h"
#include "quantise_tmpl.h"
#include "reduce_tmpl.h"
