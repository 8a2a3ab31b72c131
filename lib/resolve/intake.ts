import { equals } from 'uint8arrays/equals'
import type { ApiId } from '../base/api-name.ts'
import { sha256 } from '../base/bytes.ts'
import type { Clock } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import type { DirectoryRecord } from '../interface/directory.ts'
import type { Grade, ListingHead, ListingIndex, ListingPut } from '../interface/listing-index.ts'
import type { SignedManifest } from '../interface/manifest.ts'
import { keptManifest } from './kept-manifest.ts'
import { peekRecord, verifyRecord } from './record.ts'
import { verifyManifest } from './verify-manifest.ts'

export interface IntakeInit {
  readonly index: ListingIndex
  readonly network: string
  readonly clock: Clock
  readonly gradeOf: (id: ApiId) => Grade
}

/** A record of an announcement that holds, and the listing with its manifest where that is here already. */
export interface CheckedRecord {
  readonly record: DirectoryRecord
  readonly bytes: Uint8Array
  readonly head: ListingHead | undefined
}

/** The gate of the catalogue: what strangers tell is verified here, once, before anything of it is kept or passed on. */
export class Intake {
  readonly #init: IntakeInit

  constructor(init: IntakeInit) {
    this.#init = init
  }

  /** Those records that may be news, before any signature is looked at. @throws where one cannot be read */
  async news(records: readonly Uint8Array[]): Promise<Uint8Array[]> {
    const peeked = records.map((bytes) => ({ bytes, ...peekRecord(bytes) }))
    const heads = await this.#headsOf(peeked.map(({ id }) => id as ApiId))
    const now = this.#init.clock.now()
    const isNews = (record: { id: string; seq: bigint; expiresAt: number }) =>
      record.expiresAt > now && record.seq > (heads.get(record.id)?.seq ?? 0n)
    return peeked.filter(isNews).map(({ bytes }) => bytes)
  }

  /**
   * Every check of one record: form, network, signer, dates, that it takes a listing back only for its provider.
   * @throws SoukError `invalid_request`
   */
  async check(bytes: Uint8Array): Promise<CheckedRecord> {
    const { network, clock } = this.#init
    const { record, signer } = await verifyRecord(bytes, { now: clock.now() })
    if (record.network !== network) throw new SoukError('invalid_request', 'The record is meant for another network.')
    const provider = record.id.slice(record.id.indexOf('@') + 1)
    if (record.isWithdrawn === true && signer !== provider) {
      throw new SoukError('invalid_request', 'Only its provider takes a listing back.')
    }
    const heads = await this.#headsOf([record.id])
    return { record, bytes, head: heads.get(record.id) }
  }

  /** The manifest that a record names is here, whatever was announced since. */
  has({ record, head }: CheckedRecord): boolean {
    return head !== undefined && equals(head.hash, record.manifestHash)
  }

  /**
   * The manifest that a record names, out of bytes of a stranger.
   * @throws SoukError `invalid_request`
   */
  async manifest({ record }: CheckedRecord, envelope: Uint8Array): Promise<SignedManifest> {
    if (!equals(sha256(envelope), record.manifestHash)) {
      throw new SoukError('invalid_request', 'The manifest is not the one that the record names.')
    }
    // Copied: the envelope is kept, and a view would keep the whole message.
    return verifyManifest(envelope.slice(), { now: this.#init.clock.now(), id: record.id })
  }

  /** Keeps a listing. `signed` may be left out where the index has it. Resolves to whether that was news. */
  async keep(checked: CheckedRecord, signed: SignedManifest | undefined, source?: string): Promise<boolean> {
    const manifest = signed ?? (await this.#known(checked))
    if (manifest === undefined) return false
    const [outcome] = await this.#init.index.put([this.#putOf(checked, manifest, source)])
    return outcome !== 'known' && outcome !== 'refused'
  }

  #putOf({ record, bytes }: CheckedRecord, signed: SignedManifest, source?: string): ListingPut {
    const { clock, gradeOf } = this.#init
    const now = clock.now()
    const expiresAt = Math.min(record.expiresAt, signed.manifest.expiresAt)
    return {
      signed,
      hash: record.manifestHash.slice(),
      record: { bytes: bytes.slice(), seq: record.seq },
      liveUntil: record.isWithdrawn === true ? now : expiresAt,
      keepUntil: expiresAt,
      grade: gradeOf(record.id),
      now,
      ...(source === undefined ? {} : { source })
    }
  }

  async #known({ record }: CheckedRecord): Promise<SignedManifest | undefined> {
    const envelope = await this.#init.index.envelope(record.manifestHash)
    return envelope && keptManifest(envelope)
  }

  async #headsOf(ids: readonly ApiId[]): Promise<Map<string, ListingHead>> {
    return new Map((await this.#init.index.heads(ids)).map((head) => [head.id, head]))
  }
}
