import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useRef } from 'react'
import { Link, useLocation } from 'wouter'
import { request } from './admin/client.ts'
import { Live } from './admin/live.tsx'
import { queries } from './admin/queries.ts'
import { useSingle } from './admin/use-single.ts'
import { Amount } from './parts/amount.tsx'
import { Button } from './parts/button.tsx'
import { Icon } from './parts/icon.tsx'
import { State } from './parts/state.tsx'
import { ROUTES } from './routes.tsx'
import { useTheme } from './theme.ts'

const GROUPS = ['Provide', 'Consume', 'Node'] as const

/** Frame of all pages: header and navigation. */
export function Shell({ children }: { readonly children: ReactNode }) {
  const main = useRef<HTMLElement>(null)
  return (
    <Live>
      <div className="shell">
        <a
          className="skip"
          href="#main"
          onClick={(event) => {
            event.preventDefault()
            main.current?.focus()
          }}
        >
          Skip to the page
        </a>
        <Navigation />
        <Top />
        <main id="main" className="main" ref={main} tabIndex={-1}>
          {children}
        </main>
      </div>
    </Live>
  )
}

function Navigation() {
  const [place] = useLocation()
  const nav = useRef<HTMLElement>(null)
  useEffect(() => {
    // On a narrow screen the navigation is one line that scrolls.
    nav.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [place])
  return (
    <nav className="nav" aria-label="Main" ref={nav}>
      <Link href="/" className="brand">
        <img src="/icon.svg" alt="" />
        Souk
      </Link>
      {GROUPS.map((group) => {
        const shown = ROUTES.filter(({ nav }) => nav?.group === group)
        return shown.length === 0 ? null : (
          <section key={group}>
            <h2>{group}</h2>
            <ul>
              {shown.map(({ path, nav }) => (
                <li key={path}>
                  <Link href={path} aria-current={isAt(place, path) ? 'page' : undefined}>
                    {nav !== undefined && <Icon name={nav.icon} />}
                    {nav?.name}
                  </Link>
                </li>
              ))}
            </ul>
          </section>
        )
      })}
    </nav>
  )
}

function isAt(place: string, path: string): boolean {
  const at = ROUTES.find((route) => route.path === place)?.under ?? place
  return at === path || (path !== '/' && at.startsWith(`${path}/`))
}

/** Header: state of the node, kind of money, and the user's menu. */
function Top() {
  const { data: status, error } = useQuery(queries.status())
  const { theme, next } = useTheme()
  const client = useQueryClient()
  const leaving = useSingle({
    mutationFn: () => request('DELETE /session'),
    onSuccess() {
      client.clear()
      location.assign('/')
    }
  })
  return (
    <header className="top">
      <div className="row">
        {error !== null ? (
          <State state="The node does not respond" mood="bad" />
        ) : status === undefined ? null : status.alone ? (
          <State state="Alone: no peers" mood="warn" />
        ) : (
          <State state={`Online, ${status.peers} ${status.peers === 1 ? 'peer' : 'peers'}`} mood="good" />
        )}
        {status !== undefined && <Network network={status.network} money={status.money} />}
        {status !== undefined && status.wallet !== null && <Balance />}
      </div>
      <Button look="plain" icon="theme" onClick={next}>
        Theme: {theme}
      </Button>
      {leaving.error !== null && <State state={`Not signed out: ${leaving.error.message}`} mood="bad" />}
      <Button look="plain" icon="leave" isBusy={leaving.isPending} onClick={() => leaving.mutate()}>
        Sign out
      </Button>
    </header>
  )
}

/** Wallet balance. If the chain does not respond, the wallet page reports it. */
function Balance() {
  const { data: wallet } = useQuery({ ...queries.wallet(), refetchInterval: 60_000, retry: false })
  if (wallet === undefined) return null
  return (
    <Link href="/wallet" className="balance small" aria-label={`Wallet: ${wallet.balance} ${wallet.money}`}>
      <Icon name="wallet" />
      <Amount value={wallet.balance} unit={wallet.money} />
    </Link>
  )
}

/** Labels play money and real money, because users must not confuse them. */
function Network({ network, money }: { readonly network: string; readonly money: string }) {
  const isReal = network === 'base'
  return <State state={`${money} on ${network}`} mood={isReal ? 'accent' : 'warn'} />
}
