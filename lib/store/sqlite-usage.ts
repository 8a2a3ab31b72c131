import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { ApiId } from '../base/api-name.ts'
import type { CallRecord, UsageRow } from '../interface/store.ts'

type Sum = { -readonly [K in Exclude<keyof UsageRow, 'api'>]: UsageRow[K] }

/** The sums by API. Moved once a transaction, so that reading them never costs a walk over all calls. */
export interface Usage {
  /** Counts a call that the running transaction holds. `api` is the row id of its name. */
  add(api: number, record: CallRecord): void
  /** Writes what was counted; part of the same transaction. */
  write(): void
  /** For after a rollback. */
  forget(): void
  all(): UsageRow[]
}

export function sqliteUsage(db: DatabaseSync): Usage {
  const select = db.prepare('SELECT captured, voided, metered, charged FROM usage WHERE api = ?')
  const selectAll = db.prepare(
    'SELECT n.name AS api, captured, voided, metered, charged FROM usage u JOIN names n ON n.id = u.api ORDER BY n.name'
  )
  const upsert = db.prepare(`
    INSERT INTO usage (api, captured, voided, metered, charged) VALUES (?, ?, ?, ?, ?) ON CONFLICT (api) DO UPDATE SET
    captured = excluded.captured, voided = excluded.voided, metered = excluded.metered, charged = excluded.charged`)
  const added = new Map<number, Sum>()

  return {
    add(api, { outcome, price, charged }) {
      const sum = added.get(api) ?? { captured: 0, voided: 0, metered: 0n, charged: 0n }
      added.set(api, sum)
      sum.charged += charged
      if (outcome === 'captured') {
        sum.captured++
        sum.metered += price
      } else sum.voided++
    },
    write() {
      for (const [api, sum] of added) {
        const before = toSum(select.get(api))
        const [metered, charged] = [before.metered + sum.metered, before.charged + sum.charged]
        const [captured, voided] = [before.captured + sum.captured, before.voided + sum.voided]
        upsert.run(api, captured, voided, metered.toString(), charged.toString())
      }
      added.clear()
    },
    forget: () => added.clear(),
    all: () => selectAll.all().map((row) => ({ api: row['api'] as ApiId, ...toSum(row) }))
  }
}

function toSum(row: Record<string, SQLOutputValue> | undefined): Sum {
  return {
    captured: Number(row?.['captured'] ?? 0),
    voided: Number(row?.['voided'] ?? 0),
    metered: BigInt(String(row?.['metered'] ?? 0)),
    charged: BigInt(String(row?.['charged'] ?? 0))
  }
}
