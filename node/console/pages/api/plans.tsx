import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { PlanView } from '../../../admin/subscriptions/subscription-api.ts'
import { request } from '../../admin/client.ts'
import { type ApiView, queries } from '../../admin/queries.ts'
import { Amount } from '../../parts/amount.tsx'
import { Button } from '../../parts/button.tsx'
import { word } from '../../parts/code/command.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { State } from '../../parts/state.tsx'
import { Subscribers } from '../../parts/subscribers.tsx'
import { Table } from '../../parts/table.tsx'
import { PlanDialog } from './plan-dialog.tsx'

/** Plans of an API and their subscribers. */
export function ApiPlans({ api: { name } }: { readonly api: ApiView }) {
  const plans = useQuery(queries.plans(name))
  const [edited, setEdited] = useState<PlanView | 'new'>()
  const [closed, setClosed] = useState<PlanView>()
  const add = (
    <Button look="first" icon="plus" onClick={() => setEdited('new')}>
      Add a plan
    </Button>
  )
  return (
    <>
      <Loaded query={plans}>
        {({ plans, pay_per_call }) => (
          <>
            <div className="row between">
              <p>
                <State
                  state={pay_per_call ? 'Open to pay per call' : 'Subscribers only'}
                  mood={pay_per_call ? 'good' : 'accent'}
                />
              </p>
              {plans.length > 0 && add}
            </div>
            {plans.length === 0 ? (
              <Empty title="There is no plan" action={add}>
                Consumers pay per call. A plan sells a number of calls for a fee in advance.
              </Empty>
            ) : (
              <Plans plans={plans} onEdit={setEdited} onClose={setClosed} />
            )}
          </>
        )}
      </Loaded>
      <h2>Subscribers</h2>
      <Subscribers api={name} />
      {edited !== undefined && (
        <PlanDialog
          api={name}
          plan={edited === 'new' ? undefined : edited}
          taken={(plans.data?.plans ?? []).flatMap(({ id, closed }) => (closed ? [] : [id]))}
          onClose={() => setEdited(undefined)}
        />
      )}
      {closed !== undefined && (
        <Confirm
          title={`Close the plan ${closed.name}?`}
          action="Close it"
          instead="Keep it"
          isGrave
          command={`souk plan rm ${word(name)} ${word(closed.id)}`}
          write={() => request('DELETE /apis/:name/plans/:plan', { params: { name, plan: closed.id } })}
          changes={['apis']}
          onClose={() => setClosed(undefined)}
        >
          <p>The plan accepts no new subscribers. Current subscribers keep it for 14 days.</p>
        </Confirm>
      )}
    </>
  )
}

interface PlansProps {
  readonly plans: readonly PlanView[]
  readonly onEdit: (plan: PlanView) => void
  readonly onClose: (plan: PlanView) => void
}

function Plans({ plans, onEdit, onClose }: PlansProps) {
  return (
    <Table
      caption="Plans"
      rows={plans}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Plan',
          cell: ({ id, name }) => (
            <>
              {name} {name !== id && <code className="quiet">{id}</code>}
            </>
          )
        },
        { title: 'State', cell: ({ closed }) => <State state={closed ? 'closed' : 'open'} /> },
        { title: 'Fee', cell: ({ fee, period }) => <Amount value={fee} unit={`USDC a ${period}`} />, isNumber: true },
        { title: 'Calls', cell: ({ included }) => included?.toLocaleString() ?? 'any number', isNumber: true },
        { title: 'Beyond', cell: ({ overage }) => overageText(overage) },
        { title: 'Trial', cell: ({ trial_days }) => (trial_days === 0 ? 'none' : `${trial_days} days`) },
        {
          title: 'Change',
          cell: (plan) =>
            plan.closed ? null : (
              <span className="row">
                <Button look="plain" aria-label={`Edit ${plan.name}`} onClick={() => onEdit(plan)}>
                  Edit
                </Button>
                <Button look="plain" aria-label={`Close ${plan.name}`} onClick={() => onClose(plan)}>
                  Close
                </Button>
              </span>
            )
        }
      ]}
    />
  )
}

function overageText(overage: PlanView['overage']): string {
  if (overage.length === 0) return 'no more calls'
  return overage
    .map(({ up_to, price }) => `${price} USDC${up_to === null ? '' : ` up to ${up_to.toLocaleString()}`}`)
    .join(', then ')
}
