import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import type { KeyView } from '../../../admin/accounts/key-api.ts'
import { request } from '../../admin/client.ts'
import { queries } from '../../admin/queries.ts'
import { Amount } from '../../parts/amount.tsx'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Page } from '../../parts/page.tsx'
import { State } from '../../parts/state.tsx'
import { Subscribers } from '../../parts/subscribers.tsx'
import { Table } from '../../parts/table.tsx'
import { IssueKey } from './issue.tsx'
import { RotateKey } from './rotate.tsx'

type Asked = 'rotate' | 'disable' | 'enable' | 'revoke'

/** Consumer keys and subscribers. */
export function Keys() {
  /** Cursors of the pages up to this one. */
  const [cursors, setCursors] = useState<readonly string[]>([])
  const keys = useQuery({ ...queries.keys(cursors.at(-1)), refetchInterval: 10_000 })
  const [isIssuing, setIssuing] = useState(false)
  const [asked, setAsked] = useState<{ readonly of: KeyView; readonly what: Asked }>()
  const close = () => setAsked(undefined)
  return (
    <Page
      title="Consumers & keys"
      intro="Programs call through this node’s ingress with a key. Each key has a price limit per call and a daily cap."
      actions={
        <Button look="first" icon="plus" onClick={() => setIssuing(true)}>
          Issue a key
        </Button>
      }
    >
      <Loaded query={keys}>
        {({ keys, next, demo }) => (
          <>
            {keys.length === 0 && cursors.length === 0 ? (
              <Empty
                title="No key was issued"
                action={
                  <Button icon="plus" onClick={() => setIssuing(true)}>
                    Issue the first one
                  </Button>
                }
              >
                A key lets a program call APIs of the market through this node, at this node’s cost.
              </Empty>
            ) : (
              <KeyTable keys={keys} onAsk={(of, what) => setAsked({ of, what })} />
            )}
            {(next !== null || cursors.length > 0) && (
              <div className="row">
                <Button disabled={cursors.length === 0} onClick={() => setCursors(cursors.slice(0, -1))}>
                  Newer keys
                </Button>
                <Button disabled={next === null} onClick={() => next !== null && setCursors([...cursors, next])}>
                  Older keys
                </Button>
              </div>
            )}
            {demo !== null && (
              <p className="quiet small">
                The public demo key <code>{demo.key}</code> may call {demo.apis.join(', ')}, up to {demo.daily_cap} USDC
                a day.
              </p>
            )}
          </>
        )}
      </Loaded>
      <section className="stack" aria-labelledby="subscribers">
        <h2 id="subscribers">Subscribers</h2>
        <Subscribers
          action={
            <Link className="button" href="/apis">
              Add a plan to an API
            </Link>
          }
        />
      </section>
      {isIssuing && <IssueKey onClose={() => setIssuing(false)} />}
      {asked?.what === 'rotate' && <RotateKey of={asked.of} onClose={close} />}
      {asked !== undefined && asked.what !== 'rotate' && <Move of={asked.of} what={asked.what} onClose={close} />}
    </Page>
  )
}

const MOVES: Readonly<Record<string, readonly Asked[]>> = {
  active: ['rotate', 'disable', 'revoke'],
  rotating: ['revoke'],
  disabled: ['enable', 'revoke']
}
const TITLES: Readonly<Record<Asked, string>> = {
  rotate: 'Rotate',
  disable: 'Disable',
  enable: 'Enable',
  revoke: 'Revoke'
}

interface KeyTableProps {
  readonly keys: readonly KeyView[]
  readonly onAsk: (key: KeyView, what: Asked) => void
}

function KeyTable({ keys, onAsk }: KeyTableProps) {
  return (
    <Table
      caption="Consumer keys"
      rows={keys}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Key',
          cell: ({ hint, label }) => (
            <>
              {label}
              {label === '' ? <code>{hint}</code> : <small className="under id">{hint}</small>}
            </>
          )
        },
        { title: 'State', cell: ({ state }) => <State state={state} /> },
        { title: 'May call', cell: ({ apis }) => scopeText(apis) },
        {
          title: 'Caps',
          cell: ({ max_price, daily_cap }) => (
            <>
              <Amount value={max_price} unit="USDC a call" />
              <small className="under">
                <Amount value={daily_cap} unit="USDC a day" />
              </small>
            </>
          )
        },
        { title: 'Expires', cell: ({ retires_at, expires_at }) => <Moment at={retires_at ?? expires_at} /> },
        { title: 'Last used', cell: ({ last_used_at }) => <Moment at={last_used_at} /> },
        {
          title: 'Change',
          cell: (key) => (
            <span className="row tight">
              {(MOVES[key.state] ?? []).map((what) => (
                <Button
                  key={what}
                  look="plain"
                  onClick={() => onAsk(key, what)}
                  aria-label={`${TITLES[what]} ${key.label || key.hint}`}
                >
                  {TITLES[what]}
                </Button>
              ))}
            </span>
          )
        }
      ]}
    />
  )
}

function scopeText(apis: readonly string[] | null): string {
  return apis === null ? 'anything' : apis.map((api) => api.split('@')[0] ?? api).join(', ')
}

interface MoveProps {
  readonly of: KeyView
  readonly what: Exclude<Asked, 'rotate'>
  readonly onClose: () => void
}

function Move({ of: key, what, onClose }: MoveProps) {
  const params = { id: key.id }
  return (
    <Confirm
      title={`${TITLES[what]} ${key.label || key.hint}?`}
      action={TITLES[what]}
      instead={what === 'enable' ? 'Leave it' : 'Keep it'}
      isGrave={what === 'revoke'}
      command={`souk key ${what} ${key.id}`}
      write={() =>
        what === 'revoke' ? request('DELETE /keys/:id', { params }) : request(`POST /keys/:id/${what}`, { params })
      }
      changes={['keys']}
      onClose={onClose}
    >
      <p>
        {what === 'revoke'
          ? 'Calls with the key are refused from now on. This cannot be undone.'
          : what === 'disable'
            ? 'Calls with it are refused until it is enabled again.'
            : 'Calls with it are taken again.'}
      </p>
    </Confirm>
  )
}
