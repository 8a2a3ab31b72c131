/** Runs `make` at the first call. `make` must not call the returned function, which would recurse forever. */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}
