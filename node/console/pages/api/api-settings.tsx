import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { RevisionInput } from '../../../admin/subscriptions/subscription-api.ts'
import { request } from '../../admin/client.ts'
import { type ApiView, queries } from '../../admin/queries.ts'
import { useWrite } from '../../admin/use-write.ts'
import { Button } from '../../parts/button.tsx'
import { Command, word } from '../../parts/code/command.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Facts } from '../../parts/facts.tsx'
import { CheckField, Field, TextField } from '../../parts/form/field.tsx'
import { Form } from '../../parts/form/form.tsx'
import { Moment } from '../../parts/moment.tsx'
import { PriceField } from '../../parts/form/price-field.tsx'
import { useKept } from '../../parts/form/use-kept.ts'
import { ErrorNotice } from '../../parts/error-notice.tsx'

interface ApiProps {
  readonly api: ApiView
}

/** Terms of an API, and actions to pause, deprecate or remove it. */
export function ApiSettings({ api }: ApiProps) {
  return (
    <>
      {api.own && <Terms key={api.name} api={api} />}
      <Upstream api={api} />
      <Life api={api} />
    </>
  )
}

/** Edited fields only: a revision that arrives meanwhile, from another tab or a command, changes the others and keeps what was typed. */
interface Edits {
  readonly price?: string
  readonly description?: string
  readonly tags?: string
  readonly byCall?: boolean
}

function Terms({ api }: ApiProps) {
  const plans = useQuery(queries.plans(api.name))
  const [edits = {}, setEdits] = useKept<Edits>(`terms ${api.name}`)
  const edit = (change: Edits) => setEdits({ ...edits, ...change })
  const { price = api.price, description = api.description, tags = api.tags.join(', '), byCall } = edits
  const paysByCall = byCall ?? plans.data?.pay_per_call ?? true
  const wanted = tags.split(',').flatMap((tag) => (tag.trim() === '' ? [] : [tag.trim().toLowerCase()]))
  const change: RevisionInput = {
    ...(price === api.price ? {} : { price }),
    ...(description === api.description ? {} : { description }),
    ...(wanted.join() === api.tags.join() ? {} : { tags: wanted }),
    ...(byCall === undefined || byCall === plans.data?.pay_per_call ? {} : { pay_per_call: byCall })
  }
  const saving = useWrite(
    () => request('PATCH /apis/:name', { params: { name: api.name }, body: change }),
    ['apis'],
    () => setEdits(undefined)
  )
  const isChanged = Object.keys(change).length > 0
  return (
    <section className="card">
      <h2>What it costs and says</h2>
      <Form onSubmit={() => saving.mutate(undefined)}>
        <PriceField label="Price of a call, USDC" value={price} onChange={(typed) => edit({ price: typed })} />
        <TextField
          label="Description"
          rows={3}
          spellCheck
          value={description}
          onChange={({ target }) => edit({ description: target.value })}
        />
        <Field
          label="Tags"
          value={tags}
          hint="To be found by; commas between them."
          onChange={({ target }) => edit({ tags: target.value })}
        />
        <CheckField
          label="Anybody may call and pay by the call"
          hint="If off, only subscribers may call, which needs a plan."
          checked={paysByCall}
          onChange={({ target }) => edit({ byCall: target.checked })}
        />
        {saving.error !== null && <ErrorNotice error={saving.error} />}
        {isChanged && <Command>{termsCommand(api.name, change)}</Command>}
        <div className="row">
          <Button look="first" type="submit" disabled={!isChanged} isBusy={saving.isPending}>
            Publish as a new revision
          </Button>
          <Button disabled={!isChanged} onClick={() => setEdits(undefined)}>
            Undo all
          </Button>
          <span className="quiet small">Consumers who pay per call never pay more than their own limit.</span>
        </div>
      </Form>
    </section>
  )
}

function termsCommand(name: string, { price, description, tags, pay_per_call }: RevisionInput): string {
  const options = [
    ...(price === undefined ? [] : [` --price ${price}`]),
    ...(description === undefined ? [] : [` --description ${word(description)}`]),
    ...(tags === undefined ? [] : [` --tag ${tags.map(word).join(' ')}`]),
    ...(pay_per_call === undefined ? [] : [pay_per_call ? ' --pay-per-call' : ' --no-pay-per-call'])
  ]
  return `souk api set ${word(name)}${options.join('')}`
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

/** An action on an API: its label, consequences and command. */
interface Move {
  readonly action: string
  readonly title: string
  readonly text: string
  readonly isGrave?: boolean
  readonly command: string
  readonly write: () => Promise<unknown>
}

function movesOf({ name, state, problem, own }: ApiView): readonly Move[] {
  const params = { name }
  const pause: Move = {
    action: 'Pause',
    title: `Pause ${name}?`,
    text: 'Calls are refused until you resume the API. The market shows it as paused.',
    command: `souk api pause ${word(name)}`,
    write: () => request('POST /apis/:name/pause', { params })
  }
  const resume: Move = {
    action: 'Resume',
    title: `Resume ${name}?`,
    text: 'Calls are accepted again.',
    command: `souk api resume ${word(name)}`,
    write: () => request('POST /apis/:name/resume', { params })
  }
  const remove: Move = {
    action: 'Remove',
    title: `Remove ${name}?`,
    text: 'The API is no longer served, and its credentials and mapping are deleted. This cannot be undone.',
    isGrave: true,
    command: `souk api rm ${word(name)}`,
    write: () => request('DELETE /apis/:name', { params })
  }
  const deprecate: Move = {
    action: 'Deprecate',
    title: `Deprecate ${name}?`,
    text: 'Each response announces the end, in 30 days at the earliest. The name cannot be published again.',
    isGrave: true,
    command: `souk api deprecate ${word(name)}`,
    write: () => request('POST /apis/:name/deprecate', { params, body: {} })
  }
  const retire: Move = {
    action: 'Retire',
    title: `Retire ${name}?`,
    text: 'Calls get status 410 (Gone), and the name stays reserved for 180 days. This cannot be undone.',
    isGrave: true,
    command: `souk api retire ${word(name)}`,
    write: () => request('POST /apis/:name/retire', { params })
  }
  const isServed = problem === null
  return [
    ...(isServed && state === 'published' ? [pause] : []),
    ...(isServed && state === 'paused' ? [resume] : []),
    ...(isServed && own && (state === 'published' || state === 'paused') ? [deprecate] : []),
    ...(isServed && own && state === 'deprecated' ? [retire] : []),
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
          onDone={() => (asked.action === 'Remove' ? go('/apis') : setAsked(undefined))}
        >
          <p>{asked.text}</p>
        </Confirm>
      )}
    </section>
  )
}
