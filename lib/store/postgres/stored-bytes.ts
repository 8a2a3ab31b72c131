import type { ClientBase } from 'pg'
import { fitsShare } from '../stored-share.ts'

/** Bytes of stored responses that the running transaction adds, or deletes if negative, by row id of their peer. */
export type StoredDelta = ReadonlyMap<string, number>

/** Bytes of the stored responses of each peer. */
export interface PostgresStoredBytes {
  /** Decides for each body whether it is stored. */
  choose(db: ClientBase, bodies: ReadonlyArray<{ readonly peer: string; readonly bytes: number }>): Promise<boolean[]>
  /** Writes a change in the running transaction. */
  add(db: ClientBase, delta: StoredDelta): Promise<void>
}

/**
 * After this many commits, the bytes stored by other processes are read again. The limit protects the disk, so it need not be
 * exact.
 */
const READ_EVERY = 64

/** @param most maximum bytes of all peers together */
export function postgresStoredBytes(most: number): PostgresStoredBytes {
  let byPeer = new Map<string, number>()
  let total = 0
  let readIn = 0
  const count = (peer: string, bytes: number): void => {
    byPeer.set(peer, (byPeer.get(peer) ?? 0) + bytes)
    total += bytes
  }
  return {
    async choose(db, bodies) {
      if (readIn === 0) {
        const { rows } = await db.query<{ peer: string; bytes: string }>(
          'SELECT peer, bytes FROM stored_bytes WHERE bytes > 0'
        )
        byPeer = new Map(rows.map(({ peer, bytes }) => [peer, Number(bytes)]))
        total = [...byPeer.values()].reduce((sum, bytes) => sum + bytes, 0)
        readIn = READ_EVERY
      }
      readIn--
      const asked = new Map<string, number>()
      let all = total
      return bodies.map(({ peer, bytes }) => {
        const own = (byPeer.get(peer) ?? 0) + (asked.get(peer) ?? 0)
        if (!fitsShare(bytes, own, all, most)) return false
        asked.set(peer, (asked.get(peer) ?? 0) + bytes)
        all += bytes
        return true
      })
    },
    async add(db, delta) {
      if (delta.size === 0) return
      // By row id, so that two processes never wait for each other's rows.
      await db.query({
        name: 'add-stored-bytes',
        text: `INSERT INTO stored_bytes (peer, bytes)
               SELECT * FROM unnest($1::bigint[], $2::bigint[]) AS g (peer, bytes) ORDER BY peer
               ON CONFLICT (peer) DO UPDATE SET bytes = stored_bytes.bytes + excluded.bytes`,
        values: [[...delta.keys()], [...delta.values()]]
      })
      for (const [peer, bytes] of delta) count(peer, bytes)
    }
  }
}

export function sumByPeer(bodies: Iterable<{ readonly peer: string; readonly bytes: number }>): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { peer, bytes } of bodies) sums.set(peer, (sums.get(peer) ?? 0) + bytes)
  return sums
}
