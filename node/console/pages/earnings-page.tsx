import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { EARNINGS_COLUMNS } from '../../admin/money/earnings-columns.ts'
import type { ProviderEarningsView, SettlementView, TransactionView } from '../../admin/money/money-api.ts'
import { request } from '../admin/client.ts'
import { type EarningsView, queries } from '../admin/queries.ts'
import { useWrite } from '../admin/use-write.ts'
import { Amount } from '../parts/amount.tsx'
import { ApiName } from '../parts/api-name.tsx'
import { Button } from '../parts/button.tsx'
import { Command } from '../parts/code/command.tsx'
import { Copy } from '../parts/code/copy.tsx'
import { Download } from '../parts/download.tsx'
import { Empty } from '../parts/empty.tsx'
import { Facts } from '../parts/facts.tsx'
import { Figures } from '../parts/chart/figures.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Moment } from '../parts/moment.tsx'
import { NoMoney } from '../parts/no-money.tsx'
import { Notice } from '../parts/notice.tsx'
import { Page } from '../parts/page.tsx'
import { State } from '../parts/state.tsx'
import { Table } from '../parts/table.tsx'
import { ErrorNotice } from '../parts/error-notice.tsx'

/** Earnings, and where the money is. */
export function Earnings() {
  const status = useQuery(queries.status())
  const movesMoney = status.data?.wallet !== null
  const earnings = useQuery({ ...queries.earnings(), retry: false, enabled: status.data !== undefined && movesMoney })
  return (
    <Page
      title="Earnings"
      intro="Every call that succeeds is charged: 95% is the provider’s, 5% the treasury’s. A contract divides it on chain."
      actions={earnings.data !== undefined && <Actions view={earnings.data} />}
    >
      {movesMoney ? (
        <>
          <Loaded query={earnings}>{(view) => <Books view={view} />}</Loaded>
          {status.data !== undefined && <Receipts />}
        </>
      ) : (
        <NoMoney />
      )}
    </Page>
  )
}

function Actions({ view }: { readonly view: EarningsView }) {
  const [settled, setSettled] = useState<SettlementView>()
  const settling = useWrite(() => request('POST /settlements'), ['earnings', 'wallet', 'channels'], setSettled)
  return (
    <div className="stack narrow">
      <div className="row">
        <Download name="souk-earnings.csv" type="text/csv" content={() => csvOf(view)}>
          CSV
        </Download>
        <Button
          look="first"
          icon="money"
          isBusy={settling.isPending}
          disabled={view.providers.length === 0}
          onClick={() => settling.mutate(undefined)}
        >
          Settle now
        </Button>
      </div>
      <Command>souk settle --now</Command>
      {settling.error !== null && <ErrorNotice error={settling.error} />}
      {settled !== undefined && (
        <Notice mood="good">
          <p>
            Claimed {settled.claimed}, sent to the splitter {settled.settled}, paid out {settled.distributed} USDC, by{' '}
            {settled.transactions.length} transactions.
          </p>
        </Notice>
      )}
      {settled?.withheld.map(({ to, amount, reason }) => (
        <Notice key={to}>
          <p>
            USDC refuses to send {amount} to {to}: {reason}. The node tries again.
          </p>
        </Notice>
      ))}
    </div>
  )
}

function Books({ view }: { readonly view: EarningsView }) {
  const { providers, as_of, stale, gas } = view
  if (providers.length === 0) {
    return (
      <Empty title="Nothing was earned yet" action={<Command>souk payout set &lt;address&gt;</Command>}>
        Consumers pay calls through channels. The node claims the money when it is worth the gas, and the contract pays
        it to the payout address.
      </Empty>
    )
  }
  return (
    <>
      {stale && <Notice>The chain does not respond. These figures are from an earlier read.</Notice>}
      {providers.map((provider) => (
        <Provider key={provider.splitter} provider={provider} />
      ))}
      <p className="quiet small">
        Gas so far: {gas.cost} ETH for {gas.transactions} transactions.
        {as_of !== null && (
          <>
            {' '}
            Final up to block {as_of.block}, <Moment at={as_of.at} />.
          </>
        )}
      </p>
    </>
  )
}

function Provider({ provider }: { readonly provider: ProviderEarningsView }) {
  const { payout, splitter, gross, fee, net, direct, others, written_off: writtenOff } = provider
  return (
    <section className="card">
      <h2>{payout === null ? 'A provider that was not named here' : 'Your calls'}</h2>
      <Figures
        figures={[
          { name: 'Gross', value: <Amount value={gross} /> },
          { name: 'Treasury, 5%', value: <Amount value={fee} /> },
          { name: 'Net', value: <Amount value={net} />, note: 'the provider’s' }
        ]}
      />
      <Way provider={provider} />
      <Facts
        facts={[
          ...(payout === null ? [] : [['Paid to', <Address key="payout" address={payout} />] as const]),
          ['Splitter', <Address key="splitter" address={splitter} />],
          ...(direct === '0' ? [] : [['Given besides', <Amount key="direct" value={direct} />] as const]),
          ...(writtenOff === '0' ? [] : [['Written off', <Amount key="written off" value={writtenOff} />] as const]),
          ...(others === '0' ? [] : [['By other nodes', <Amount key="others" value={others} />] as const])
        ]}
      />
      <Transactions transactions={provider.transactions} />
    </section>
  )
}

/** Stages of the money from a call to the provider's account. */
function Way({ provider }: { readonly provider: ProviderEarningsView }) {
  const { captured, claiming, claimed, waiting, paid_provider } = provider
  const stages = [
    ['Captured', captured, 'in channels, by vouchers'],
    ['Claiming', claiming, 'in blocks that are not final yet'],
    ['Claimed', claimed, 'final, in the contract'],
    ['In the splitter', waiting, 'to be divided'],
    ['Settled', paid_provider, 'paid out to the provider']
  ] as const
  return (
    <ol className="stages" aria-label="Where the money is">
      {stages.map(([name, value, about]) => (
        <li key={name}>
          <strong>{name}</strong>
          <Amount value={value} />
          <small className="quiet">{about}</small>
        </li>
      ))}
    </ol>
  )
}

function Transactions({ transactions }: { readonly transactions: readonly TransactionView[] }) {
  if (transactions.length === 0) return <p className="quiet">There are no transactions yet.</p>
  return (
    <Table
      caption="Transactions"
      rows={transactions}
      keyOf={({ hash }) => hash}
      columns={[
        { title: 'What', cell: ({ what }) => what },
        {
          title: 'State',
          cell: ({ succeeded }) => <State state={succeeded ? 'final' : 'failed'} mood={succeeded ? 'good' : 'bad'} />
        },
        { title: 'Transaction', cell: ({ hash }) => <Address address={hash} /> },
        { title: 'Block', cell: ({ block }) => block, isNumber: true },
        { title: 'Gas', cell: ({ cost }) => <Amount value={cost} unit="ETH" />, isNumber: true }
      ]}
    />
  )
}

function Address({ address }: { readonly address: string }) {
  return (
    <span className="row">
      <span className="id">{address}</span>
      <Copy text={address} what="it" />
    </span>
  )
}

const RECEIPTS_SHOWN = 20

/** The last charged calls. */
function Receipts() {
  const receipts = useQuery({ ...queries.receipts('owner'), retry: false })
  if (receipts.data === undefined || receipts.data.receipts.length === 0) return null
  return (
    <section className="stack">
      <div className="row between">
        <h2>Receipts</h2>
        <Command>souk receipts --role owner</Command>
      </div>
      <Table
        caption="Calls that were charged, newest first"
        rows={receipts.data.receipts.slice(0, RECEIPTS_SHOWN)}
        keyOf={({ request_id, at, charged }) => `${request_id}${at}${charged}`}
        columns={[
          { title: 'API', cell: ({ api }) => <ApiName id={api} /> },
          { title: 'At', cell: ({ at }) => <Moment at={at} /> },
          { title: 'By', cell: ({ rule }) => rule ?? '–' },
          { title: 'Charged', cell: ({ charged }) => <Amount value={charged} />, isNumber: true },
          { title: 'Request', cell: ({ request_id }) => <span className="id">{request_id}</span> }
        ]}
      />
    </section>
  )
}

/** Same format as `souk earnings --csv`. Addresses and amounts need no quotes. */
function csvOf({ providers }: EarningsView): string {
  const rows = providers.map((provider) => EARNINGS_COLUMNS.map((column) => provider[column] ?? ''))
  return [EARNINGS_COLUMNS, ...rows].map((cells) => `${cells.join(',')}\r\n`).join('')
}
