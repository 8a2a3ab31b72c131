import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { queries } from '../../admin/queries.ts'
import { Amount } from '../../parts/amount.tsx'
import { Command } from '../../parts/code/command.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { State } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'

export function Apis() {
  const apis = useQuery({ ...queries.apis(), refetchInterval: 5_000 })
  return (
    <Page
      title="My APIs"
      intro="APIs that this node serves: your own, and those of providers who delegated to it."
      actions={
        <Link href="/register" className="button first">
          <Icon name="plus" />
          Register an API
        </Link>
      }
    >
      <Loaded query={apis}>
        {({ apis }) =>
          apis.length === 0 ? (
            <Empty
              title="No API is registered"
              action={
                <Link href="/register" className="button first">
                  Register your first API
                </Link>
              }
            >
              Put a REST, SOAP or GraphQL API on the market. Its endpoint is read and checked first: nothing is
              published that does not respond.
            </Empty>
          ) : (
            <Table
              caption="APIs this node serves"
              rows={apis}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: 'API',
                  cell: ({ name, own, endpoint, reach }) => (
                    <>
                      <Link href={`/apis/${name}`}>{name}</Link>
                      {!own && <span className="quiet small"> for another provider</span>}
                      <small className="under id ellipsis" title={endpoint}>
                        {endpoint}
                      </small>
                      <small className="under quiet">{reach}</small>
                    </>
                  )
                },
                { title: 'Protocol', cell: ({ protocol }) => protocol },
                {
                  title: 'State',
                  cell: ({ state, problem }) => <State state={problem === null ? state : 'unserved'} />
                },
                { title: 'Price', cell: ({ price }) => <Amount value={price} />, isNumber: true },
                { title: 'Calls', cell: ({ calls }) => calls.captured.toLocaleString(), isNumber: true },
                { title: 'Not charged', cell: ({ calls }) => calls.voided.toLocaleString(), isNumber: true },
                { title: 'Charged', cell: ({ charged }) => <Amount value={charged} />, isNumber: true }
              ]}
            />
          )
        }
      </Loaded>
      <Command>souk api list</Command>
    </Page>
  )
}
