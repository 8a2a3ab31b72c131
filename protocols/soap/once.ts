/** Runs `make` when first asked. A request that arrives while it runs is a cycle, which the callers have ruled out. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}
