import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import type { SubscriptionView } from '../../../admin/subscriptions/subscription-api.ts'
import { request } from '../../admin/client.ts'
import { queries } from '../../admin/queries.ts'
import { Amount } from '../../parts/amount.tsx'
import { ApiName } from '../../parts/api-name.tsx'
import { Button } from '../../parts/button.tsx'
import { Command } from '../../parts/code/command.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Page } from '../../parts/page.tsx'
import { State } from '../../parts/state.tsx'
import { ChangeTerms } from './change-terms.tsx'
import { PlanTerms } from '../market/plan-terms.tsx'
import { pathOf } from '../market/paths.ts'

const CHANGES = ['subscriptions', 'wallet', 'channels']

/** Subscriptions of this node. */
export function Subscriptions() {
  const subscriptions = useQuery(queries.subscriptions())
  return (
    <Page
      title="My subscriptions"
      intro="Keys of this node use its plan for an API. You set the limits of a plan when you subscribe."
    >
      <Loaded query={subscriptions}>
        {({ subscriptions }) =>
          subscriptions.length === 0 ? (
            <Empty
              title="No subscription"
              action={
                <Link href="/market" className="button first">
                  To the marketplace
                </Link>
              }
            >
              A plan of an API can be cheaper than paying per call.
            </Empty>
          ) : (
            <ul className="plans wide">
              {subscriptions.map((subscription) => (
                <li key={subscription.id} className="card">
                  <Subscription subscription={subscription} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      <Command>souk subscriptions list</Command>
    </Page>
  )
}

type Move = 'pause' | 'resume' | 'keep' | 'cancel'

function Subscription({ subscription }: { readonly subscription: SubscriptionView }) {
  const { api, plan, state, max_price, max_fee, daily_cap, period_start, period_end, next_plan } = subscription
  const [move, setMove] = useState<Move>()
  const [isChanging, setChanging] = useState(false)
  const isOver = state === 'canceled'
  return (
    <>
      <div className="row between">
        <h2>
          <Link href={pathOf(api)}>
            <ApiName id={api} />
          </Link>
        </h2>
        <State state={state} />
      </div>
      <Quota subscription={subscription} />
      <Facts
        facts={[
          ['Plan', `${plan.name}: ${plan.fee} USDC a ${plan.period}`],
          [
            'Period',
            <span key="period">
              <Moment at={period_start} /> to <Moment at={period_end} />
            </span>
          ],
          ...(next_plan === null ? [] : [['Then', `the plan ${next_plan}`] as const]),
          ['Most for a call', <Amount key="price" value={max_price} />],
          [`Most for a ${plan.period}`, <Amount key="fee" value={max_fee} />],
          ['Most in a day', daily_cap === null ? 'no limit' : <Amount key="cap" value={daily_cap} />]
        ]}
      />
      <PlanTerms plan={plan} />
      {!isOver && (
        <div className="row">
          <Button onClick={() => setChanging(true)}>Change</Button>
          {(state === 'active' || state === 'trialing') && <Button onClick={() => setMove('pause')}>Pause</Button>}
          {state === 'paused' && <Button onClick={() => setMove('resume')}>Resume</Button>}
          {state === 'canceling' ? (
            <Button onClick={() => setMove('keep')}>Keep it</Button>
          ) : (
            <Button look="plain" onClick={() => setMove('cancel')}>
              Cancel
            </Button>
          )}
        </div>
      )}
      {isChanging && <ChangeTerms subscription={subscription} onClose={() => setChanging(false)} />}
      {move !== undefined && <Moved subscription={subscription} move={move} onClose={() => setMove(undefined)} />}
    </>
  )
}

/** Route verb of each action. "Keep" revokes a cancellation, which is `resume`. */
const VERBS = { pause: 'pause', resume: 'resume', keep: 'resume', cancel: 'cancel' } as const satisfies Record<
  Move,
  string
>

/** Usage of the period as text, and as a bar hidden from screen readers. */
function Quota({ subscription: { quota, plan } }: { readonly subscription: SubscriptionView }) {
  if (quota === null) return <p className="quiet small">The usage is known after the first call.</p>
  const { included, used, limit, resets_at } = quota
  const whole = included ?? limit
  const words =
    whole === null ? `${used.toLocaleString()} calls` : `${used.toLocaleString()} of ${whole.toLocaleString()} calls`
  return (
    <div className="quota">
      <p className="small">
        {words} used in this {plan.period}
        {included !== null && used > included && `, ${(used - included).toLocaleString()} beyond those included`}; it
        starts anew <Moment at={resets_at} />
      </p>
      {whole !== null && (
        <meter min={0} max={whole} high={whole * 0.85} value={Math.min(used, whole)} aria-label={words} />
      )}
    </div>
  )
}

const MOVES: Readonly<
  Record<Move, { readonly title: string; readonly text: string; readonly action: string; readonly instead: string }>
> = {
  pause: {
    title: 'Pause it?',
    text: 'The plan serves no calls and costs no fee until you resume it. Paid fees are not refunded.',
    action: 'Pause',
    instead: 'Leave it'
  },
  resume: {
    title: 'Resume it?',
    text: 'If the period is over, the fee of a new period is paid now.',
    action: 'Resume',
    instead: 'Leave it'
  },
  keep: {
    title: 'Keep it?',
    text: 'The subscription continues after this period, with the same fee.',
    action: 'Keep it',
    instead: 'Let it end'
  },
  cancel: {
    title: 'Cancel it?',
    text: 'Calls are accepted until the period ends. No further fee is paid.',
    action: 'Cancel the subscription',
    instead: 'Keep it'
  }
}

interface MovedProps {
  readonly subscription: SubscriptionView
  readonly move: Move
  readonly onClose: () => void
}

function Moved({ subscription: { id, api }, move, onClose }: MovedProps) {
  const { title, text, action, instead } = MOVES[move]
  const write = () =>
    move === 'cancel'
      ? request('DELETE /subscriptions/:id', { params: { id } })
      : request(`POST /subscriptions/:id/${VERBS[move]}`, { params: { id } })
  return (
    <Confirm
      title={`${api.split('@')[0]}: ${title}`}
      action={action}
      instead={instead}
      isGrave={move === 'cancel'}
      command={`souk subscriptions ${VERBS[move]} ${id}`}
      write={write}
      changes={CHANGES}
      onClose={onClose}
    >
      <p>{text}</p>
    </Confirm>
  )
}
