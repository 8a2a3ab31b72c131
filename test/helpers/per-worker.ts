/** A server that takes long to start. */
export interface Server {
  stop(): Promise<void>
  /** Kills it synchronously by process id, when this process ends. */
  kill(): void
}

export interface Lease<T> {
  readonly server: T
  /** A second call does nothing. */
  release(): Promise<void>
}

/** Mocha sets this in the processes that run files in parallel; each runs many files. */
const isWorker = process.env['MOCHA_WORKER_ID'] !== undefined

/**
 * Servers that the files of a mocha worker share one after the other. Without workers, a server is stopped as soon as it is
 * unused, so that a file that runs alone can end.
 *
 * @param reset restores a server's initial state before reuse
 */
export function perWorker<T extends Server>(
  start: () => Promise<T>,
  reset: (server: T) => Promise<void>
): () => Promise<Lease<T>> {
  const idle: T[] = []
  const take = async (): Promise<T> => {
    const server = idle.pop()
    if (server !== undefined) return server
    const started = await start()
    process.once('exit', started.kill)
    return started
  }
  return async () => {
    const server = await take()
    let isReleased = false
    return {
      server,
      async release() {
        if (isReleased) return
        isReleased = true
        if (isWorker) {
          await reset(server)
          idle.push(server)
        } else {
          process.off('exit', server.kill)
          await server.stop()
        }
      }
    }
  }
}
