import { isLoopback } from '../http/listen.ts'
import type { Log } from '../log.ts'
import type { PortPreference } from '../node-config.ts'

/** Says where a part listens, when that is not the port that was wished for. */
export function tellMovedPort(log: Log, what: string, { port, exact }: PortPreference, got: number | undefined): void {
  if (exact || port === 0 || got === port) return
  log.info(`Port ${port} is taken: the ${what} is on ${got}.`)
}

/** From elsewhere any `Host` can be sent, and then only a session or the token is in the way. */
export function tellOpenAdmin(log: Log, host: string | undefined, url: string): void {
  if (host === undefined || isLoopback(host)) return
  const { port } = new URL(url)
  log.info(`The admin API listens on ${host}: publish port ${port} as 127.0.0.1:${port} only.`)
}
