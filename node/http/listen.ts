import { type AddressInfo, createServer, type ListenOptions, type Server } from 'node:net'
import { limits } from '../../lib/index.ts'
import { SetupError } from '../setup-error.ts'
import { isBlockedPort } from './blocked-ports.ts'

export interface ListenTarget {
  readonly host: string
  /** `0` means any free port. */
  readonly port: number
  /** The user asked for this port, so another one would be wrong. Default false: a busy port moves up. */
  readonly exact?: boolean
  /** Not for HTTP, so that ports which `fetch` refuses will do. */
  readonly isRaw?: boolean
}

/** A port on which this process could listen now. @throws as `listenOnFreePort` */
export async function freePort(wish: ListenTarget): Promise<number> {
  const probe = createServer()
  const { port } = await listenOnFreePort(probe, wish)
  await new Promise((resolve) => probe.close(resolve))
  return port
}

/**
 * Starts something that listens only on the port it is given. Another program may take that port first, such as a node that starts at the same
 * time. Then it starts on the next free one.
 * @throws as `start` and `listenOnFreePort`
 */
export async function startOnFreePort<T>(wish: ListenTarget, start: (port: number) => Promise<T>): Promise<T> {
  const port = await freePort(wish)
  try {
    return await start(port)
  } catch (error) {
    const isStillFree = (await freePort({ ...wish, port })) === port
    if (isStillFree) throw error
    return startOnFreePort(wish, start)
  }
}

/** Makes a server listen. @throws Error with the system's code, such as EADDRINUSE */
export type Listen = (server: Server, place: ListenOptions) => Promise<AddressInfo>

/**
 * Listens on the requested port, or on the next free one, at most `PORT_TRIES_MAX` higher.
 * @throws SetupError `port_busy`, `config_invalid` (a port that `fetch` refuses), `start_failed` (address not available, or not permitted)
 */
export async function listenOnFreePort(
  server: Server,
  wish: ListenTarget,
  listenAt: Listen = listen
): Promise<{ host: string; port: number }> {
  const last = wish.exact === true || wish.port === 0 ? wish.port : Math.min(wish.port + limits.PORT_TRIES_MAX, 65_535)
  for (let port = wish.port; port <= last; port++) {
    if (wish.isRaw !== true && isBlockedPort(port)) {
      if (port < last) continue
      throw new SetupError('config_invalid', `Browsers and other HTTP clients refuse to call port ${port}.`, {
        hint: PORT_HINT
      })
    }
    try {
      const { address, port: bound } = await listenAt(server, { host: wish.host, port })
      return { host: address, port: bound }
    } catch (error) {
      if (!hasCode(error, 'EADDRINUSE')) throw unusable(wish.host, port, error)
    }
  }
  const range = last === wish.port ? `Port ${last}` : `Every port from ${wish.port} to ${last}`
  throw new SetupError('port_busy', `${range} on ${wish.host} is taken.`, {
    hint: PORT_HINT
  })
}

export const PORT_HINT = 'another port, or 0 for any free one'

export const listen: Listen = (server, place) =>
  new Promise((resolve, reject) => {
    const onError = (error: Error) => {
      server.off('listening', onListening)
      reject(error)
    }
    const onListening = () => {
      server.off('error', onError)
      // A string only for a pipe, and null only when not listening.
      resolve(server.address() as AddressInfo)
    }
    server.once('error', onError)
    server.once('listening', onListening)
    server.listen(place)
  })

function unusable(host: string, port: number, cause: unknown): SetupError {
  if (hasCode(cause, 'EACCES')) {
    return new SetupError('start_failed', `Port ${port} is reserved for system services.`, {
      hint: 'a port above 1023',
      cause
    })
  }
  // The admin API needs 127.0.0.1, which a network namespace with only IPv6 lacks.
  const hint =
    host === '127.0.0.1'
      ? 'sudo ip addr add 127.0.0.1/8 dev lo'
      : 'an address of this machine, or 0.0.0.0 for all of them'
  return new SetupError('start_failed', `This machine cannot listen on ${host}.`, { hint, cause })
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
