import { sha256, utf8 } from '../base/bytes.ts'
import type { Resolution } from '../interface/directory.ts'
import type { PeerAddress } from '../interface/link.ts'
import type { PreparedCall } from './prepared-call.ts'
import type { UsedKey } from './used-keys.ts'

/** Owners to try, in order. The seller of a subscription is included even if the lookup did not find it. */
export function ownersFor({ init, terms }: PreparedCall, { owners }: Resolution): readonly PeerAddress[] {
  const { payment, idempotencyKey } = init
  if (payment !== undefined) return inOrderOf(idempotencyKey ?? payment, owners)
  if (terms === undefined) return idempotencyKey === undefined ? owners : inOrderOf(idempotencyKey, owners)
  const first = ownerById(terms.owner, owners)
  return terms.isOnly ? [first] : owners.includes(first) ? owners : [...owners, first]
}

/**
 * The owner that has the key in its books, even if the lookup did not find it. Another owner would run the call a
 * second time.
 */
export function ownersOf(
  { owner }: UsedKey,
  { owners }: Resolution,
  refusedBy?: ReadonlySet<string>
): readonly PeerAddress[] {
  return refusedBy?.has(owner) === true ? [] : [ownerById(owner, owners)]
}

/** The owner with this id, even if the lookup did not find it. */
export function ownerById(id: string, owners: readonly PeerAddress[]): PeerAddress {
  return owners.find((owner) => owner.id === id) ?? { id, addresses: [] }
}

/**
 * Ranks the owners by the payment or idempotency key. So a repeat reaches the owner that has its response, and repeated
 * price requests reach one owner and open one channel.
 */
function inOrderOf(text: string, owners: readonly PeerAddress[]): PeerAddress[] {
  const ranked = owners.map((owner) => ({ owner, rank: sha256(utf8(owner.id + text)) }))
  return ranked.sort((a, b) => Buffer.compare(a.rank, b.rank)).map(({ owner }) => owner)
}
