/** A placeholder for any dependency, for setting up routes that are never called. */
export function anything(): never {
  const it: unknown = new Proxy(() => {}, {
    get: (_, name) => (name === 'then' || name === Symbol.toPrimitive ? undefined : it),
    apply: () => it,
    construct: () => it as object
  })
  return it as never
}
