import type { DatabaseSync } from 'node:sqlite'
import { fitsShare } from '../stored-share.ts'

/**
 * Bytes of the stored responses of each peer. Read once. Written with each commit that changes `responses`; those of staged calls are
 * counted again after a restart.
 */
export interface StoredBytes {
  /** True if one more body may be stored for the peer with this row id. */
  fits(peer: number, bytes: number): boolean
  /** Counts a body that the running transaction stores, or deletes if `bytes` is negative. */
  hold(peer: number, bytes: number): void
  /** Counts a held body that the running transaction writes to `responses`, or deletes there if `bytes` is negative. */
  place(peer: number, bytes: number): void
  /** Writes the changes, at the end of the running transaction. */
  write(): void
  /** Call it after a rollback. */
  forget(): void
}

/** @param most maximum bytes of all peers together */
export function sqliteStoredBytes(db: DatabaseSync, most: number): StoredBytes {
  const upsert = db.prepare(
    'INSERT INTO stored_bytes (peer, bytes) VALUES (?, ?) ON CONFLICT (peer) DO UPDATE SET bytes = excluded.bytes'
  )
  const remove = db.prepare('DELETE FROM stored_bytes WHERE peer = ?')
  const held = sums()
  const placed = sums()
  let total = 0
  const hold = (peer: number, bytes: number): void => {
    held.add(peer, bytes)
    total += bytes
  }
  for (const { peer, bytes } of db.prepare('SELECT peer, bytes FROM stored_bytes').iterate()) {
    hold(Number(peer), Number(bytes))
    placed.add(Number(peer), Number(bytes))
  }
  held.keep()
  placed.keep()

  return {
    fits: (peer, bytes) => fitsShare(bytes, held.of(peer), total, most),
    hold,
    place: (peer, bytes) => placed.add(peer, bytes),
    write() {
      for (const peer of placed.changed()) {
        const bytes = placed.of(peer)
        if (bytes > 0) upsert.run(peer, bytes)
        else remove.run(peer)
      }
      // A commit that fails ends the store.
      placed.keep()
      held.keep()
    },
    forget() {
      total -= held.forget()
      placed.forget()
    }
  }
}

/** Sums by peer, with the changes of the running transaction. */
function sums() {
  const sum = new Map<number, number>()
  const added = new Map<number, number>()
  const change = (peer: number, bytes: number): void => {
    const next = (sum.get(peer) ?? 0) + bytes
    if (next > 0) sum.set(peer, next)
    else sum.delete(peer)
  }
  return {
    of: (peer: number): number => sum.get(peer) ?? 0,
    changed: (): Iterable<number> => added.keys(),
    add(peer: number, bytes: number): void {
      added.set(peer, (added.get(peer) ?? 0) + bytes)
      change(peer, bytes)
    },
    keep: () => added.clear(),
    /** Returns the sum of the reverted changes. */
    forget(): number {
      let reverted = 0
      for (const [peer, bytes] of added) {
        change(peer, -bytes)
        reverted += bytes
      }
      added.clear()
      return reverted
    }
  }
}
