import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { SubscriptionTermsInput, SubscriptionView } from '../../../admin/subscriptions/subscription-api.ts'
import { request } from '../../admin/client.ts'
import { queries } from '../../admin/queries.ts'
import { useWrite } from '../../admin/use-write.ts'
import { Command, word } from '../../parts/code/command.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field, SelectField } from '../../parts/form/field.tsx'
import { Form } from '../../parts/form/form.tsx'
import { FormButtons } from '../../parts/form/form-buttons.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { DepositWait } from './deposit-wait.tsx'

interface ChangeTermsProps {
  readonly subscription: SubscriptionView
  readonly onClose: () => void
}

/** Changes the plan or the limits of a subscription. */
export function ChangeTerms({ subscription, onClose }: ChangeTermsProps) {
  const { id, api, plan, max_price, max_fee, daily_cap } = subscription
  const listing = useQuery(queries.listing(api))
  const [input, setInput] = useState({ plan: plan.id, max_price, max_fee, daily_cap: daily_cap ?? '' })
  const changing = useWrite(
    (terms: SubscriptionTermsInput) => request('PATCH /subscriptions/:id', { params: { id }, body: terms }),
    ['subscriptions', 'wallet', 'channels'],
    onClose
  )
  const terms: SubscriptionTermsInput = {
    ...(input.plan === plan.id ? {} : { plan: input.plan }),
    ...(input.max_price === max_price ? {} : { max_price: input.max_price }),
    ...(input.max_fee === max_fee ? {} : { max_fee: input.max_fee }),
    ...(input.daily_cap === (daily_cap ?? '') ? {} : { daily_cap: input.daily_cap === '' ? null : input.daily_cap })
  }
  const set = (name: keyof typeof input) => ({
    value: input[name],
    onChange: ({ target }: { readonly target: { readonly value: string } }) =>
      setInput({ ...input, [name]: target.value })
  })
  const plans = listing.data?.plans.filter((each) => !each.closed || each.id === plan.id) ?? [plan]
  const wanted = plans.find((each) => each.id === input.plan)
  return (
    <Dialog title="Change the subscription" onClose={onClose}>
      <Form onSubmit={() => changing.mutate(terms)}>
        <SelectField
          label="Plan"
          hint="A more expensive plan starts now, and its fee is paid now. A cheaper plan starts when the period ends."
          {...set('plan')}
        >
          {plans.map((each) => (
            <option key={each.id} value={each.id}>
              {each.name}, {each.fee} USDC a {each.period}
            </option>
          ))}
        </SelectField>
        <Field label="Most for a call, USDC" inputMode="decimal" required {...set('max_price')} />
        <Field label="Most for a period, USDC" inputMode="decimal" required {...set('max_fee')} />
        <Field label="Most in a day (UTC), USDC" inputMode="decimal" hint="Empty: no limit." {...set('daily_cap')} />
        {changing.isPending && terms.plan !== undefined && <DepositWait fee={wanted?.fee ?? '0'} />}
        {changing.error !== null && <ErrorNotice error={changing.error} />}
        <Command>{commandOf(id, terms)}</Command>
        <FormButtons
          isBusy={changing.isPending}
          disabled={Object.keys(terms).length === 0}
          instead="Leave it"
          onClose={onClose}
        >
          Change
        </FormButtons>
      </Form>
    </Dialog>
  )
}

function commandOf(id: string, { plan, max_price, max_fee, daily_cap }: SubscriptionTermsInput): string {
  return [
    `souk subscriptions change ${id}`,
    ...(plan === undefined ? [] : [`--plan ${word(plan)}`]),
    ...(max_price === undefined ? [] : [`--max-price ${word(max_price)}`]),
    ...(max_fee === undefined ? [] : [`--max-fee ${word(max_fee)}`]),
    ...(daily_cap === undefined ? [] : [daily_cap === null ? '--no-daily-cap' : `--daily-cap ${word(daily_cap)}`])
  ].join(' ')
}
