import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { request } from '../../admin/client.ts'
import { type ChannelView, queries } from '../../admin/queries.ts'
import { Amount } from '../../parts/amount.tsx'
import { Button } from '../../parts/button.tsx'
import { Command } from '../../parts/code/command.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { State } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'

type Act = 'close' | 'withdraw'

/** Channels with deposits, and actions to close them. */
export function Channels() {
  const channels = useQuery({ ...queries.channels(), retry: false })
  const [acting, setActing] = useState<{ readonly channel: ChannelView; readonly act: Act }>()
  return (
    <section className="stack">
      <div className="row between">
        <h2>Channels</h2>
        <Command>souk channel list --all</Command>
      </div>
      <Loaded query={channels}>
        {({ channels }) =>
          channels.length === 0 ? (
            <Empty title="No channel is open">
              The first call to a node that costs something opens one, with a small deposit that pays further calls.
            </Empty>
          ) : (
            <Table
              caption="Payment channels"
              rows={channels}
              keyOf={({ channel, role }) => `${role}${channel}`}
              columns={[
                {
                  title: 'Other side',
                  cell: ({ peer }) =>
                    peer === null ? (
                      'a client of x402'
                    ) : (
                      <span className="id" title={peer}>
                        …{peer.slice(-10)}
                      </span>
                    )
                },
                { title: 'Way', cell: ({ role }) => (role === 'payer' ? 'you pay' : 'you are paid') },
                {
                  title: 'State',
                  cell: ({ state, disputed, disputed_amount: amount }) => (
                    <State
                      state={
                        disputed ? `${state}, disputed` : amount === '0' ? state : `${state}, ${amount} USDC disputed`
                      }
                      {...(disputed || amount !== '0' ? { mood: 'warn' as const } : {})}
                    />
                  )
                },
                { title: 'Deposit', cell: ({ deposit }) => <Amount value={deposit} />, isNumber: true },
                { title: 'Spent', cell: ({ spent }) => <Amount value={spent} />, isNumber: true },
                {
                  title: 'Claimed',
                  cell: ({ claimed }) => (claimed === null ? '–' : <Amount value={claimed} />),
                  isNumber: true
                },
                {
                  title: 'Action',
                  cell: (channel) => <Actions channel={channel} onAct={(act) => setActing({ channel, act })} />
                }
              ]}
            />
          )
        }
      </Loaded>
      {acting !== undefined && (
        <Confirm
          title={acting.act === 'close' ? 'Close the channel?' : 'Withdraw the deposit?'}
          action={acting.act === 'close' ? 'Close it' : 'Withdraw it'}
          instead="Leave it"
          command={`souk channel ${acting.act} ${acting.channel.channel}`}
          write={() =>
            request(`POST /channels/:channel/${acting.act}`, { params: { channel: acting.channel.channel } })
          }
          changes={['channels', 'wallet']}
          onClose={() => setActing(undefined)}
        >
          {acting.act === 'close' ? (
            <p>
              The owner claims the cost of your calls, and returns the rest at once. The next call opens a new channel.
            </p>
          ) : (
            <p>
              Withdraws the deposit without the owner. This costs gas, and takes as long as the contract allows the
              owner to claim the cost of your calls.
            </p>
          )}
        </Confirm>
      )}
    </section>
  )
}

function Actions({ channel, onAct }: { readonly channel: ChannelView; readonly onAct: (act: Act) => void }) {
  const { role, state, withdrawable_at, peer } = channel
  if (role !== 'payer' || state === 'closed') return null
  const name = `channel with ${peer?.slice(-10)}`
  return (
    <div className="row">
      {state === 'open' && (
        <Button look="plain" onClick={() => onAct('close')} aria-label={`Close the ${name}`}>
          Close
        </Button>
      )}
      <Button look="plain" onClick={() => onAct('withdraw')} aria-label={`Withdraw the deposit of the ${name}`}>
        Withdraw
      </Button>
      {withdrawable_at !== null && (
        <span className="quiet small">
          can be finished <Moment at={withdrawable_at} />
        </span>
      )}
    </div>
  )
}
