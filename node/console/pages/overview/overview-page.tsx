import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { type ApiView, type DoctorView, type EarningsView, queries } from '../../admin/queries.ts'
import { Amount } from '../../parts/amount.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Figures } from '../../parts/chart/figures.tsx'
import { Hint } from '../../parts/hint.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { providerShare } from '../../parts/money.ts'
import { Page } from '../../parts/page.tsx'
import { State } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { msText } from '../../parts/units.ts'
import { Charts } from './overview-charts.tsx'

/** Status of the node, and open problems. */
export function Overview() {
  const apis = useQuery(queries.apis())
  const doctor = useQuery({ ...queries.doctor(), refetchInterval: 60_000 })
  return (
    <Page title="Overview" intro="What this node sells and calls, and how it is doing.">
      <Today />
      <Loaded query={doctor}>{(view) => <Attention view={view} />}</Loaded>
      <Charts />
      <Loaded query={apis}>{({ apis }) => (apis.length === 0 ? <Nothing /> : <Served apis={apis} />)}</Loaded>
    </Page>
  )
}

/** Figures since midnight in the user's time zone, or since the node's start if that is later. */
function Today() {
  const status = useQuery(queries.status())
  const served = useQuery(queries.today('owner'))
  const made = useQuery(queries.today('payer'))
  const earnings = useQuery({ ...queries.earnings(), enabled: status.data?.wallet != null, retry: false })
  return (
    <Loaded query={served}>
      {({ total, known_since }) => (
        <Figures
          figures={[
            {
              name: 'Calls served today',
              value: total.calls.toLocaleString(),
              note: known_since > new Date().setHours(0, 0, 0, 0) ? 'since the node started' : undefined
            },
            { name: 'Errors', value: total.errors.toLocaleString(), note: partText(total.errors, total.calls) },
            {
              name: 'Latency, p50',
              value: total.p50_ms === null ? '–' : msText(total.p50_ms),
              note: total.p95_ms === null ? 'no call yet' : `p95 ${msText(total.p95_ms)}`
            },
            {
              name: 'Earned today',
              value: <Amount value={total.charged} />,
              note: total.charged === '0' ? '95% is yours' : `${providerShare(total.charged) ?? '0'} of it is yours`
            },
            pendingFigure(earnings.data),
            {
              name: 'Calls made today',
              value: (made.data?.total.calls ?? 0).toLocaleString(),
              note: (
                <>
                  <Amount value={made.data?.total.charged ?? '0'} /> paid
                </>
              )
            },
            { name: 'Running now', value: (status.data?.serving ?? 0) + (status.data?.calling ?? 0), note: 'calls' },
            {
              name: 'Peers',
              value: status.data?.peers ?? '–',
              note: status.data?.alone === true ? 'other nodes cannot find this node' : 'connected'
            }
          ]}
        />
      )}
    </Loaded>
  )
}

/** Undefined without a wallet, or before the chain responds. */
function pendingFigure(earnings: EarningsView | undefined) {
  const name = 'Pending settlement'
  if (earnings === undefined) return { name, value: '–', note: 'no wallet' }
  return { name, value: <Amount value={earnings.providers[0]?.captured ?? '0'} />, note: 'in channels' }
}

function partText(some: number, all: number): string {
  return all === 0 ? 'no call yet' : `${((some / all) * 100).toFixed(some === 0 || some === all ? 0 : 1)}%`
}

function Attention({ view }: { readonly view: DoctorView }) {
  const wanting = view.checks.filter(({ result }) => result !== 'ok')
  if (wanting.length === 0) return null
  return (
    <section className="card">
      <h2>Needs attention</h2>
      <ul className="rows">
        {wanting.map(({ name, result, message, hint }) => (
          <li key={name}>
            <div className="attention">
              <p>
                <strong>{name}</strong> {message}
              </p>
              {hint !== undefined && <Hint>{hint}</Hint>}
            </div>
            <State state={result} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function Served({ apis }: { readonly apis: readonly ApiView[] }) {
  return (
    <Table
      caption="APIs this node serves"
      rows={apis}
      keyOf={({ id }) => id}
      columns={[
        { title: 'API', cell: ({ name }) => <Link href={`/apis/${name}`}>{name}</Link> },
        { title: 'State', cell: ({ state, problem }) => <State state={problem === null ? state : 'unserved'} /> },
        { title: 'Price', cell: ({ price }) => <Amount value={price} />, isNumber: true },
        { title: 'Calls', cell: ({ calls }) => calls.captured.toLocaleString(), isNumber: true },
        { title: 'Charged', cell: ({ charged }) => <Amount value={charged} />, isNumber: true }
      ]}
    />
  )
}

function Nothing() {
  return (
    <Empty
      title="Nothing is sold here yet"
      action={
        <Link href="/setup" className="button first">
          Set this node up
        </Link>
      }
    >
      Put a REST, SOAP or GraphQL API on the market: the node reads its endpoint, you set a price, and 95% of every call
      is yours.
    </Empty>
  )
}
