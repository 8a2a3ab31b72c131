import { type LookupAddress, lookup } from 'node:dns'
import { isIP } from 'node:net'
import { createSecureContext } from 'node:tls'
import { buildConnector } from 'undici'
import { SoukError } from '../../lib/base/errors.ts'
import { UPSTREAM_CONNECT_MS } from '../../lib/base/limits/upstream.ts'
import type { UpstreamAuth, UpstreamGuard } from '../../lib/interface/adapter.ts'
import { canonicalAddress, isNeverUpstream } from './address.ts'

/**
 * Connects to one endpoint, but never to a refused address. The checked address is the one that is connected to, without a second
 * DNS lookup.
 *
 * @throws SoukError `invalid_request` for an invalid certificate or key
 */
export function connectorTo(
  endpoint: URL,
  guard: UpstreamGuard | undefined,
  tls: UpstreamAuth['tls']
): buildConnector.connector {
  const port = Number(endpoint.port) || (endpoint.protocol === 'https:' ? 443 : 80)
  const connect = buildConnector({
    timeout: UPSTREAM_CONNECT_MS,
    // With TLS, a server that supports both versions chooses; without TLS, HTTP/1.1 is used.
    allowH2: true,
    ...checkedTls(tls),
    lookup(hostname, options, callback) {
      lookup(hostname, { ...options, all: true }, (error, resolved) => {
        const found = LOCALHOST.test(hostname) ? bothLoopbacks(resolved ?? []) : resolved
        if (found === undefined || found.length === 0) return callback(error, [])
        const refused = found.some(({ address }) => isRefused(endpoint, guard, address, port))
        // One refused address rejects the whole name, because the choice among several addresses is arbitrary.
        if (refused) return callback(refusal(), [])
        const [first] = found as [LookupAddress]
        if (options.all === true) callback(null, found)
        else callback(null, first.address, first.family)
      })
    }
  })
  return (options, callback) => {
    // A literal address needs no lookup.
    const literal = canonicalAddress(options.hostname)
    if (literal !== undefined && isRefused(endpoint, guard, literal, port)) callback(refusal(), null)
    else connect(options, callback)
  }
}

/** RFC 6761 §6.3: names of this machine. */
const LOCALHOST = /^(?:.+\.)?localhost\.?$/i

/** Development servers listen on either, whichever one the machine’s list of hosts names. */
function bothLoopbacks(found: readonly LookupAddress[]): LookupAddress[] {
  const others = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 }
  ].filter(({ family }) => found.every((each) => each.family !== family))
  return [...found, ...others]
}

function isRefused(endpoint: URL, guard: UpstreamGuard | undefined, address: string, port: number): boolean {
  const canonical = canonicalAddress(address)
  if (canonical === undefined || isIP(canonical) === 0 || isNeverUpstream(canonical)) return true
  return guard?.refuses(endpoint.hostname, canonical, port) === true
}

function refusal(): SoukError {
  return new SoukError('upstream_unreachable', 'A node never connects to this address.', {
    source: 'upstream'
  })
}

/** @throws SoukError `invalid_request`, without any part of the key */
function checkedTls(tls: UpstreamAuth['tls']): NonNullable<UpstreamAuth['tls']> {
  if (tls === undefined) return {}
  if ((tls.cert === undefined) !== (tls.key === undefined)) {
    throw new SoukError('invalid_request', 'A client certificate needs both its chain and its key.')
  }
  try {
    createSecureContext(tls)
    return tls
  } catch {
    throw new SoukError('invalid_request', 'The client certificate, its key or the authorities cannot be read as PEM.')
  }
}
