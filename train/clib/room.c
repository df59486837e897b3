/* Asks the system whether there is room for so many bytes of memory, without using any. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#endif
#include <stddef.h>
#include <stdint.h>

#ifdef _WIN32
#include <windows.h>

int32_t evertick_train_has_room(uint64_t bytes) {
	void *p = bytes > SIZE_MAX ? NULL : VirtualAlloc(NULL, (SIZE_T)bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
	return p != NULL && VirtualFree(p, 0, MEM_RELEASE) != 0;
}
#else
#include <sys/mman.h>

__attribute__((visibility("hidden"))) int32_t evertick_train_has_room(uint64_t bytes) {
	void *p = bytes > SIZE_MAX ? MAP_FAILED : mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p != MAP_FAILED && munmap(p, (size_t)bytes) == 0;
}
#endif
