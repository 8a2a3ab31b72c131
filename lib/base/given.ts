export type Given<T> = { [Member in keyof T]: Exclude<T[Member], undefined> }

/** The members of an object that have a value. An `undefined` one would replace a default. */
export function given<T extends object>(init: T): Given<T> {
  return Object.fromEntries(Object.entries(init).filter(([, value]) => value !== undefined)) as Given<T>
}
