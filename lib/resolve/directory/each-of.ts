/** Runs `task` for each item, at most `width` at a time. A failed task rejects the whole; others continue. */
export async function eachOf<T>(items: Iterable<T>, width: number, task: (item: T) => Promise<void>): Promise<void> {
  const rest = items[Symbol.iterator]()
  const lane = async () => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) await task(next.value)
  }
  await Promise.all(Array.from({ length: width }, lane))
}
