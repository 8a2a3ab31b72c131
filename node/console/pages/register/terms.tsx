import { Button } from '../../parts/button.tsx'
import { Field, TextField } from '../../parts/form/field.tsx'
import { Form } from '../../parts/form/form.tsx'
import { PriceField } from '../../parts/form/price-field.tsx'
import { Notice } from '../../parts/notice.tsx'
import { Step } from '../../parts/steps.tsx'
import type { Draft } from './draft.ts'

interface TermsProps {
  readonly draft: Draft
  /** Why an API with a price cannot be registered. */
  readonly unpayable: string | null
  readonly set: (change: Partial<Draft>) => void
  readonly onBack: () => void
  readonly onDone: () => void
}

/** Step for name and price. */
export function TermsStep({ draft, unpayable, set, onBack, onDone }: TermsProps) {
  return (
    <Step title="What is it called, and what does a call cost?">
      <Form onSubmit={onDone}>
        <Field
          label="Name"
          required
          value={draft.name}
          pattern="[a-z0-9][a-z0-9\-]{0,62}"
          title="Small letters, digits and dashes"
          hint="Small letters, digits and dashes. Consumers call the API by this name."
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => set({ name: target.value })}
        />
        <PriceField label="Price of a call, USDC" value={draft.price} onChange={(price) => set({ price })} />
        {unpayable !== null && Number(draft.price) > 0 && (
          <Notice>
            <p>{unpayable} Or set the price to 0, to offer it for free.</p>
          </Notice>
        )}
        <TextField
          label="Description"
          rows={3}
          value={draft.description}
          spellCheck
          hint="The purpose of the API, in a sentence or two."
          onChange={({ target }) => set({ description: target.value })}
        />
        <Field
          label="Tags"
          value={draft.tags}
          placeholder="weather, europe"
          hint="To be found by; commas between them."
          onChange={({ target }) => set({ tags: target.value })}
        />
        <div className="row">
          <Button look="first" type="submit">
            Continue
          </Button>
          <Button look="plain" onClick={onBack}>
            Back
          </Button>
        </div>
      </Form>
    </Step>
  )
}
