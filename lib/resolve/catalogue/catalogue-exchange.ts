import { equals } from 'uint8arrays/equals'
import { boundedMap } from '../../base/bounded-map.ts'
import { sha256 } from '../../base/bytes.ts'
import { type Clock, deadline } from '../../base/clock.ts'
import { isSoukError, SoukError } from '../../base/errors.ts'
import {
  CATALOGUE_CURSORS_MAX,
  CATALOGUE_DISTRUST_MS,
  CATALOGUE_EPOCH_CHARS_MAX,
  CATALOGUE_PAGES_MAX,
  CATALOGUE_QUIET_MS,
  CATALOGUE_READ_MS,
  CATALOGUE_RECORDS_MAX,
  CATALOGUE_REFUSED_MAX,
  CATALOGUE_REQUEST_BYTES_MAX,
  CATALOGUE_REQUESTS_BURST,
  CATALOGUE_REQUESTS_PER_SECOND,
  CATALOGUE_SILENT_MS,
  CATALOGUE_WANTED_MAX,
  MANIFEST_REPLY_BYTES_MAX
} from '../../base/limits/directory.ts'
import type { PeerClocks } from '../../base/peer-clocks.ts'
import { paced } from '../../base/paced.ts'
import { EXCHANGE_MS } from '../../base/limits/link.ts'
import type { Link, PeerAddress } from '../../interface/link.ts'
import type { ListingIndex } from '../../interface/listing-index.ts'
import { type CatalogueReply, type CatalogueRequest, CATALOGUE_REPLY, CATALOGUE_REQUEST } from './catalogue-codec.ts'
import { ignore } from '../../base/ignore.ts'
import { SingleFlight } from '../../base/single-flight.ts'
import { within } from '../../base/within.ts'
import type { CheckedRecord, Intake } from './intake.ts'

const CATALOGUE_PROTOCOL = '/souk/catalogue/1.0.0'
/** Part of a reply reserved for framing around records and manifests. */
const FRAMING_BYTES = 4 * 1024

export interface CatalogueExchangeInit {
  readonly link: Link
  readonly clocks: PeerClocks
  readonly index: ListingIndex
  readonly intake: Intake
  readonly network: string
  readonly clock: Clock
}

/** Serves peers that query the catalogue: records first, then the manifests they lack. */
export function serveCatalogue({
  link,
  index,
  network,
  clock
}: Omit<CatalogueExchangeInit, 'clocks' | 'intake'>): void {
  const rate = { burst: CATALOGUE_REQUESTS_BURST, perSecond: CATALOGUE_REQUESTS_PER_SECOND }
  const reply = async (bytes: Uint8Array) => {
    const request = CATALOGUE_REQUEST.decode(bytes)
    if (request.network !== network) throw new SoukError('invalid_request', 'This node belongs to another network.')
    return CATALOGUE_REPLY.encode({ ...(await answer(index, request)), at: clock.now() })
  }
  link.serve(CATALOGUE_PROTOCOL, paced(reply, { rate, peersMax: CATALOGUE_CURSORS_MAX, clock }), {
    requestBytesMax: CATALOGUE_REQUEST_BYTES_MAX
  })
}

async function answer(index: ListingIndex, { epoch, after, wanted }: CatalogueRequest): Promise<CatalogueReply> {
  const bytesMax = MANIFEST_REPLY_BYTES_MAX - FRAMING_BYTES
  if (wanted.length > 0) {
    const manifests: Uint8Array[] = []
    let bytes = 0
    for (const hash of wanted) {
      const envelope = await index.envelope(hash)
      if (envelope === undefined) continue
      bytes += envelope.length
      if (bytes > bytesMax) break
      manifests.push(envelope)
    }
    return { epoch: '', records: [], through: 0, hasMore: false, manifests }
  }
  const bounds = { limit: CATALOGUE_RECORDS_MAX, bytesMax }
  const changes = await index.changes(after, bounds)
  // Numbers of another epoch are meaningless, so the reply starts from the beginning.
  const told = changes.epoch === epoch || after === 0 ? changes : await index.changes(0, bounds)
  return { ...told, manifests: [] }
}

interface Place {
  epoch: string
  through: number
  quietUntil: number
  distrustedUntil: number
}

/** Queries peers for changes since the last query, and stores the valid ones. */
export class CatalogueReader {
  readonly #init: CatalogueExchangeInit
  readonly #places = boundedMap<string, Place>(CATALOGUE_CURSORS_MAX)
  readonly #reading = new SingleFlight<string, void>()

  constructor(init: CatalogueExchangeInit) {
    this.#init = init
  }

  /** The peer had nothing new a short while ago. */
  isQuiet({ id }: PeerAddress): boolean {
    return this.#init.clock.elapsed() < (this.#places.get(id)?.quietUntil ?? -Infinity)
  }

  /**
   * Rejects only with the signal's reason, because peers need not respond. Concurrent reads of one peer share one query, which
   * continues when they end: on a slow link it takes longer than a search waits.
   */
  read(peer: PeerAddress, signal: AbortSignal): Promise<void> {
    return within(
      this.#reading.run(peer.id, () => this.#read(peer)),
      signal
    )
  }

  /** Whether a peer has this manifest in its catalogue. False also if the peer does not respond within `EXCHANGE_MS`. */
  async hasManifest(peer: PeerAddress, envelope: Uint8Array, parent: AbortSignal): Promise<boolean> {
    const limit = deadline(this.#init.clock, EXCHANGE_MS, () => new SoukError('lookup_timeout'), parent)
    try {
      const { manifests } = await this.#ask(peer, { wanted: [sha256(envelope)] }, limit.signal)
      return manifests.some((manifest) => equals(manifest, envelope))
    } catch {
      return false
    } finally {
      limit.clear()
    }
  }

  /** Fetches a record's manifest from the peer that sent the record. */
  async fetch(checked: CheckedRecord, peer: PeerAddress, signal: AbortSignal): Promise<void> {
    await this.#take([checked], peer, signal)
  }

  async #read(peer: PeerAddress): Promise<void> {
    const { clock } = this.#init
    const place = this.#places.get(peer.id) ?? {
      epoch: '',
      through: 0,
      quietUntil: -Infinity,
      distrustedUntil: -Infinity
    }
    if (clock.elapsed() < place.distrustedUntil) return
    this.#places.set(peer.id, place)
    const limit = deadline(clock, CATALOGUE_READ_MS, () => new SoukError('owner_unreachable'))
    const { signal } = limit
    try {
      for (let pages = 0; pages < CATALOGUE_PAGES_MAX; pages++) {
        const reply = await this.#ask(peer, { epoch: place.epoch, after: place.through }, signal)
        if (reply.epoch.length > CATALOGUE_EPOCH_CHARS_MAX)
          throw new SoukError('invalid_request', 'The epoch of the peer is too long.')
        await this.#takePage(reply.records, peer, signal)
        const isStuck = reply.epoch === place.epoch && reply.through <= place.through
        if (reply.hasMore && isStuck) throw new SoukError('invalid_request', 'The peer sent the same page again.')
        place.epoch = reply.epoch
        place.through = reply.through
        if (pages === 0 && reply.records.length === 0) place.quietUntil = clock.elapsed() + CATALOGUE_QUIET_MS
        if (!reply.hasMore) return
      }
    } catch (error) {
      // After no response or an invalid one, the peer is not queried for a while.
      const pauseMs =
        isSoukError(error) && error.code === 'owner_unreachable' ? CATALOGUE_SILENT_MS : CATALOGUE_DISTRUST_MS
      place.distrustedUntil = clock.elapsed() + pauseMs
    } finally {
      limit.clear()
    }
  }

  async #takePage(records: readonly Uint8Array[], peer: PeerAddress, signal: AbortSignal): Promise<void> {
    const { intake } = this.#init
    const checked: CheckedRecord[] = []
    let refused = 0
    for (const bytes of await intake.changed(records)) {
      const record = await intake.check(bytes).catch(ignore)
      signal.throwIfAborted()
      if (record !== undefined) checked.push(record)
      else if (++refused > CATALOGUE_REFUSED_MAX)
        throw new SoukError('invalid_request', 'The peer sent too many invalid records.')
    }
    await this.#take(checked, peer, signal)
  }

  async #take(checked: readonly CheckedRecord[], peer: PeerAddress, signal: AbortSignal): Promise<void> {
    const { intake } = this.#init
    for (const each of checked.filter((record) => intake.has(record))) await intake.keep(each, undefined, peer.id)
    let missing = checked.filter((record) => !intake.has(record))
    while (missing.length > 0) {
      const wanted = missing.slice(0, CATALOGUE_WANTED_MAX).map(({ record }) => record.manifestHash)
      const { manifests } = await this.#ask(peer, { wanted }, signal)
      const taken = new Set<CheckedRecord>()
      for (const envelope of manifests) {
        const hash = sha256(envelope)
        const asked = missing.find(({ record }) => equals(record.manifestHash, hash))
        if (asked === undefined)
          throw new SoukError('invalid_request', 'The peer sent a manifest that was not requested.')
        taken.add(asked)
        const signed = await intake.manifest(asked, envelope).catch(ignore)
        if (signed !== undefined) await intake.keep(asked, signed, peer.id)
      }
      // The peer may have evicted some. Each manifest is requested once.
      const rest = missing.filter((record) => !taken.has(record))
      missing = taken.size > 0 ? rest : rest.slice(CATALOGUE_WANTED_MAX)
    }
  }

  async #ask(
    peer: PeerAddress,
    { epoch = '', after = 0, wanted = [] }: Partial<CatalogueRequest>,
    signal: AbortSignal
  ): Promise<CatalogueReply> {
    const { link, network, clock, clocks } = this.#init
    const askedAt = clock.elapsed()
    const request = CATALOGUE_REQUEST.encode({ network, epoch, after, wanted })
    const bytes = await link.exchange(peer, CATALOGUE_PROTOCOL, request, {
      responseBytesMax: MANIFEST_REPLY_BYTES_MAX,
      signal
    })
    const reply = CATALOGUE_REPLY.decode(bytes)
    if (reply.at !== undefined) clocks.heard(peer.id, reply.at, askedAt)
    return reply
  }
}
