/** Stands for whatever is asked of it: good for setting up routes that nobody will call. */
export function anything(): never {
  const it: unknown = new Proxy(() => {}, {
    get: (_, name) => (name === 'then' || name === Symbol.toPrimitive ? undefined : it),
    apply: () => it,
    construct: () => it as object
  })
  return it as never
}
