import { equals } from 'uint8arrays/equals'
import type { ApiId } from '../../base/api-name.ts'
import { sha256 } from '../../base/bytes.ts'
import type { Clock } from '../../base/clock.ts'
import { SoukError } from '../../base/errors.ts'
import type { DirectoryRecord } from '../../interface/directory.ts'
import type { Grade, ListingHead, ListingIndex, ListingPut } from '../../interface/listing-index.ts'
import type { SignedManifest } from '../../interface/manifest.ts'
import { storedManifest } from '../manifest/stored-manifest.ts'
import { peekRecord, verifyRecord } from '../directory/record.ts'
import { verifyManifest } from '../manifest/verify-manifest.ts'

export interface IntakeInit {
  readonly index: ListingIndex
  readonly network: string
  readonly clock: Clock
  readonly gradeOf: (id: ApiId) => Grade
}

/** A valid record of an announcement, and the stored listing of its API, if any. */
export interface CheckedRecord {
  readonly record: DirectoryRecord
  readonly bytes: Uint8Array
  readonly head: ListingHead | undefined
}

/** Verifies listings from untrusted peers once, before they are stored or forwarded. */
export class Intake {
  readonly #init: IntakeInit

  constructor(init: IntakeInit) {
    this.#init = init
  }

  /** The records that may be new, before any signature is checked. @throws where one is malformed */
  async changed(records: readonly Uint8Array[]): Promise<Uint8Array[]> {
    const peeked = records.map((bytes) => ({ bytes, ...peekRecord(bytes) }))
    const heads = await this.#headsOf(peeked.map(({ id }) => id as ApiId))
    const now = this.#init.clock.now()
    const isChanged = (record: { id: string; seq: bigint; expiresAt: number }) =>
      record.expiresAt > now && record.seq > (heads.get(record.id)?.seq ?? 0n)
    return peeked.filter(isChanged).map(({ bytes }) => bytes)
  }

  /**
   * Checks one record: encoding, network, signer, times, and that only the provider withdraws its listing.
   * @throws SoukError `invalid_request`
   */
  async check(bytes: Uint8Array): Promise<CheckedRecord> {
    const { network, clock } = this.#init
    const { record, signer } = await verifyRecord(bytes, { now: clock.now() })
    if (record.network !== network) throw new SoukError('invalid_request', 'The record is for another network.')
    const provider = record.id.slice(record.id.indexOf('@') + 1)
    if (record.isWithdrawn === true && signer !== provider) {
      throw new SoukError('invalid_request', 'Only the provider can withdraw a listing.')
    }
    const heads = await this.#headsOf([record.id])
    return { record, bytes, head: heads.get(record.id) }
  }

  /** True where the manifest that the record names is stored. */
  has({ record, head }: CheckedRecord): boolean {
    return head !== undefined && equals(head.hash, record.manifestHash)
  }

  /**
   * Verifies untrusted bytes as the manifest that a record names.
   * @throws SoukError `invalid_request`
   */
  async manifest({ record }: CheckedRecord, envelope: Uint8Array): Promise<SignedManifest> {
    if (!equals(sha256(envelope), record.manifestHash)) {
      throw new SoukError('invalid_request', 'The manifest does not match the hash in the record.')
    }
    // Copied, because the envelope is stored, and a view would keep the whole message in memory.
    return verifyManifest(envelope.slice(), { now: this.#init.clock.now(), id: record.id })
  }

  /** Stores a listing. `signed` may be omitted where the index has it. Resolves to true if it was new. */
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
    return envelope && storedManifest(envelope)
  }

  async #headsOf(ids: readonly ApiId[]): Promise<Map<string, ListingHead>> {
    return new Map((await this.#init.index.heads(ids)).map((head) => [head.id, head]))
  }
}
