/* The kernels of this package, at LEVEL. */
#include "bodies_tmpl.h"
#include "bounds_tmpl.h"
#include "collide_tmpl.h"
#include "contact_prepare_tmpl.h"
#include "contact_solve_tmpl.h"
#include "rays_tmpl.h"
#include "recycle_tmpl.h"
