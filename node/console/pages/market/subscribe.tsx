import { useState } from 'react'
import { useLocation } from 'wouter'
import type { PlanView, SubscribeInput } from '../../../admin/subscriptions/subscription-api.ts'
import { request } from '../../admin/client.ts'
import { useWrite } from '../../admin/use-write.ts'
import { Command, word } from '../../parts/code/command.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { CheckField, Field } from '../../parts/form/field.tsx'
import { Form } from '../../parts/form/form.tsx'
import { FormButtons } from '../../parts/form/form-buttons.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { DepositWait } from '../subscriptions/deposit-wait.tsx'
import { PlanTerms } from './plan-terms.tsx'

interface SubscribeProps {
  /** Full id, `name@provider`. */
  readonly api: string
  readonly plan: PlanView
  readonly onClose: () => void
}

/** Subscribes to a plan. The user sets limits first, and the node never pays more. */
export function Subscribe({ api, plan, onClose }: SubscribeProps) {
  const [, go] = useLocation()
  const dearest = plan.overage.at(-1)?.price ?? '0'
  const [input, setInput] = useState({ max_price: dearest, max_fee: plan.fee, daily_cap: '' })
  const [hasTrial, setTrial] = useState(plan.trial_days > 0)
  const subscribing = useWrite(
    (wish: SubscribeInput) => request('POST /subscriptions', { body: wish }),
    ['subscriptions', 'wallet', 'channels'],
    () => go('/subscriptions')
  )
  const { max_price, max_fee, daily_cap } = input
  const wish: SubscribeInput = {
    api,
    plan: plan.id,
    max_price,
    max_fee,
    ...(daily_cap === '' ? {} : { daily_cap }),
    ...(plan.trial_days > 0 ? { trial: hasTrial } : {})
  }
  const set = (name: keyof typeof input) => ({
    value: input[name],
    inputMode: 'decimal' as const,
    onChange: ({ target }: { readonly target: { readonly value: string } }) =>
      setInput({ ...input, [name]: target.value })
  })
  return (
    <Dialog title={`Subscribe to ${plan.name}`} onClose={onClose}>
      <Form onSubmit={() => subscribing.mutate(wish)}>
        <PlanTerms plan={plan} />
        <Field
          label="Most for a call, USDC"
          hint="For calls above the included ones, if the plan has them. 0: no paid calls."
          required
          {...set('max_price')}
        />
        <Field
          label={`Most for a ${plan.period}, USDC`}
          hint="The node never pays a higher fee."
          required
          {...set('max_fee')}
        />
        <Field label="Most in a day (UTC), USDC" hint="Fees included. Empty: no limit." {...set('daily_cap')} />
        {plan.trial_days > 0 && (
          <CheckField
            label={`Begin with ${plan.trial_days} days on trial`}
            checked={hasTrial}
            onChange={({ target }) => setTrial(target.checked)}
          />
        )}
        <p>
          {hasTrial
            ? 'Nothing is paid now.'
            : `${plan.fee} USDC is paid now, and for each ${plan.period} that is begun.`}
        </p>
        {subscribing.isPending && !hasTrial && <DepositWait fee={plan.fee} />}
        {subscribing.error !== null && <ErrorNotice error={subscribing.error} />}
        <Command>{commandOf(wish)}</Command>
        <FormButtons isBusy={subscribing.isPending} instead="Not now" onClose={onClose}>
          Subscribe
        </FormButtons>
      </Form>
    </Dialog>
  )
}

function commandOf({ api, plan, max_price, max_fee, daily_cap, trial }: SubscribeInput): string {
  return [
    `souk subscribe ${word(api)} --plan ${word(plan)} --max-price ${word(max_price)}`,
    ...(max_fee === undefined ? [] : [`--max-fee ${word(max_fee)}`]),
    ...(daily_cap === undefined ? [] : [`--daily-cap ${word(daily_cap)}`]),
    ...(trial === false ? ['--no-trial'] : [])
  ].join(' ')
}
