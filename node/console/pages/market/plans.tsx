import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import type { MarketListingView } from '../../../admin/market/market-api.ts'
import type { PlanView } from '../../../admin/subscriptions/subscription-api.ts'
import { queries } from '../../admin/queries.ts'
import { Amount } from '../../parts/amount.tsx'
import { Button } from '../../parts/button.tsx'
import { Empty } from '../../parts/empty.tsx'
import { State } from '../../parts/state.tsx'
import { PlanTerms } from './plan-terms.tsx'
import { pathOf } from './paths.ts'
import { Subscribe } from './subscribe.tsx'

/** Ways to pay: per call, or by a plan. */
export function Plans({ listing }: { readonly listing: MarketListingView }) {
  const { id, price, plans, pay_per_call } = listing
  const [chosen, setChosen] = useState<PlanView>()
  const held = useQuery(queries.subscriptions())
  const own = held.data?.subscriptions.find(({ api, state }) => api === id && state !== 'canceled')
  return (
    <>
      {pay_per_call && (
        <section className="card">
          <h2>Pay per call</h2>
          <p>
            <Amount value={price} /> for each call that succeeds. Nothing to subscribe to:{' '}
            <Link href={pathOf(id, 'try')}>call it</Link>.
          </p>
        </section>
      )}
      {plans.length === 0 ? (
        <Empty title="It has no plans">The provider sells it per call only.</Empty>
      ) : (
        <ul className="plans">
          {plans.map((plan) => (
            <li key={plan.id} className="card">
              <h2>{plan.name}</h2>
              <p className="price">
                <Amount value={plan.fee} /> <span className="quiet small">a {plan.period}</span>
              </p>
              {plan.description !== '' && <p>{plan.description}</p>}
              <PlanTerms plan={plan} />
              {own?.plan.id === plan.id ? (
                <p className="row">
                  <State state={own.state} /> <Link href="/subscriptions">your subscription</Link>
                </p>
              ) : plan.closed ? (
                <State state="closed" />
              ) : own === undefined ? (
                <Button look="first" onClick={() => setChosen(plan)}>
                  Subscribe
                </Button>
              ) : (
                <Link href="/subscriptions" className="button">
                  Change to it
                </Link>
              )}
            </li>
          ))}
        </ul>
      )}
      {chosen !== undefined && <Subscribe api={id} plan={chosen} onClose={() => setChosen(undefined)} />}
    </>
  )
}
