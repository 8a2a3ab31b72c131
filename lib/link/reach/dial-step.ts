import type { Multiaddr } from '@multiformats/multiaddr'
import type { UnreachableStep } from '../../base/unreachable.ts'
import { isCircuit } from './is-relayed.ts'

/** The step at which a dial failed. `known` has the addresses that were dialled. */
export function dialStep(error: unknown, known: readonly Multiaddr[]): UnreachableStep {
  const errors = errorsIn(error)
  if (errors.some(({ name }) => HANDSHAKE.has(name))) return 'handshake'
  if (known.length === 0 || errors.every(({ name }) => NO_ADDRESS.has(name))) return 'address'
  return known.some(isCircuit) ? 'dial_relay' : 'dial_direct'
}

/** Another node, or another kind of server, has the address. */
const HANDSHAKE: ReadonlySet<string> = new Set([
  'EncryptionFailedError',
  'InvalidCryptoExchangeError',
  'MuxerUnavailableError',
  'UnexpectedPeerError',
  'UnsupportedProtocolError'
])
const NO_ADDRESS: ReadonlySet<string> = new Set(['DialDeniedError', 'NoValidAddressesError'])

/** A dial of several addresses throws an `AggregateError`, and races of dials nest them. */
function errorsIn(error: unknown): Error[] {
  if (error instanceof AggregateError) return error.errors.flatMap(errorsIn)
  return error instanceof Error ? [error] : []
}
