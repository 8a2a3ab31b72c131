/** A server that is costly to start. */
export interface Server {
  stop(): Promise<void>
  /** Ends it at once, by its process id, when this process ends. */
  kill(): void
}

export interface Lease<T> {
  readonly server: T
  /** A second call does nothing. */
  release(): Promise<void>
}

/** mocha tells it to the processes that run files in parallel, each of them many. */
const isWorker = process.env['MOCHA_WORKER_ID'] !== undefined

/**
 * Servers that the files of a mocha worker use one after the other. Without workers, one is stopped as soon as nobody uses it, so
 * that a file that is run alone ends by itself.
 *
 * @param reset brings a server back to its start before it is used again
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
