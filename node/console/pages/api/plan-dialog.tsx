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

/** A new plan before anything is typed. Fee and period have no default here, so they are always sent. */
const NOTHING: Values = {
  id: '',
  name: '',
  description: '',
  fee: '',
  period: '',
  trialDays: '0',
  included: '',
  overage: []
}
const PROPOSED: Values = { ...NOTHING, fee: '5', period: 'month', included: '1000' }

function valuesOf({ trial_days, included, overage, ...plan }: PlanView): Values {
  return {
    ...plan,
    trialDays: String(trial_days),
    included: included?.toString() ?? '',
    overage: overage.map(({ up_to, price }) => ({ upTo: up_to?.toString() ?? '', price }))
  }
}

/** Fields that differ from those of the plan: a change from another tab, or by a command, keeps the others. */
type Edits = Partial<Omit<Values, 'id'>>

function editsOf({ id: _, ...values }: Values, before: Values): Edits {
  const names = Object.keys(values) as ReadonlyArray<keyof Edits>
  const edited = names.filter((name) => JSON.stringify(values[name]) !== JSON.stringify(before[name]))
  return Object.fromEntries(edited.map((name) => [name, values[name]]))
}

function inputOf({ name, description, fee, period, trialDays, included, overage }: Edits): PlanInput {
  const tiers = overage?.map(({ upTo, price }) => ({ price, ...(upTo === '' ? {} : { up_to: Number(upTo) }) }))
  const chosen = PERIODS.find((one) => one === period)
  return {
    ...(name === undefined ? {} : { name: name === '' ? null : name }),
    ...(description === undefined ? {} : { description }),
    ...(fee === undefined ? {} : { fee }),
    ...(chosen === undefined ? {} : { period: chosen }),
    ...(trialDays === undefined ? {} : { trial_days: Number(trialDays) }),
    ...(included === undefined ? {} : { included: included === '' ? null : Number(included) }),
    ...(tiers === undefined ? {} : { overage: tiers })
  }
}

function commandOf(api: string, id: string, edits: Edits): string {
  const { name, description, fee, period, trialDays, included, overage } = edits
  const options = [
    ...(name === undefined ? [] : [`--name ${word(name || id)}`]),
    ...(description === undefined ? [] : [`--description ${word(description)}`]),
    ...(fee === undefined ? [] : [`--fee ${fee}`]),
    ...(period === undefined ? [] : [`--period ${period}`]),
    ...(trialDays === undefined ? [] : [`--trial-days ${trialDays}`]),
    ...(included === undefined ? [] : [`--included ${included || 'unlimited'}`]),
    ...(overage === undefined ? [] : [`--overage ${word(overageOption(overage))}`])
  ]
  return `souk plan set ${word(api)} ${word(id)} ${options.join(' ')}`
}

function overageOption(overage: readonly Tier[]): string {
  const [only] = overage
  if (only === undefined) return 'none'
  if (overage.length === 1 && only.upTo === '') return only.price
  return overage.map(({ upTo, price }) => `${upTo === '' ? '*' : upTo}:${price}`).join(',')
}

interface PlanDialogProps {
  readonly api: string
  /** Undefined for a new plan. */
  readonly plan: PlanView | undefined
  /** Ids of the open plans. */
  readonly taken: readonly string[]
  readonly onClose: () => void
}

export function PlanDialog({ api, plan, taken, onClose }: PlanDialogProps) {
  const [before] = useState(() => (plan === undefined ? NOTHING : valuesOf(plan)))
  const [values, setValues] = useState(plan === undefined ? PROPOSED : before)
  const edits = editsOf(values.included === '' ? { ...values, overage: [] } : values, before)
  const isTaken = plan === undefined && taken.includes(values.id)
  const set = (name: keyof Values) => (event: { target: { value: string } }) =>
    setValues({ ...values, [name]: event.target.value })
  const saving = useWrite(
    () =>
      request(plan === undefined ? 'PUT /apis/:name/plans/:plan' : 'PATCH /apis/:name/plans/:plan', {
        params: { name: api, plan: values.id },
        body: inputOf(edits)
      }),
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
            fault={isTaken ? 'A plan has this id. Edit that plan, or take another id.' : undefined}
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
        <Command>{commandOf(api, values.id, edits)}</Command>
        <FormButtons isBusy={saving.isPending} disabled={isTaken || Object.keys(edits).length === 0} onClose={onClose}>
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
