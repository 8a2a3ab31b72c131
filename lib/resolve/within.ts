/** The promise's outcome, unless the signal aborts first: then its reason, and nobody waits for the promise any more. */
export async function within<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(signal.reason)
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([aborted.promise, promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
    promise.catch(ignore)
  }
}

/** Runs `task` for each item, `width` of them at a time. A failing task fails the whole; others run on. */
export async function eachOf<T>(items: Iterable<T>, width: number, task: (item: T) => Promise<void>): Promise<void> {
  const rest = items[Symbol.iterator]()
  const lane = async () => {
    for (let next = rest.next(); next.done !== true; next = rest.next()) await task(next.value)
  }
  await Promise.all(Array.from({ length: width }, lane))
}

export const ignore = (): void => undefined
