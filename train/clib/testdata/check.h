/* What the programs that test the C interface share. Include it after evertick_train.h. */
#include <stdio.h>

static int failed;

static const char *said(uint64_t batch) {
	static char text[1024];
	int64_t length = 0;
	if (evertick_train_error(batch, text, sizeof text, &length) != EVERTICK_OK) return "no room for the error";
	return text;
}

#define WANT(call, code, batch) do { \
	int got_ = (call); \
	if (got_ != (code)) { failed++; printf("line %d: %s: %d (%s), wants %d\n", __LINE__, #call, got_, said(batch), (code)); } \
} while (0)
