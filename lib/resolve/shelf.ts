import { LRUCache } from 'lru-cache'
import { toString } from 'uint8arrays/to-string'
import type { ApiId } from '../base/api-name.ts'
import { sha256 } from '../base/bytes.ts'
import type { Clock } from '../base/clock.ts'
import { CATALOGUE_BYTES_MAX, CATALOGUE_ENTRY_MS, CATALOGUE_MAX, CATALOGUE_PER_PUBLISHER_MAX } from '../base/limits.ts'
import type { SignedManifest } from '../interface/manifest.ts'

/** Verified listings of others, bounded in number, in bytes and for each publisher. */
export interface Shelf {
  /** Takes or refreshes a listing; a manifest older than the one kept is refused, as is one over its publisher's share. */
  put(signed: SignedManifest, source?: string): void
  /** A peer showed everything it serves: what it showed before and not any more is gone. */
  keepOnly(source: string, shown: ReadonlySet<ApiId>): void
  /** The listing with these very bytes, if it is here. */
  find(envelope: Uint8Array): SignedManifest | undefined
  /** What has neither expired nor been out of sight for `CATALOGUE_ENTRY_MS`. */
  listings(): SignedManifest[]
}

interface Entry {
  readonly signed: SignedManifest
  readonly hash: string
  readonly seenAt: number
  /** The peer that showed it last. */
  readonly source: string | undefined
}

export function createShelf(clock: Clock): Shelf {
  const perPublisher = new Map<string, number>()
  const byHash = new Map<string, SignedManifest>()
  const entries = new LRUCache<ApiId, Entry>({
    max: CATALOGUE_MAX,
    maxSize: CATALOGUE_BYTES_MAX,
    sizeCalculation: ({ signed }) => signed.envelope.length,
    onInsert: ({ signed, hash }) => {
      byHash.set(hash, signed)
      count(signed, 1)
    },
    dispose: ({ signed, hash }) => {
      byHash.delete(hash)
      count(signed, -1)
    }
  })

  function count({ manifest: { provider } }: SignedManifest, by: number): void {
    const listings = (perPublisher.get(provider) ?? 0) + by
    if (listings === 0) perPublisher.delete(provider)
    else perPublisher.set(provider, listings)
  }

  function holds({ signed, seenAt }: Entry): boolean {
    return signed.manifest.expiresAt > clock.now() && clock.elapsed() - seenAt < CATALOGUE_ENTRY_MS
  }

  return {
    put(signed, source) {
      const kept = entries.peek(signed.id)
      if (kept === undefined) {
        if ((perPublisher.get(signed.manifest.provider) ?? 0) >= CATALOGUE_PER_PUBLISHER_MAX) return
      } else if (kept.signed.manifest.revision > signed.manifest.revision) return
      // The old one first, so that the hash of the same bytes is not deleted after it was set.
      entries.delete(signed.id)
      const { envelope } = signed
      // Where it was learnt otherwise than from a catalogue, whoever showed it before may still take it back.
      const shownBy = source ?? kept?.source
      entries.set(signed.id, { signed, hash: hashOf(envelope), seenAt: clock.elapsed(), source: shownBy })
    },

    keepOnly(source, shown) {
      const before = [...entries.entries()]
      for (const [id, entry] of before) {
        if (entry.source === source && !shown.has(id)) entries.delete(id)
      }
    },

    find: (envelope) => byHash.get(hashOf(envelope)),

    listings() {
      const before = [...entries.entries()]
      for (const [id, entry] of before) if (!holds(entry)) entries.delete(id)
      return [...entries.values()].map(({ signed }) => signed)
    }
  }
}

const hashOf = (bytes: Uint8Array): string => toString(sha256(bytes), 'base64')
