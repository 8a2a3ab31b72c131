import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { type ApiView, type DoctorView, queries } from '../admin/queries.ts'
import { Amount } from '../parts/amount.tsx'
import { Empty } from '../parts/empty.tsx'
import { Figures } from '../parts/figures.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { State } from '../parts/state.tsx'
import { Table } from '../parts/table.tsx'

/** How the node does, and what wants attention. */
export function Overview() {
  const status = useQuery(queries.status())
  const apis = useQuery({ ...queries.apis(), refetchInterval: 5_000 })
  const doctor = useQuery({ ...queries.doctor(), refetchInterval: 60_000 })
  return (
    <Page title="Overview" intro="What this node sells and calls, and how it is doing.">
      <Loaded query={status}>
        {({ peers, serving, calling }) => (
          <Figures
            figures={[
              { name: 'Peers', value: peers },
              { name: 'Calls now', value: serving + calling, note: `${serving} served, ${calling} made` },
              ...totals(apis.data?.apis ?? [])
            ]}
          />
        )}
      </Loaded>
      <Loaded query={doctor}>{(view) => <Attention view={view} />}</Loaded>
      <Loaded query={apis}>{({ apis }) => (apis.length === 0 ? <Nothing /> : <Served apis={apis} />)}</Loaded>
    </Page>
  )
}

function totals(apis: readonly ApiView[]) {
  const captured = apis.reduce((sum, { calls }) => sum + calls.captured, 0)
  const voided = apis.reduce((sum, { calls }) => sum + calls.voided, 0)
  return [
    { name: 'Calls answered', value: captured.toLocaleString() },
    { name: 'Not charged', value: voided.toLocaleString(), note: 'failed or refused' }
  ]
}

function Attention({ view }: { readonly view: DoctorView }) {
  const wanting = view.checks.filter(({ result }) => result !== 'ok')
  if (wanting.length === 0) return null
  return (
    <section className="card">
      <h2>Needs attention</h2>
      <ul className="stack" style={{ listStyle: 'none', padding: 0 }}>
        {wanting.map(({ name, result, message, hint }) => (
          <li key={name}>
            <p className="row">
              <State state={result} />
              <strong>{name}</strong>
            </p>
            <p>{message}</p>
            {hint !== undefined && <p className="quiet">{hint}</p>}
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
        <Link href="/register" className="button first">
          Register an API
        </Link>
      }
    >
      Put a REST, SOAP or GraphQL API on the market: the node reads its endpoint, you set a price, and 95% of every call
      is yours.
    </Empty>
  )
}
