/* tests/unit/runtime/embed/c_client.h
 *
 * What c_client.c does with a graph: 1, or 0 and what was not as it should be.
 */
#ifndef C_CLIENT_H
#define C_CLIENT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
int QuotientClient(const void* graph, size_t bytes, char* said, size_t size);
int LayerClient(const void* graph, size_t bytes, char* said, size_t size);
#ifdef __cplusplus
}
#endif
#endif
