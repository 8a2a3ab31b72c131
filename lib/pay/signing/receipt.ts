import { hash } from 'node:crypto'
import { decodeMessage, encodeMessage } from 'protons-runtime'
import { EMPTY_BYTES } from '../../base/bytes.ts'
import { fromHex, toHex } from '../../base/hex.ts'
import { RECEIPT_PATH_MAX } from '../../base/limits/pay.ts'
import type { Atoms } from '../../base/money.ts'
import {
  append,
  bytesTag,
  codec,
  readSafeInteger,
  varintTag,
  writeBytes,
  writeInteger,
  writeText
} from '../../base/wire.ts'
import type { ChannelId } from '../../interface/channel.ts'
import { type ChargeRule, chargeRuleIn } from '../../interface/charge-rule.ts'
import type { ChainParameters } from '../../interface/network.ts'
import type { Address, Signature } from '../../interface/signer.ts'
import { signerOf } from './signature.ts'
import { type Digest, digestsOf, hashStruct, typeHash } from './typed-data.ts'

/** The owner's signed statement about one call: `souk.Receipt` of `docs/reference/souk-pay.proto`. */
export interface ReceiptBody {
  readonly channelId: ChannelId
  readonly requestId: Uint8Array
  /** SHA-256 of the request. */
  readonly requestHash: Uint8Array
  readonly api: string
  readonly charged: Atoms
  /** Totals of the whole channel, including this call. */
  readonly captured: Atoms
  readonly reserved: Atoms
  /** HTTP status of the response. */
  readonly status: number
  readonly at: number
  /** The rule behind the charge. Absent if the call was not charged, and in receipts of earlier versions. */
  readonly rule?: ChargeRule
}

/** A receipt as sent: the body and its proof. */
export interface Receipt {
  readonly body: ReceiptBody
  readonly leaf: Uint8Array
  readonly path: readonly Uint8Array[]
  readonly index: number
  readonly signature: Signature
}

interface BodyMessage extends Omit<ReceiptBody, 'channelId' | 'rule'> {
  channelId: Uint8Array
  requestId: Uint8Array
  requestHash: Uint8Array
  api: string
  charged: bigint
  captured: bigint
  reserved: bigint
  status: number
  at: number
  rule?: ChargeRule
}

const bodyCodec = codec<BodyMessage>({
  start: () => ({
    channelId: EMPTY_BYTES,
    requestId: EMPTY_BYTES,
    requestHash: EMPTY_BYTES,
    api: '',
    charged: 0n,
    captured: 0n,
    reserved: 0n,
    status: 0,
    at: 0
  }),
  write(value, writer) {
    writeBytes(writer, 1, value.channelId)
    writeBytes(writer, 2, value.requestId)
    writeBytes(writer, 3, value.requestHash)
    writeText(writer, 4, value.api)
    writeInteger(writer, 5, value.charged)
    writeInteger(writer, 6, value.captured)
    writeInteger(writer, 7, value.reserved)
    writeInteger(writer, 8, value.status)
    writeInteger(writer, 9, value.at)
    writeText(writer, 10, value.rule ?? '')
  },
  read(value, tag, reader) {
    if (tag === bytesTag(1)) value.channelId = reader.bytes()
    else if (tag === bytesTag(2)) value.requestId = reader.bytes()
    else if (tag === bytesTag(3)) value.requestHash = reader.bytes()
    else if (tag === bytesTag(4)) value.api = reader.string()
    else if (tag === varintTag(5)) value.charged = reader.uint64()
    else if (tag === varintTag(6)) value.captured = reader.uint64()
    else if (tag === varintTag(7)) value.reserved = reader.uint64()
    else if (tag === varintTag(8)) value.status = readSafeInteger(reader)
    else if (tag === varintTag(9)) value.at = readSafeInteger(reader)
    else if (tag === bytesTag(10)) setRule(value, reader.string())
    else return false
    return true
  }
})

function setRule(value: BodyMessage, text: string): void {
  const rule = chargeRuleIn(text)
  if (rule !== undefined) value.rule = rule
}

interface ReceiptMessage {
  body: Uint8Array
  path: Uint8Array[]
  index: number
  signature: Uint8Array
}

const receiptCodec = codec<ReceiptMessage>({
  start: () => ({ body: EMPTY_BYTES, path: [], index: 0, signature: EMPTY_BYTES }),
  write(value, writer) {
    writeBytes(writer, 1, value.body)
    for (const sibling of value.path) writer.uint32(bytesTag(2)).bytes(sibling)
    writeInteger(writer, 3, value.index)
    writeBytes(writer, 4, value.signature)
  },
  read(value, tag, reader) {
    if (tag === bytesTag(1)) value.body = reader.bytes()
    else if (tag === bytesTag(2)) append(value.path, reader.bytes(), RECEIPT_PATH_MAX)
    else if (tag === varintTag(3)) value.index = readSafeInteger(reader)
    else if (tag === bytesTag(4)) value.signature = reader.bytes()
    else return false
    return true
  }
})

/** Leaves and nodes have different hash prefixes, so that a node cannot pass for a leaf (RFC 9162, section 2.1.1). */
function leafHash(body: Uint8Array): Uint8Array {
  const bytes = Buffer.allocUnsafe(1 + body.length)
  bytes[0] = LEAF
  bytes.set(body, 1)
  return hash('sha256', bytes, 'buffer')
}
function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  const bytes = Buffer.allocUnsafe(1 + 2 * HASH_BYTES)
  bytes[0] = NODE
  bytes.set(left, 1)
  bytes.set(right, 1 + HASH_BYTES)
  return hash('sha256', bytes, 'buffer')
}
const LEAF = 0
const NODE = 1
const HASH_BYTES = 32

/** The digests that receipts are signed over, for one network. */
export function receiptDigests({ chainId, settlement }: Pick<ChainParameters, 'chainId' | 'settlement'>): Digest {
  const digest = digestsOf({ name: 'Souk', version: '1', chainId, verifyingContract: settlement.address })
  return (root) => digest(hashStruct(RECEIPTS, [root]))
}

const RECEIPTS = typeHash('Receipts(bytes32 root)')

/** Signs the receipts of one durable commit: one signature over the root of their Merkle tree covers all. */
export async function signReceipts(
  bodies: readonly ReceiptBody[],
  sign: (root: Uint8Array) => Promise<Signature>
): Promise<Uint8Array[]> {
  const channels = new Map<ChannelId, Uint8Array>()
  const bytesOf = (channelId: ChannelId): Uint8Array => {
    const known = channels.get(channelId) ?? fromHex(channelId, HASH_BYTES)
    channels.set(channelId, known)
    return known
  }
  const leaves = bodies.map((body) => encodeMessage({ ...body, channelId: bytesOf(body.channelId) }, bodyCodec))
  const levels = treeOf(leaves.map(leafHash))
  const root = levels.at(-1)?.[0]
  if (root === undefined) return []
  const signature = await sign(root)
  return leaves.map((body, i) => encodeMessage({ body, ...pathTo(levels, i), signature }, receiptCodec))
}

/** All levels from the leaves to the root. The last node of an odd level moves up unchanged. */
function treeOf(leaves: readonly Uint8Array[]): Array<readonly Uint8Array[]> {
  const levels = [leaves]
  for (let level = leaves; level.length > 1; ) {
    const above: Uint8Array[] = []
    for (let i = 0; i < level.length; i += 2) {
      const [left, right] = [level[i], level[i + 1]]
      if (left !== undefined) above.push(right === undefined ? left : nodeHash(left, right))
    }
    levels.push(above)
    level = above
  }
  return levels
}

/** The siblings on the way up and the side of each. A node without a sibling adds neither. */
function pathTo(levels: ReadonlyArray<readonly Uint8Array[]>, leaf: number): { path: Uint8Array[]; index: number } {
  const path: Uint8Array[] = []
  let index = 0
  for (let [depth, at] = [0, leaf]; depth < levels.length - 1; depth++, at >>= 1) {
    const sibling = levels[depth]?.[at ^ 1]
    if (sibling === undefined) continue
    index |= (at & 1) << path.length
    path.push(sibling)
  }
  return { path, index }
}

/** Undefined if the bytes are not a receipt. `isSigned` checks the signature. */
export function readReceipt(bytes: Uint8Array): Receipt | undefined {
  try {
    const { body, path, index, signature } = decodeMessage(bytes, receiptCodec)
    const value = decodeMessage(body, bodyCodec)
    if (value.channelId.length !== HASH_BYTES || path.some((sibling) => sibling.length !== HASH_BYTES)) return undefined
    return { body: { ...value, channelId: toHex(value.channelId) }, leaf: body, path, index, signature }
  } catch {
    return undefined
  }
}

function rootOf({ leaf, path, index }: Receipt): Uint8Array {
  return path.reduce(
    (node, sibling, i) => (((index >> i) & 1) === 0 ? nodeHash(node, sibling) : nodeHash(sibling, node)),
    leafHash(leaf)
  )
}

/** Checks the signers of receipts. Caches one valid signature, because many receipts in a row share it. */
export class ReceiptCheck {
  readonly #digest: Digest
  #checked: Uint8Array = EMPTY_BYTES
  #signer: Address | undefined

  constructor(digest: Digest) {
    this.#digest = digest
  }

  isSigned(receipt: Receipt, by: Address): boolean {
    const { signature } = receipt
    const root = rootOf(receipt)
    const checked = Buffer.concat([root, signature])
    if (!checked.equals(this.#checked)) {
      this.#signer = signerOf(this.#digest(root), signature)
      this.#checked = checked
    }
    return this.#signer === by
  }
}
