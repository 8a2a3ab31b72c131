import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { Link } from 'wouter'
import { queries, type WalletView } from '../../admin/queries.ts'
import { Amount } from '../../parts/amount.tsx'
import { Button } from '../../parts/button.tsx'
import { Command } from '../../parts/code/command.tsx'
import { Copy } from '../../parts/code/copy.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Figures } from '../../parts/chart/figures.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { NoMoney } from '../../parts/no-money.tsx'
import { Notice } from '../../parts/notice.tsx'
import { Page } from '../../parts/page.tsx'
import { Channels } from './channels.tsx'
import { PlayMoney } from './play-money.tsx'
import { Withdraw } from './withdraw.tsx'

const QrCode = lazy(async () => ({ default: (await import('../../parts/qr-code.tsx')).QrCode }))

/** The account from which this node pays for calls and gas. */
export function Wallet() {
  const status = useQuery(queries.status())
  const movesMoney = status.data?.wallet !== null
  const wallet = useQuery({ ...queries.wallet(), retry: false, enabled: status.data !== undefined && movesMoney })
  const [isWithdrawing, setWithdrawing] = useState(false)
  return (
    <Page
      title="Wallet"
      intro="The account from which this node pays for calls and gas. Its key stays in an encrypted file on this machine."
      actions={wallet.data !== undefined && <Button onClick={() => setWithdrawing(true)}>Withdraw</Button>}
    >
      {!movesMoney ? (
        <NoMoney />
      ) : (
        <>
          <Loaded query={wallet}>
            {(view) => (
              <>
                <Balances view={view} />
                <div className="two">
                  <Deposit view={view} />
                  <Caps />
                </div>
                {isWithdrawing && <Withdraw wallet={view} onClose={() => setWithdrawing(false)} />}
              </>
            )}
          </Loaded>
          {status.data !== undefined && <Channels />}
        </>
      )}
    </Page>
  )
}

function Balances({ view: { balance, balance_final, gas, held, money } }: { readonly view: WalletView }) {
  return (
    <>
      <Figures
        figures={[
          {
            name: 'Balance',
            value: <Amount value={balance} unit={money} />,
            note: balance === balance_final ? 'final' : `${balance_final} of it final`
          },
          { name: 'Gas', value: <Amount value={gas} unit="ETH" />, note: 'for transactions' },
          ...(held === null || held === '0'
            ? []
            : [
                {
                  name: 'Held for accounts',
                  value: <Amount value={held} unit={money} />,
                  note: 'prepaid at your ingress'
                }
              ])
        ]}
      />
      {balance === '0' && (
        <Notice>
          <p>The wallet is empty, so this node cannot pay for calls. It can still sell APIs.</p>
        </Notice>
      )}
    </>
  )
}

function Deposit({ view: { address, network, money } }: { readonly view: WalletView }) {
  return (
    <section className="card">
      <h2>Deposit</h2>
      <div className="row deposit">
        <Suspense fallback={<div className="qr" />}>
          <QrCode text={address} what="The wallet’s address as a QR code" />
        </Suspense>
        <div className="stack">
          <Facts
            facts={[
              ['Network', network],
              ['Send', `${money}, and a little ETH for gas`]
            ]}
          />
          <p className="row">
            <span className="id">{address}</span>
            <Copy text={address} what="the address" />
          </p>
        </div>
      </div>
      {money === 'play USDC' ? (
        <PlayMoney />
      ) : (
        <p className="quiet small">
          Only {money} of the chain {network}. Anything else that is sent there may be lost.
        </p>
      )}
    </section>
  )
}

function Caps() {
  return (
    <section className="card">
      <h2>What may be spent</h2>
      <p>
        Each key has a price limit per call and a daily cap: <Link href="/keys">Consumers & keys</Link>. Each
        subscription has its own limits: <Link href="/subscriptions">My subscriptions</Link>.
      </p>
      <p className="quiet">All keys together have a spending limit per day, set at the start of the node:</p>
      <Command>souk up --daily-cap 10</Command>
    </section>
  )
}
