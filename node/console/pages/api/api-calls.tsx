import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { type ApiView, queries } from '../../admin/queries.ts'
import { Amount } from '../../parts/amount.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Figures } from '../../parts/chart/figures.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Table } from '../../parts/table.tsx'

/** Call counts of an API, and its last charged calls. */
export function ApiCalls({ api }: { readonly api: ApiView }) {
  const { data: status } = useQuery(queries.status())
  const movesMoney = status !== undefined && status.wallet !== null
  return (
    <>
      <Figures
        figures={[
          { name: 'Answered', value: api.calls.captured.toLocaleString() },
          { name: 'Not charged', value: api.calls.voided.toLocaleString(), note: 'failed or refused' },
          { name: 'Under way', value: api.in_flight },
          { name: 'Charged', value: <Amount value={api.charged} />, note: `of ${api.metered} metered` }
        ]}
      />
      {movesMoney && <Receipts api={api} />}
    </>
  )
}

function Receipts({ api }: { readonly api: ApiView }) {
  const receipts = useQuery({ ...queries.receipts('owner', api.id), refetchInterval: 5_000 })
  return (
    <Loaded query={receipts}>
      {({ receipts }) =>
        receipts.length === 0 ? (
          <Empty
            title="No call was charged yet"
            action={
              <Link className="button first" href={`/apis/${api.name}/try`}>
                Try it
              </Link>
            }
          >
            A call is charged only if it succeeds. Calls that this node makes to its own API cost nothing.
          </Empty>
        ) : (
          <Table
            caption={`Charged calls of ${api.name}, newest first`}
            rows={receipts}
            keyOf={({ request_id }) => request_id}
            columns={[
              { title: 'Request', cell: ({ request_id }) => <span className="id">{request_id}</span> },
              { title: 'When', cell: ({ at }) => <Moment at={at} /> },
              { title: 'Status', cell: ({ status }) => status, isNumber: true },
              {
                title: 'Consumer',
                cell: ({ peer }) => <span className="id">{peer === null ? 'x402' : `…${peer.slice(-10)}`}</span>
              },
              { title: 'Charged', cell: ({ charged }) => <Amount value={charged} />, isNumber: true }
            ]}
          />
        )
      }
    </Loaded>
  )
}
