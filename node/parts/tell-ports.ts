import { isLoopback } from '../http/loopback.ts'
import type { P2pPlace } from '../http/p2p-port.ts'
import type { Log } from '../log.ts'
import type { PortPreference } from '../node-config.ts'

/** Logs the port of a part if it differs from the requested one. */
export function tellMovedPort(log: Log, what: string, { port, exact }: PortPreference, got: number | undefined): void {
  if (exact || port === 0 || got === port) return
  log.info(`Port ${port} is taken, so the ${what} uses port ${got}.`)
}

/** Says that other machines can connect, because it is the default of every network but `dev`. */
export function tellAllInterfaces(log: Log, { listen, port, isDefault }: P2pPlace): void {
  if (!isDefault || listen.length === 0) return
  log.info(
    `Listens for peers on all interfaces, TCP port ${port}. The ingress and the admin API listen where their own options say, by default on this machine only.`
  )
}

/** Warns about a non-loopback bind: remote clients can send any `Host`, so only a session or the token protects the API. */
export function tellOpenAdmin(log: Log, host: string | undefined, url: string): void {
  if (host === undefined || isLoopback(host)) return
  const { port } = new URL(url)
  log.info(`The admin API listens on ${host}. Publish port ${port} only as 127.0.0.1:${port}.`)
}
