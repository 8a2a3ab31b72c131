import type { Multiaddr } from '@multiformats/multiaddr'

/** Where a WebSocket is dialled. */
export interface WebSocketPlace {
  /** An IP address or a DNS name. */
  readonly host: string
  readonly port: number
  /** Over TLS. */
  readonly isSecure: boolean
  /** The name of the certificate, and of the `Host` header. */
  readonly name: string
}

const HOSTS: ReadonlySet<string> = new Set(['ip4', 'ip6', 'dns', 'dns4', 'dns6'])

/** Reads `…/tcp/<port>/ws`, `…/wss`, and `…/tls/ws` with or without `sni`. Undefined for any other address. */
export function webSocketPlace(address: Multiaddr): WebSocketPlace | undefined {
  const parts = address.getComponents()
  const [first, tcp, ...rest] = parts.at(-1)?.name === 'p2p' ? parts.slice(0, -1) : parts
  const host = first?.value
  if (!HOSTS.has(first?.name ?? '') || host === undefined || tcp?.name !== 'tcp') return undefined
  const form = rest.map(({ name }) => name).join('/')
  if (!/^(ws|wss|tls\/ws|tls\/sni\/ws)$/.test(form)) return undefined
  const name = rest.find((part) => part.name === 'sni')?.value ?? host
  return { host, port: Number(tcp.value), isSecure: form !== 'ws', name }
}
