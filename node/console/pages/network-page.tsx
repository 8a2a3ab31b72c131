import { useQuery } from '@tanstack/react-query'
import { queries, type StatusView } from '../admin/queries.ts'
import { Command } from '../parts/code/command.tsx'
import { Copy } from '../parts/code/copy.tsx'
import { Empty } from '../parts/empty.tsx'
import { Facts } from '../parts/facts.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Page } from '../parts/page.tsx'
import { State } from '../parts/state.tsx'
import { Table } from '../parts/table.tsx'

export function Network() {
  const status = useQuery({ ...queries.status(), refetchInterval: 5_000 })
  const peers = useQuery({ ...queries.peers(), refetchInterval: 5_000 })
  return (
    <Page title="Network" intro="Addresses of this node, and its connected peers.">
      <Loaded query={status}>
        {(view) => (
          <>
            <Reachability reachability={view.reachability} />
            <section className="card">
              <h2>This node</h2>
              <Facts
                facts={[
                  ['Peer id', <Id key="peer" text={view.peer} what="the peer id" />],
                  ['Network', view.network],
                  [
                    'Addresses',
                    <div key="addresses">
                      {view.p2p.map((address) => (
                        <Id key={address} text={address} what="the address" />
                      ))}
                    </div>
                  ],
                  [
                    'Ingress',
                    view.ingress === null ? 'none' : <Id key="in" text={view.ingress} what="the ingress’s URL" />
                  ]
                ]}
              />
              <p className="quiet small">To connect another node of this network to this one, run there:</p>
              <Command isElsewhere>{`souk up --bootstrap ${view.p2p[0] ?? '<address>'}`}</Command>
            </section>
          </>
        )}
      </Loaded>
      <section className="stack">
        <h2>Peers</h2>
        <Loaded query={peers}>
          {({ peers }) =>
            peers.length === 0 ? (
              <Empty
                title="No peer is connected"
                action={<Command>{'souk up --bootstrap <address of a peer>'}</Command>}
              >
                Other nodes cannot find your APIs, and you cannot call APIs of others.
              </Empty>
            ) : (
              <Table
                caption="Connected peers"
                rows={peers}
                keyOf={({ peer }) => peer}
                columns={[
                  { title: 'Peer', cell: ({ peer }) => <Id text={peer} what="the peer id" /> },
                  {
                    title: 'Where',
                    cell: ({ addresses }) => (
                      <span className="id" title={addresses[0]}>
                        {placeOf(addresses[0])}
                      </span>
                    )
                  }
                ]}
              />
            )
          }
        </Loaded>
        <Command>souk peers</Command>
      </section>
    </Page>
  )
}

/** Says how peers reach this node, and how to make that better. */
function Reachability({ reachability }: { readonly reachability: StatusView['reachability'] }) {
  const { state, text, hint, clock_ahead_ms: aheadMs } = reachability
  const isWrong = state === 'none' || (aheadMs ?? 0) !== 0
  return (
    <section className="card">
      <div className="row between">
        <h2>Reachability</h2>
        <State state={isWrong ? 'warn' : 'ok'} />
      </div>
      <p>This node is {text}.</p>
      {hint !== null && <p className="quiet small">{hint}</p>}
    </section>
  )
}

/** Extracts address and port from `/ip4/1.2.3.4/tcp/4402/…`. */
function placeOf(address: string | undefined): string {
  const [, , host = '–', , port] = address?.split('/') ?? []
  return port === undefined ? host : `${host}:${port}`
}

function Id({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <span className="row">
      <span className="id">{text}</span>
      <Copy text={text} what={what} />
    </span>
  )
}
