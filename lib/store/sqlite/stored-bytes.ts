import type { DatabaseSync } from 'node:sqlite'
import { fitsShare } from '../stored-share.ts'

/** Bytes of the stored responses of each peer. Read once; written with each commit that changes them. */
export interface StoredBytes {
  /** True if one more body may be stored for the peer with this row id. */
  fits(peer: number, bytes: number): boolean
  /** Counts a body that the running transaction stores, or deletes if `bytes` is negative. */
  add(peer: number, bytes: number): void
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
  const byPeer = new Map<number, number>()
  /** Changes by the running transaction. */
  const added = new Map<number, number>()
  let total = 0
  const add = (peer: number, bytes: number): void => {
    added.set(peer, (added.get(peer) ?? 0) + bytes)
    byPeer.set(peer, (byPeer.get(peer) ?? 0) + bytes)
    total += bytes
  }
  for (const { peer, bytes } of db.prepare('SELECT peer, bytes FROM stored_bytes').iterate()) {
    add(Number(peer), Number(bytes))
  }
  added.clear()

  return {
    fits: (peer, bytes) => fitsShare(bytes, byPeer.get(peer) ?? 0, total, most),
    add,
    write() {
      for (const peer of added.keys()) {
        const bytes = byPeer.get(peer) ?? 0
        if (bytes > 0) upsert.run(peer, bytes)
        else {
          remove.run(peer)
          byPeer.delete(peer)
        }
      }
      // A commit that fails ends the store.
      added.clear()
    },
    forget() {
      for (const [peer, bytes] of added) {
        byPeer.set(peer, (byPeer.get(peer) ?? 0) - bytes)
        total -= bytes
      }
      added.clear()
    }
  }
}
