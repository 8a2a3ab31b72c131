import { useQuery } from '@tanstack/react-query'
import { queries } from '../admin/queries.ts'
import { Command } from '../parts/command.tsx'
import { Copy } from '../parts/copy.tsx'
import { Empty } from '../parts/empty.tsx'
import { Facts } from '../parts/facts.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { Table } from '../parts/table.tsx'

export function Network() {
  const status = useQuery(queries.status())
  const peers = useQuery({ ...queries.peers(), refetchInterval: 5_000 })
  return (
    <Page title="Network" intro="How other nodes know this one, and whom it is connected to.">
      <Loaded query={status}>
        {(view) => (
          <section className="card">
            <h2>This node</h2>
            <Facts
              facts={[
                ['Peer id', <Id key="peer" text={view.peer} what="the peer id" />],
                ['Network', view.network],
                ['Ingress', view.ingress ?? 'none'],
                ...view.p2p.map(
                  (address) => ['Address', <Id key={address} text={address} what="the address" />] as const
                )
              ]}
            />
          </section>
        )}
      </Loaded>
      <Loaded query={peers}>
        {({ peers }) =>
          peers.length === 0 ? (
            <Empty
              title="No peer is connected"
              action={<Command>souk up --bootstrap &lt;address of a peer&gt;</Command>}
            >
              Nobody else finds what is served here, and nothing of others can be called.
            </Empty>
          ) : (
            <Table
              caption="Connected peers"
              rows={peers}
              keyOf={({ peer }) => peer}
              columns={[
                { title: 'Peer', cell: ({ peer }) => <span className="id">{peer}</span> },
                { title: 'Address', cell: ({ addresses }) => <span className="id">{addresses[0]}</span> }
              ]}
            />
          )
        }
      </Loaded>
    </Page>
  )
}

function Id({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <span className="row">
      <span className="id">{text}</span>
      <Copy text={text} what={what} />
    </span>
  )
}
