import { useState } from 'react'
import type { KeyView, RotateKeyInput } from '../../../admin/accounts/key-api.ts'
import { request } from '../../admin/client.ts'
import { useWrite } from '../../admin/use-write.ts'
import { Command } from '../../parts/code/command.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { SelectField } from '../../parts/form/field.tsx'
import { Form } from '../../parts/form/form.tsx'
import { FormButtons } from '../../parts/form/form-buttons.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { expiryOf, expiryOption, Lifetime } from './lifetime.tsx'
import { ShownOnce } from './shown-once.tsx'

const HOUR_MS = 60 * 60 * 1000

/** Replaces a key. The old key stays valid for the overlap. */
export function RotateKey({ of: key, onClose }: { readonly of: KeyView; readonly onClose: () => void }) {
  const [hours, setHours] = useState('24')
  const [days, setDays] = useState('')
  const expires = expiryOf(days)
  const input: RotateKeyInput = {
    overlap_ms: Number(hours) * HOUR_MS,
    ...(expires === undefined ? {} : { expires_at: expires })
  }
  const rotating = useWrite(() => request('POST /keys/:id/rotate', { params: { id: key.id }, body: input }), ['keys'])
  if (rotating.data !== undefined) return <ShownOnce value={rotating.data.key} onClose={onClose} />
  const overlap = hours === '0' ? '--now' : `--overlap ${hours}h`
  return (
    <Dialog title={`Rotate ${key.label || key.hint}`} onClose={onClose}>
      <Form onSubmit={() => rotating.mutate(undefined)}>
        <p>A new key replaces it, with the same caps. Amounts already spent still count.</p>
        <SelectField label="The old one works" value={hours} onChange={({ target }) => setHours(target.value)}>
          <option value="0">no more, from now on</option>
          <option value="1">for an hour</option>
          <option value="24">for a day</option>
          <option value="168">for a week</option>
          <option value="720">for 30 days</option>
        </SelectField>
        <Lifetime unset="when the old one was to" value={days} onChange={setDays} />
        {rotating.error !== null && <ErrorNotice error={rotating.error} />}
        <Command>{`souk key rotate ${key.id} ${overlap}${expiryOption(days)}`}</Command>
        <FormButtons isBusy={rotating.isPending} onClose={onClose}>
          Rotate
        </FormButtons>
      </Form>
    </Dialog>
  )
}
