import { useState } from 'react'
import type { IssueKeyInput } from '../../../admin/accounts/key-api.ts'
import { request } from '../../admin/client.ts'
import { useWrite } from '../../admin/use-write.ts'
import { Command, word } from '../../parts/code/command.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/form/field.tsx'
import { Form } from '../../parts/form/form.tsx'
import { FormButtons } from '../../parts/form/form-buttons.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { expiryOf, expiryOption, Lifetime } from './lifetime.tsx'
import { ShownOnce } from './shown-once.tsx'

interface Values {
  readonly label: string
  readonly maxPrice: string
  readonly dailyCap: string
  readonly apis: string
  readonly days: string
}

const START: Values = { label: '', maxPrice: '0.05', dailyCap: '1', apis: '', days: '' }

function apisOf({ apis }: Values): readonly string[] {
  return apis.split(/[\s,]+/).filter((api) => api !== '')
}

function inputOf(values: Values): IssueKeyInput {
  const { label, maxPrice, dailyCap, days } = values
  const apis = apisOf(values)
  const expires = expiryOf(days)
  return {
    label,
    max_price: maxPrice,
    daily_cap: dailyCap,
    ...(apis.length === 0 ? {} : { apis: [...apis] }),
    ...(expires === undefined ? {} : { expires_at: expires })
  }
}

function commandOf(values: Values): string {
  const { label, maxPrice, dailyCap, days } = values
  const apis = apisOf(values)
  const scope = apis.length === 0 ? '' : ` --api ${apis.map(word).join(' ')}`
  const named = label === '' ? '' : ` --label ${word(label)}`
  return `souk key issue --max-price ${word(maxPrice)} --daily-cap ${word(dailyCap)}${expiryOption(days)}${scope}${named}`
}

export function IssueKey({ onClose }: { readonly onClose: () => void }) {
  const [values, setValues] = useState(START)
  const issuing = useWrite(() => request('POST /keys', { body: inputOf(values) }), ['keys'])
  const set = (name: keyof Values) => (event: { target: { value: string } }) =>
    setValues({ ...values, [name]: event.target.value })
  if (issuing.data !== undefined) return <ShownOnce value={issuing.data.key} onClose={onClose} />
  return (
    <Dialog title="Issue a key" onClose={onClose}>
      <Form onSubmit={() => issuing.mutate(undefined)}>
        <Field label="Name" value={values.label} onChange={set('label')} hint="A label that only you see." />
        <div className="pair">
          <Field
            label="Most for a call, USDC"
            value={values.maxPrice}
            onChange={set('maxPrice')}
            inputMode="decimal"
            required
          />
          <Field
            label="Most in a day, USDC"
            value={values.dailyCap}
            onChange={set('dailyCap')}
            inputMode="decimal"
            required
          />
        </div>
        <Field
          label="May call"
          value={values.apis}
          onChange={set('apis')}
          placeholder="anything"
          hint="Names of APIs, separated by commas. Empty: all APIs."
          autoComplete="off"
          spellCheck={false}
        />
        <Lifetime unset="never" value={values.days} onChange={(days) => setValues({ ...values, days })} />
        {issuing.error !== null && <ErrorNotice error={issuing.error} />}
        <Command>{commandOf(values)}</Command>
        <FormButtons isBusy={issuing.isPending} onClose={onClose}>
          Issue
        </FormButtons>
      </Form>
    </Dialog>
  )
}
