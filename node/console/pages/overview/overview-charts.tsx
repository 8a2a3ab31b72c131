import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { SeriesView } from '../../../admin/events/series-api.ts'
import { queries } from '../../admin/queries.ts'
import { Chart } from '../../parts/chart/chart.tsx'
import { Choice } from '../../parts/form/choice.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { msText } from '../../parts/units.ts'

const HOUR_MS = 3_600_000
const SPANS = [
  { value: '1 h', name: '1 h', ms: HOUR_MS },
  { value: '24 h', name: '24 h', ms: 24 * HOUR_MS },
  { value: '7 d', name: '7 d', ms: 7 * 24 * HOUR_MS }
] as const
const ROLES = [
  { value: 'owner', name: 'Served' },
  { value: 'payer', name: 'Made' }
] as const

type Span = (typeof SPANS)[number]

/** Charts of call counts and latencies in the recent past. */
export function Charts() {
  const [chosen, choose] = useState<'owner' | 'payer'>()
  const [span, setSpan] = useState<Span['value']>('1 h')
  const ms = SPANS.find(({ value }) => value === span)?.ms ?? HOUR_MS
  const made = useQuery(queries.today('payer'))
  const served = useQuery(queries.today('owner'))
  // By default, a node that serves no calls shows the calls it made.
  const role = chosen ?? (served.data?.total.calls === 0 && (made.data?.total.calls ?? 0) > 0 ? 'payer' : 'owner')
  const series = useQuery(queries.series(role, ms))
  return (
    <section className="stack" aria-label="How calls went">
      <div className="row between">
        <h2>How calls went</h2>
        <div className="row">
          <Choice label="Calls" isBare options={ROLES} value={role} onChange={choose} />
          <Choice label="Over" isBare options={SPANS} value={span} onChange={setSpan} />
        </div>
      </div>
      <Loaded query={series}>{(view) => <Both view={view} span={span} />}</Loaded>
    </section>
  )
}

/** The chart starts with the node, but shows at least this many steps. */
const SHOWN_STEPS_MIN = 10

function Both({ view, span }: { readonly view: SeriesView; readonly span: string }) {
  const { total, step_ms, known_since } = view
  const isKnown = view.points.map((point) => point.at + step_ms > known_since)
  const points = view.points.slice(Math.min(isKnown.indexOf(true), view.points.length - SHOWN_STEPS_MIN))
  const at = points.map((point) => point.at)
  const step = step_ms === 60_000 ? 'minute' : 'quarter of an hour'
  const most = Math.max(0, ...points.map(({ calls }) => calls))
  const times =
    total.p50_ms === null || total.p95_ms === null
      ? 'No call in this time.'
      : `p50 ${msText(total.p50_ms)}: half took that long or less. p95 ${msText(total.p95_ms)}.`
  return (
    <div className="two even">
      <Chart
        title={`Calls per ${step}`}
        about={`${total.calls.toLocaleString()} in the last ${span}, ${total.errors.toLocaleString()} ${total.errors === 1 ? 'error' : 'errors'}; ${most.toLocaleString()} in the busiest ${step}.`}
        at={at}
        unit=""
        lines={[
          { name: 'calls', colour: '--focus', values: points.map(({ calls }) => calls) },
          { name: 'errors', colour: '--bad', values: points.map(({ errors }) => errors) }
        ]}
      />
      <Chart
        title="Latency"
        about={times}
        at={at}
        unit=" ms"
        lines={[
          { name: 'p50', colour: '--focus', values: points.map(({ p50_ms }) => p50_ms) },
          { name: 'p95', colour: '--warn', values: points.map(({ p95_ms }) => p95_ms) }
        ]}
      />
    </div>
  )
}
