import { generateKeyPairFromSeed } from '@libp2p/crypto/keys'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { utf8 } from '../../../lib/base/bytes.ts'
import type { Hex } from '../../../lib/base/hex.ts'
import { keySigner } from '../../../lib/pay/signing/key-signer.ts'
import { NETWORKS } from '../../../node/networks.ts'

/** The fixed inputs of all test vectors. The keys are public, so never use them. */

export const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
export const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replace(/^0x/, ''), 'hex'))

export const seedOf = (byte: number): Uint8Array => new Uint8Array(32).fill(byte)

export async function identityOf(byte: number) {
  const key = await generateKeyPairFromSeed('Ed25519', seedOf(byte))
  return { key, id: peerIdFromPrivateKey(key) }
}

/** 1 January 2026, milliseconds since the epoch. */
export const NOW = 1_767_225_600_000
export const REQUEST_ID = bytesOf('019b76daa80070008000000000000001')

export const PAYER = { secret: seedOf(0x11), signer: keySigner(seedOf(0x11)) }
export const SETTLEMENT = { secret: seedOf(0x22), signer: keySigner(seedOf(0x22)) }
export const PAYOUT: Hex = '0x7e5f4552091a69125d5dfcb7b8c2659029395bdf'
export const { chain: CHAIN } = NETWORKS.dev
export const TREASURY: Hex = CHAIN.treasury ?? PAYOUT
export const BODY = utf8('{"symbol":"BTC"}')
