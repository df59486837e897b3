/* The kernels of this package, at LEVEL. */
#include "contact_solve_tmpl.h"
