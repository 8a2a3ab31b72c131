import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { SubscriberView } from '../../admin/subscriptions/subscription-api.ts'
import { queries } from '../admin/queries.ts'
import { Empty } from './empty.tsx'
import { Loaded } from './loaded.tsx'
import { Moment } from './moment.tsx'
import { State } from './state.tsx'
import { Table } from './table.tsx'

/** Subscribers of one API, or of all APIs served here. */
export function Subscribers({ api, action }: { readonly api?: string; readonly action?: ReactNode }) {
  const subscribers = useQuery(queries.subscribers(api))
  return (
    <Loaded query={subscribers}>
      {({ subscribers, next }) =>
        subscribers.length === 0 ? (
          <Empty title="No subscribers yet" action={action}>
            Subscribers of a plan get calls for a fee, instead of paying per call.
          </Empty>
        ) : (
          <>
            <Table
              caption="Subscribers"
              rows={subscribers}
              keyOf={({ id }) => id}
              columns={[
                {
                  title: 'Subscriber',
                  cell: ({ peer, account }) => <span className="id">{account ?? `…${peer.slice(-12)}`}</span>
                },
                ...(api === undefined
                  ? [
                      {
                        title: 'API',
                        cell: ({ api }: SubscriberView) => {
                          const name = api.split('@')[0] ?? api
                          return <Link href={`/apis/${name}/plans`}>{name}</Link>
                        }
                      }
                    ]
                  : []),
                {
                  title: 'Plan',
                  cell: ({ plan, next_plan }) => (next_plan === null ? plan : `${plan}, then ${next_plan}`)
                },
                { title: 'State', cell: ({ state }) => <State state={state} /> },
                { title: 'Since', cell: ({ created_at }) => <Moment at={created_at} /> },
                { title: 'Period ends', cell: ({ period_end }) => <Moment at={period_end} /> }
              ]}
            />
            {next !== null && (
              <p className="quiet small">There are more subscribers. To see all of them, run souk subscribers.</p>
            )}
          </>
        )
      }
    </Loaded>
  )
}
