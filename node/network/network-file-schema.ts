import { peerIdFromString } from '@libp2p/peer-id'
import { multiaddr } from '@multiformats/multiaddr'
import { z } from 'zod'
import { limits } from '../../lib/index.ts'
import type { Address } from '../../lib/interface/index.ts'
import { isWebUrl } from './web-url.ts'

/** Lower case: an address has one text. */
const address = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/, 'give an address: 0x and 40 hex digits in lower case')
  .transform((text) => text as Address)
const hash = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/, 'give a keccak256 hash: 0x and 64 hex digits in lower case')
  .transform((text) => text as `0x${string}`)
const contract = z.strictObject({ address, code_hash: hash })
const token = z.strictObject({
  address,
  name: z.string().min(1).max(64),
  version: z.string().min(1).max(16)
})
const url = z
  .string()
  .max(limits.NETWORK_ADDRESS_CHARS_MAX)
  .refine(isWebUrl, 'give an https URL without user name and password, or http on loopback')
const key = z.string().max(80).refine(isKeyId, 'give the peer id of an Ed25519 key')
const signature = z.string().regex(/^[\w-]{86}$/, 'give an Ed25519 signature in base64url')
const bootstrapAddress = z
  .string()
  .max(limits.NETWORK_ADDRESS_CHARS_MAX)
  .refine(isPeerAddress, 'give a multiaddr that ends in /p2p/<peer id>, or begins with /dnsaddr/')

/** A network file. Its founder publishes it; a node joins by it. */
export const networkFileSchema = z.strictObject({
  format: z.literal('souk-network/1'),
  name: z
    .string()
    .max(limits.NETWORK_TITLE_CHARS_MAX)
    .regex(/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/, 'use a-z, 0-9 and "-" inside'),
  /** Grows with each change. */
  revision: z.int().min(1),
  /** Peer id of the key that founded the network. It identifies the network for good. */
  founder: key,
  /** Keys that may sign later revisions, each named by the key before. */
  handovers: z.array(z.strictObject({ to: key, signature })).max(limits.NETWORK_HANDOVERS_MAX),
  chain: z.strictObject({
    id: z.int().min(1),
    rpc: url,
    usdc: token,
    settlement: contract,
    collector: contract,
    treasury: address,
    splitter_factory: address,
    confirmations: z.int().min(1).max(limits.CONFIRMATIONS_MAX)
  }),
  /** Multiaddrs of the first peers. */
  bootstrap: z.array(bootstrapAddress).max(limits.NETWORK_BOOTSTRAP_MAX),
  /** The network is private: nodes announce private addresses. */
  lan: z.boolean(),
  /** Peer id of the key that signed this revision. */
  signer: key,
  signature
})

export type NetworkFile = z.output<typeof networkFileSchema>

function isKeyId(text: string): boolean {
  try {
    return peerIdFromString(text).type === 'Ed25519'
  } catch {
    return false
  }
}

/** A `dnsaddr` record names the peers itself. */
export function isPeerAddress(text: string): boolean {
  try {
    const components = multiaddr(text).getComponents()
    return components[0]?.name === 'dnsaddr' || components.at(-1)?.name === 'p2p'
  } catch {
    return false
  }
}
