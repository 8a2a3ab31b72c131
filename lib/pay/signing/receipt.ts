import { EMPTY_BYTES, sha256 } from '../../base/bytes.ts'
import { fromHex, toHex } from '../../base/hex.ts'
import { RECEIPT_BYTES_MAX, RECEIPT_PATH_MAX } from '../../base/limits/pay.ts'
import type { Atoms } from '../../base/money.ts'
import { bytes, list, nonEmpty, text, textAs, uint32, uint53, uint64 } from '../../base/wire/field.ts'
import { fixedMessage, message } from '../../base/wire/message.ts'
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
  readonly rule?: ChargeRule | undefined
}

/** A receipt as sent: the body and its proof. */
export interface Receipt {
  readonly body: ReceiptBody
  readonly leaf: Uint8Array
  readonly path: readonly Uint8Array[]
  readonly index: number
  readonly signature: Signature
}

export const RECEIPT_BODY = fixedMessage('ReceiptBody', 'The content of a receipt.', {
  channel: bytes(1),
  requestId: bytes(2),
  requestHash: bytes(3, 'SHA-256 of the request (docs/reference/protocol.md, section 7.2).'),
  api: text(4, 'name@provider'),
  charged: uint64(5),
  captured: uint64(6, 'Total of the channel, with this call.'),
  reserved: uint64(7, 'Reserved for other calls of the channel.'),
  status: uint32(8, 'HTTP status of the response.'),
  at: uint53(9, 'When the call ended, in milliseconds since the Unix epoch.'),
  rule: nonEmpty(
    textAs<ChargeRule>(
      10,
      'The rule behind the charge: success, partial-data, cost, stream-open, events or plan. Empty: not charged.'
    )
  )
})

export const RECEIPT = message(
  'Receipt',
  `Field \`receipt\` of a response. \`body\` is a leaf of a Merkle tree. The channel's receiverAuthorizer signs the root as
  EIP-712 Receipts(bytes32 root), in the domain {name: "Souk", version: "1", chainId, verifyingContract: the channel
  contract}. Hashes are SHA-256: of 0x00 and the leaf's bytes, and of 0x01 and both children's hashes.`,
  {
    body: bytes(1, 'souk.ReceiptBody'),
    path: list(bytes(2, 'Hashes of the siblings, from the leaf up.'), RECEIPT_PATH_MAX),
    index: uint32(3, 'Position of the leaf: bit n is the side of the n-th sibling, 0 for the right one.'),
    signature: bytes(4)
  }
)

/** Leaves and nodes have different hash prefixes, so that a node cannot pass for a leaf (RFC 9162, section 2.1.1). */
function leafHash(body: Uint8Array): Uint8Array {
  const bytes = Buffer.allocUnsafe(1 + body.length)
  bytes[0] = LEAF
  bytes.set(body, 1)
  return sha256(bytes)
}
function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  const bytes = Buffer.allocUnsafe(1 + 2 * HASH_BYTES)
  bytes[0] = NODE
  bytes.set(left, 1)
  bytes.set(right, 1 + HASH_BYTES)
  return sha256(bytes)
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
  const leaves = bodies.map((body) => RECEIPT_BODY.encode({ ...body, channel: bytesOf(body.channelId) }))
  const levels = treeOf(leaves.map(leafHash))
  const root = levels.at(-1)?.[0]
  if (root === undefined) return []
  const signature = await sign(root)
  return leaves.map((body, i) => RECEIPT.encode({ body, ...pathTo(levels, i), signature }))
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

/** Undefined if the bytes are not a receipt, or more than `RECEIPT_BYTES_MAX`. `isSigned` checks the signature. */
export function readReceipt(encoded: Uint8Array): Receipt | undefined {
  if (encoded.length > RECEIPT_BYTES_MAX) return undefined
  try {
    const { body: leaf, path, index, signature } = RECEIPT.decode(encoded)
    const {
      channel,
      requestId,
      requestHash,
      api,
      charged,
      captured,
      reserved,
      status,
      at,
      rule: told
    } = RECEIPT_BODY.decode(leaf)
    if (channel.length !== HASH_BYTES || path.some((sibling) => sibling.length !== HASH_BYTES)) return undefined
    const rule = told && chargeRuleIn(told)
    // A receipt must state a rule that the payer knows, or it proves nothing about the price.
    if (rule !== told) return undefined
    const channelId = toHex(channel)
    const body = { channelId, requestId, requestHash, api, charged, captured, reserved, status, at }
    return { body: rule === undefined ? body : { ...body, rule }, leaf, path, index, signature }
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
