import { useState } from 'react'
import { useLocation } from 'wouter'
import { send } from '../../admin/client.ts'
import type { ApiView } from '../../admin/queries.ts'
import { Button } from '../../parts/button.tsx'
import { word } from '../../parts/command.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Moment } from '../../parts/moment.tsx'

interface ApiProps {
  readonly api: ApiView
}

/** What its provider decides about an API, and how it comes off the market. */
export function ApiSettings({ api }: ApiProps) {
  return (
    <>
      <Upstream api={api} />
      <Life api={api} />
    </>
  )
}

function Upstream({ api }: ApiProps) {
  return (
    <section className="card">
      <h2>Where it is</h2>
      <Facts
        facts={[
          [
            'Endpoint',
            <span key="endpoint" className="id">
              {api.endpoint}
            </span>
          ],
          ...(api.method === null ? [] : [['Method', api.method] as const]),
          ['Longest answer', api.timeout_ms === null ? 'the default' : `${api.timeout_ms} ms`],
          ['Credentials', api.has_auth ? 'kept encrypted, never shown' : 'none'],
          ['Registered', <Moment key="at" at={api.registered_at} />],
          [
            'Announced',
            api.published === null ? 'not yet' : `to ${api.published.stored} of ${api.published.asked} peers`
          ]
        ]}
      />
    </section>
  )
}

/** A move of an API: what it is called, what follows, and how it is asked for. */
interface Move {
  readonly action: string
  readonly title: string
  readonly text: string
  readonly isGrave?: boolean
  readonly command: string
  readonly write: () => Promise<unknown>
}

function movesOf({ name, state, problem }: ApiView): readonly Move[] {
  const path = `/apis/${encodeURIComponent(name)}`
  const pause: Move = {
    action: 'Pause',
    title: `Pause ${name}?`,
    text: 'Calls are refused until it is resumed; it stays on the market, shown as paused.',
    command: `souk api pause ${word(name)}`,
    write: () => send('POST', `${path}/pause`)
  }
  const resume: Move = {
    action: 'Resume',
    title: `Resume ${name}?`,
    text: 'Calls are taken again.',
    command: `souk api resume ${word(name)}`,
    write: () => send('POST', `${path}/resume`)
  }
  const remove: Move = {
    action: 'Remove',
    title: `Remove ${name}?`,
    text: 'It is no longer served, and its credentials and mapping are forgotten. This cannot be taken back.',
    isGrave: true,
    command: `souk api rm ${word(name)}`,
    write: () => send('DELETE', path)
  }
  return [
    ...(problem === null && state === 'published' ? [pause] : []),
    ...(problem === null && state === 'paused' ? [resume] : []),
    remove
  ]
}

function Life({ api }: ApiProps) {
  const [asked, setAsked] = useState<Move>()
  const [, go] = useLocation()
  return (
    <section className="card">
      <h2>On the market</h2>
      <ul className="rows">
        {movesOf(api).map((move) => (
          <li key={move.action}>
            <span>{move.text}</span>
            <Button {...(move.isGrave === true ? { look: 'grave' as const } : {})} onClick={() => setAsked(move)}>
              {move.action}
            </Button>
          </li>
        ))}
      </ul>
      {asked !== undefined && (
        <Confirm
          title={asked.title}
          action={asked.action}
          instead="Leave it"
          isGrave={asked.isGrave === true}
          command={asked.command}
          write={asked.write}
          changes={['apis']}
          onClose={() => setAsked(undefined)}
          onDone={() => (asked.isGrave === true ? go('/apis') : setAsked(undefined))}
        >
          <p>{asked.text}</p>
        </Confirm>
      )}
    </section>
  )
}
