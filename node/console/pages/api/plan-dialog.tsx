import { useState } from 'react'
import type { PlanInput, PlanView } from '../../../admin/subscriptions/subscription-api.ts'
import { request } from '../../admin/client.ts'
import { useWrite } from '../../admin/use-write.ts'
import { Button } from '../../parts/button.tsx'
import { Command, word } from '../../parts/code/command.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field, SelectField } from '../../parts/form/field.tsx'
import { Form } from '../../parts/form/form.tsx'
import { FormButtons } from '../../parts/form/form-buttons.tsx'
import { PriceField } from '../../parts/form/price-field.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'

const PERIODS = ['day', 'week', 'month', 'year'] as const

interface Tier {
  readonly upTo: string
  readonly price: string
}

interface Values {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly fee: string
  readonly period: string
  readonly trialDays: string
  /** Empty: no limit. */
  readonly included: string
  readonly overage: readonly Tier[]
}

function valuesOf(plan: PlanView | undefined): Values {
  return {
    id: plan?.id ?? '',
    name: plan?.name ?? '',
    description: plan?.description ?? '',
    fee: plan?.fee ?? '5',
    period: plan?.period ?? 'month',
    trialDays: String(plan?.trial_days ?? 0),
    included: plan === undefined ? '1000' : (plan.included?.toString() ?? ''),
    overage: (plan?.overage ?? []).map(({ up_to, price }) => ({ upTo: up_to?.toString() ?? '', price }))
  }
}

function inputOf({ name, description, fee, period, trialDays, included, overage }: Values): PlanInput {
  return {
    ...(name === '' ? {} : { name }),
    ...(description === '' ? {} : { description }),
    fee,
    period: PERIODS.find((one) => one === period) ?? 'month',
    trial_days: Number(trialDays),
    ...(included === '' ? {} : { included: Number(included) }),
    ...(overage.length === 0
      ? {}
      : { overage: overage.map(({ upTo, price }) => ({ price, ...(upTo === '' ? {} : { up_to: Number(upTo) }) })) })
  }
}

function commandOf(api: string, { id, name, description, fee, period, trialDays, included, overage }: Values): string {
  const options = [
    ...(name === '' ? [] : [`--name ${word(name)}`]),
    ...(description === '' ? [] : [`--description ${word(description)}`]),
    `--fee ${fee} --period ${period}`,
    ...(trialDays === '0' ? [] : [`--trial-days ${trialDays}`]),
    ...(included === '' ? [] : [`--included ${included}`]),
    ...(overage.length === 0 ? [] : [`--overage ${word(overageOption(overage))}`])
  ]
  return `souk plan set ${word(api)} ${word(id)} ${options.join(' ')}`
}

function overageOption(overage: readonly Tier[]): string {
  const [only] = overage
  if (overage.length === 1 && only?.upTo === '') return only.price
  return overage.map(({ upTo, price }) => `${upTo === '' ? '*' : upTo}:${price}`).join(',')
}

interface PlanDialogProps {
  readonly api: string
  /** Undefined for a new plan. */
  readonly plan: PlanView | undefined
  readonly onClose: () => void
}

export function PlanDialog({ api, plan, onClose }: PlanDialogProps) {
  const [values, setValues] = useState(() => valuesOf(plan))
  const set = (name: keyof Values) => (event: { target: { value: string } }) =>
    setValues({ ...values, [name]: event.target.value })
  const saving = useWrite(
    () => request('PUT /apis/:name/plans/:plan', { params: { name: api, plan: values.id }, body: inputOf(values) }),
    ['apis'],
    onClose
  )
  return (
    <Dialog title={plan === undefined ? 'Add a plan' : `Edit the plan ${plan.name}`} onClose={onClose}>
      <Form onSubmit={() => saving.mutate(undefined)}>
        {plan !== undefined && <p className="quiet">Current subscribers keep the old terms for 14 days.</p>}
        <div className="pair">
          <Field
            label="Id"
            required
            disabled={plan !== undefined}
            pattern="[a-z0-9][a-z0-9\-]{0,62}"
            title="Small letters, digits and dashes"
            value={values.id}
            onChange={set('id')}
          />
          <Field label="Name" placeholder={values.id} value={values.name} onChange={set('name')} />
        </div>
        <div className="pair">
          <PriceField
            label="Fee, USDC"
            value={values.fee}
            unit="a period"
            onChange={(fee) => setValues({ ...values, fee })}
          />
          <SelectField label="Every" value={values.period} onChange={set('period')}>
            {PERIODS.map((period) => (
              <option key={period}>{period}</option>
            ))}
          </SelectField>
        </div>
        <div className="pair">
          <Field
            label="Calls that it includes"
            type="number"
            min={0}
            value={values.included}
            hint="Empty: no limit."
            onChange={set('included')}
          />
          <Field
            label="Days of trial"
            type="number"
            min={0}
            required
            value={values.trialDays}
            onChange={set('trialDays')}
          />
        </div>
        {values.included !== '' && (
          <Tiers tiers={values.overage} onChange={(overage) => setValues({ ...values, overage })} />
        )}
        <Field label="Description" value={values.description} onChange={set('description')} />
        {saving.error !== null && <ErrorNotice error={saving.error} />}
        <Command>{commandOf(api, values)}</Command>
        <FormButtons isBusy={saving.isPending} onClose={onClose}>
          Save
        </FormButtons>
      </Form>
    </Dialog>
  )
}

interface TiersProps {
  readonly tiers: readonly Tier[]
  readonly onChange: (tiers: readonly Tier[]) => void
}

/** Price tiers of calls above the included ones. */
function Tiers({ tiers, onChange }: TiersProps) {
  const put = (at: number, change: Partial<Tier>) =>
    onChange(tiers.map((tier, index) => (index === at ? { ...tier, ...change } : tier)))
  return (
    <fieldset className="plain stack">
      <legend>Calls beyond those</legend>
      {tiers.length === 0 && <p className="quiet small">Calls above the included ones are refused.</p>}
      {tiers.map((tier, at) => (
        <div className="tier" key={`tier ${at + 1}`}>
          <Field
            label={`Up to (${at + 1})`}
            type="number"
            min={1}
            placeholder="no end"
            value={tier.upTo}
            onChange={({ target }) => put(at, { upTo: target.value })}
          />
          <Field
            label={`USDC a call (${at + 1})`}
            required
            inputMode="decimal"
            value={tier.price}
            onChange={({ target }) => put(at, { price: target.value.trim() })}
          />
          <Button
            look="plain"
            icon="bad"
            aria-label={`Remove price ${at + 1}`}
            onClick={() => onChange(tiers.filter((_, index) => index !== at))}
          />
        </div>
      ))}
      <div>
        <Button icon="plus" onClick={() => onChange([...tiers, { upTo: '', price: '0.001' }])}>
          Add a price
        </Button>
      </div>
    </fieldset>
  )
}
