import type { PrivateKey } from '@libp2p/interface'
import type { Clock } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import { DELEGATION_TTL_MS, DELEGATIONS_MAX, RECORD_TTL_MS } from '../base/limits.ts'
import type { DirectoryRecord, Offer } from '../interface/directory.ts'
import type { Delegation } from '../interface/manifest.ts'
import { mayServe, signDelegation } from './delegation.ts'
import { idOfKey } from './envelope.ts'
import { splitId } from './keys.ts'
import { signRecord, type VerifiedRecord } from './record.ts'

export interface RecordAuthorInit {
  /** The node's own libp2p key, Ed25519. */
  readonly privateKey: PrivateKey
  /** Default: the node's own. */
  readonly providerKey?: PrivateKey
  readonly clock: Clock
  /** Written into every record: for announcements, which travel outside the network's own directory. Default none. */
  readonly network?: string
}

/** Writes the records of what this node serves, its provider's and others'. */
export interface RecordAuthor {
  /** Peer id of this node. */
  readonly self: string
  /** The offer is of this node's own provider: no record of others has to be asked for first. */
  owns(offer: Offer): boolean
  /**
   * The bytes to put. `current` is the record the network holds: the new one goes above it, and a node that only has a
   * delegation takes over the delegations in it, or puts it again as it is while it is young and names this node.
   * @throws SoukError `key_not_permitted` (no delegation to this node), `invalid_request` (too much for one record)
   */
  write(offer: Offer, current?: VerifiedRecord): Promise<Uint8Array>
  /** The bytes that take an own offer back. @throws SoukError `invalid_request` for another provider's */
  writeEnd(offer: Offer): Promise<Uint8Array>
}

export function createRecordAuthor(init: RecordAuthorInit): RecordAuthor {
  const { privateKey, providerKey = privateKey, clock, network } = init
  const self = idOfKey(privateKey)
  const provider = idOfKey(providerKey)
  let lastSeq = 0n

  /** Milliseconds since the epoch, or one above the last: grows over restarts without anything being kept. */
  function nextSeq(above: bigint): bigint {
    const now = BigInt(clock.now())
    const floor = (lastSeq > above ? lastSeq : above) + 1n
    lastSeq = now > floor ? now : floor
    return lastSeq
  }

  function draft(offer: Offer, delegations: readonly Delegation[], above: bigint): DirectoryRecord {
    if (delegations.length > DELEGATIONS_MAX) {
      throw new SoukError('invalid_request', `At most ${DELEGATIONS_MAX} nodes can be delegated to.`)
    }
    const { id, manifestHash, revision } = offer
    const issuedAt = clock.now()
    const expiresAt = issuedAt + RECORD_TTL_MS
    const record = { id, seq: nextSeq(above), issuedAt, expiresAt, manifestHash, revision, delegations }
    return network === undefined ? record : { ...record, network }
  }

  async function writeOwn(offer: Offer, current?: VerifiedRecord): Promise<Uint8Array> {
    const now = clock.now()
    const delegations = newest(offer.delegations, now)
    if (!mayServe(self, provider, delegations, now)) {
      // A provider key kept apart from the node's: the node needs its word too, and has the key at hand.
      delegations.push(await signDelegation({ peer: self, expiresAt: now + DELEGATION_TTL_MS }, providerKey))
    }
    return signRecord(draft(offer, delegations, current?.record.seq ?? 0n), providerKey)
  }

  async function writeDelegated(offer: Offer, current?: VerifiedRecord): Promise<Uint8Array> {
    const now = clock.now()
    const mine = newest(offer.delegations, now).find(({ peer }) => peer === self)
    if (mine === undefined) {
      throw new SoukError('key_not_permitted', `The provider of ${offer.id} has not delegated to this node.`)
    }
    if (current === undefined) return signRecord(draft(offer, [mine], 0n), privateKey)
    const { record, bytes } = current
    const named = record.delegations.some(({ peer }) => peer === self)
    const young = record.expiresAt - now > RECORD_TTL_MS / 2
    if (named && young && record.revision >= offer.revision) return bytes
    const others = newest(record.delegations, now).filter(({ peer }) => peer !== self)
    const delegations = [mine, ...others].slice(0, DELEGATIONS_MAX)
    const latest = record.revision > offer.revision ? { ...offer, ...pick(record) } : offer
    return signRecord(draft(latest, delegations, record.seq), privateKey)
  }

  const owns = (offer: Offer) => splitId(offer.id).provider === provider
  return {
    self,
    owns,
    async writeEnd(offer) {
      if (!owns(offer)) throw new SoukError('invalid_request', 'Only its provider takes a listing back.')
      return signRecord({ ...draft({ ...offer, delegations: [] }, [], 0n), isWithdrawn: true }, providerKey)
    },
    write: (offer, current) => (owns(offer) ? writeOwn(offer, current) : writeDelegated(offer, current))
  }
}

const pick = ({ manifestHash, revision }: DirectoryRecord) => ({ manifestHash, revision })

/** One delegation per node, the one that holds longest; none that has expired. */
function newest(delegations: readonly Delegation[], now: number): Delegation[] {
  const byPeer = new Map<string, Delegation>()
  for (const delegation of delegations) {
    const other = byPeer.get(delegation.peer)
    if (delegation.expiresAt > Math.max(now, other?.expiresAt ?? 0)) byPeer.set(delegation.peer, delegation)
  }
  return [...byPeer.values()]
}
