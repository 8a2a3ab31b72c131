import { isLoopback } from '../http/listen.ts'
import type { Log } from '../log.ts'
import type { PortPreference } from '../node-config.ts'

/** Logs the port of a part if it differs from the requested one. */
export function tellMovedPort(log: Log, what: string, { port, exact }: PortPreference, got: number | undefined): void {
  if (exact || port === 0 || got === port) return
  log.info(`Port ${port} is taken, so the ${what} uses port ${got}.`)
}

/** Warns about a non-loopback bind: remote clients can send any `Host`, so only a session or the token protects the API. */
export function tellOpenAdmin(log: Log, host: string | undefined, url: string): void {
  if (host === undefined || isLoopback(host)) return
  const { port } = new URL(url)
  log.info(`The admin API listens on ${host}. Publish port ${port} only as 127.0.0.1:${port}.`)
}
