import type { PrivateKey } from '@libp2p/interface'
import type { Clock } from '../../base/clock.ts'
import { SoukError } from '../../base/errors.ts'
import { CLOCK_SKEW_MS, DELEGATION_TTL_MS, DELEGATIONS_MAX, RECORD_TTL_MS } from '../../base/limits/directory.ts'
import type { DirectoryRecord, Offer } from '../../interface/directory.ts'
import type { Delegation } from '../../interface/manifest.ts'
import { mayServe, signDelegation } from './delegation.ts'
import { idOfKey } from './envelope.ts'
import { splitId } from './keys.ts'
import { signRecord, type VerifiedRecord } from './record.ts'

export interface RecordAuthorInit {
  /** The node's own libp2p key, Ed25519. */
  readonly privateKey: PrivateKey
  /** Default: the node's own key. */
  readonly providerKey?: PrivateKey
  readonly clock: Clock
  /** Included in every record, for announcements, which leave the network's own directory. Default none. */
  readonly network?: string
}

/** Writes the records of the APIs that this node serves, for its own provider and for others. */
export interface RecordAuthor {
  /** Peer id of this node. */
  readonly self: string
  /** True for this node's own provider. Then no existing record needs to be read first. */
  owns(offer: Offer): boolean
  /**
   * The signed record to put. `current` is the network's record; the new one gets a higher sequence number. A delegated
   * node keeps the delegations in `current`, or those of the offer if there is none. It returns `current` unchanged while
   * that is young and names this node.
   * @throws SoukError `key_not_permitted` (no delegation to this node), `invalid_request` (too much for one record)
   */
  write(offer: Offer, current?: VerifiedRecord): Promise<Uint8Array>
  /** The signed record that withdraws an own offer. @throws SoukError `invalid_request` for another provider's */
  writeEnd(offer: Offer): Promise<Uint8Array>
}

export function createRecordAuthor(init: RecordAuthorInit): RecordAuthor {
  const { privateKey, providerKey = privateKey, clock, network } = init
  const self = idOfKey(privateKey)
  const provider = idOfKey(providerKey)
  let lastSeq = 0n

  /**
   * Milliseconds since the epoch, or one above the last number. So it increases across restarts without being stored.
   */
  function nextSeq(above: bigint): bigint {
    const now = BigInt(clock.now())
    // The clock was set back. Nobody accepted the records of that time, and nobody would accept a higher number now.
    if (lastSeq > now + BigInt(CLOCK_SKEW_MS)) lastSeq = 0n
    const floor = (lastSeq > above ? lastSeq : above) + 1n
    lastSeq = now > floor ? now : floor
    return lastSeq
  }

  function draft(offer: Offer, delegations: readonly Delegation[], above: bigint): DirectoryRecord {
    if (delegations.length > DELEGATIONS_MAX) {
      throw new SoukError('invalid_request', `A provider can delegate to at most ${DELEGATIONS_MAX} nodes.`)
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
      // The provider key differs from the node's key, so the node needs a delegation too. It has the provider key to
      // sign one.
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
    const withOthers = (known: readonly Delegation[]) =>
      [mine, ...newest(known, now).filter(({ peer }) => peer !== self)].slice(0, DELEGATIONS_MAX)
    // A record may exist that a slow directory did not return. The offer has the delegations of the last one that this node read.
    if (current === undefined) return signRecord(draft(offer, withOthers(offer.delegations), 0n), privateKey)
    const { record, bytes } = current
    const named = record.delegations.some(({ peer }) => peer === self)
    const young = record.expiresAt - now > RECORD_TTL_MS / 2
    if (named && young && record.revision >= offer.revision) return bytes
    const latest = record.revision > offer.revision ? { ...offer, ...pick(record) } : offer
    return signRecord(draft(latest, withOthers(record.delegations), record.seq), privateKey)
  }

  const owns = (offer: Offer) => splitId(offer.id).provider === provider
  return {
    self,
    owns,
    async writeEnd(offer) {
      if (!owns(offer)) throw new SoukError('invalid_request', 'Only the provider can withdraw a listing.')
      return signRecord({ ...draft({ ...offer, delegations: [] }, [], 0n), isWithdrawn: true }, providerKey)
    },
    write: (offer, current) => (owns(offer) ? writeOwn(offer, current) : writeDelegated(offer, current))
  }
}

const pick = ({ manifestHash, revision }: DirectoryRecord) => ({ manifestHash, revision })

/** One unexpired delegation per node: the one that expires last. */
function newest(delegations: readonly Delegation[], now: number): Delegation[] {
  const byPeer = new Map<string, Delegation>()
  for (const delegation of delegations) {
    const other = byPeer.get(delegation.peer)
    if (delegation.expiresAt > Math.max(now, other?.expiresAt ?? 0)) byPeer.set(delegation.peer, delegation)
  }
  return [...byPeer.values()]
}
