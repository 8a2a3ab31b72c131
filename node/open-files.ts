import { readFileSync } from 'node:fs'
import { limits } from '../lib/index.ts'

/** The connections that others may open to this node. */
export interface ConnectionShares {
  /** Connections that the ingress accepts. */
  readonly http: number
  /** Connections with peers. */
  readonly peers: number
}

/**
 * The files and sockets that the system lets this process have open; undefined if it does not tell. Node.js raises the soft limit
 * to the hard one when it starts.
 */
export function openFilesMax(): number | undefined {
  try {
    const count = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]
    return count === undefined ? undefined : Number(count)
  } catch {
    return undefined
  }
}

/** At least a quarter of the open files stays for the APIs, the chain and the database, whatever strangers do. */
export function connectionShares(files = openFilesMax() ?? Infinity): ConnectionShares {
  return {
    http: Math.min(limits.HTTP_CONNECTIONS_MAX, Math.floor(files / 2)),
    peers: Math.min(limits.CONNECTIONS_MAX, Math.floor(files / 4))
  }
}
