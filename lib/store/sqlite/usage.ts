import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { ApiId } from '../../base/api-name.ts'
import { SUMS_BEHIND_MAX } from '../../base/limits/store.ts'
import type { ChargeRule } from '../../interface/charge-rule.ts'
import type { CallOutcome, CallRecord, UsageRow } from '../../interface/store.ts'
import { isCall } from '../call-record.ts'

type Sum = { -readonly [K in Exclude<keyof UsageRow, 'api'>]: UsageRow[K] }

/**
 * The sums by API, so that reading them needs no scan of all calls. They are written now and then, with the call up to which they
 * are summed. Later calls are cached, and counted again after a restart.
 */
export interface Usage {
  /** Counts a call of the running transaction. @param api the row id of its name */
  add(api: number, call: Pick<CallRecord, 'outcome' | 'price' | 'charged' | 'rule'>): void
  /** True if there are enough changes to write the sums. All calls have to be in their table then. */
  readonly isDue: boolean
  /** Writes the sums if they are due, at the end of the running transaction. */
  write(): void
  /** Forces the running transaction to write them, because it deletes calls that a restart could not count again. */
  settle(): void
  /** Call it after the commit. */
  keep(): void
  /** Call it after a rollback. */
  forget(): void
  all(): UsageRow[]
}

export function sqliteUsage(db: DatabaseSync): Usage {
  const select = db.prepare('SELECT captured, voided, metered, charged FROM usage WHERE api = ?')
  const selectApis = db.prepare(
    'SELECT n.name, n.id FROM names n WHERE n.id IN (SELECT api FROM usage UNION SELECT value FROM json_each(?)) ORDER BY n.name'
  )
  const upsert = db.prepare(`
    INSERT INTO usage (api, captured, voided, metered, charged) VALUES (?, ?, ?, ?, ?) ON CONFLICT (api) DO UPDATE SET
    captured = excluded.captured, voided = excluded.voided, metered = excluded.metered, charged = excluded.charged`)
  const moveOn = db.prepare(`UPDATE sums SET through = coalesce((SELECT max(seq) FROM calls), 0) WHERE name = 'usage'`)
  /** Changes by the running transaction. */
  const added = new Map<number, Sum>()
  /** Changes since the sums were written. */
  const since = new Map<number, Sum>()
  let behind = 0
  const through = (api: number): Sum => plus(toSum(select.get(api)), since.get(api))
  const add: Usage['add'] = (api, call) => {
    const { outcome, price, charged } = call
    let sum = added.get(api)
    if (sum === undefined) added.set(api, (sum = { ...NOTHING }))
    sum.charged += charged
    if (outcome === 'captured') {
      if (isCall(call)) sum.captured++
      sum.metered += price
    } else sum.voided++
    behind++
  }
  const keep = (): void => {
    for (const [api, sum] of added) since.set(api, plus(sum, since.get(api)))
    added.clear()
  }

  const selectSince = db.prepare(`
    SELECT api, outcome, price, charged, rule FROM calls
    WHERE seq > (SELECT coalesce(max(through), 0) FROM sums WHERE name = 'usage')`)
  selectSince.setReadBigInts(true)
  for (const { api, outcome, price, charged, rule } of selectSince.all()) {
    const why = rule === null ? {} : { rule: rule as ChargeRule }
    add(Number(api), { outcome: outcome as CallOutcome, price: price as bigint, charged: charged as bigint, ...why })
  }
  keep()

  return {
    add,
    get isDue() {
      return behind >= SUMS_BEHIND_MAX
    },
    write() {
      if (!this.isDue) return
      for (const api of new Set([...since.keys(), ...added.keys()])) {
        const { captured, voided, metered, charged } = plus(through(api), added.get(api))
        upsert.run(api, captured, voided, metered.toString(), charged.toString())
      }
      moveOn.run()
      // The table has these sums now. If the commit fails, the store ends.
      since.clear()
      added.clear()
      behind = 0
    },
    settle: () => void (behind = SUMS_BEHIND_MAX),
    keep,
    forget: () => added.clear(),
    all: () =>
      selectApis
        .all(JSON.stringify([...since.keys()]))
        .map(({ id, name }) => ({ api: name as ApiId, ...through(Number(id)) }))
  }
}

const NOTHING: Readonly<Sum> = { captured: 0, voided: 0, metered: 0n, charged: 0n }

function plus(a: Sum, b: Sum = NOTHING): Sum {
  return {
    captured: a.captured + b.captured,
    voided: a.voided + b.voided,
    metered: a.metered + b.metered,
    charged: a.charged + b.charged
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
