import { useState } from 'react'
import { request } from '../../admin/client.ts'
import type { WalletView } from '../../admin/queries.ts'
import { useWrite } from '../../admin/use-write.ts'
import { Button } from '../../parts/button.tsx'
import { Command, word } from '../../parts/code/command.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Field } from '../../parts/form/field.tsx'
import { Form } from '../../parts/form/form.tsx'
import { FormButtons } from '../../parts/form/form-buttons.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'

interface WithdrawProps {
  readonly wallet: WalletView
  readonly onClose: () => void
}

/** Withdraws money after a confirmation. All retries use one id, so nothing is sent twice. */
export function Withdraw({ wallet: { network, money, balance }, onClose }: WithdrawProps) {
  const [input, setInput] = useState({ amount: '', to: '' })
  const [isSure, setSure] = useState(false)
  const [id] = useState(() => crypto.randomUUID())
  const sending = useWrite(() => request('POST /wallet/withdrawals', { body: { ...input, id } }), ['wallet'])
  if (sending.data !== undefined) {
    const { amount, to, transaction } = sending.data
    return (
      <Dialog title="Sent" onClose={onClose}>
        <Facts
          facts={[
            ['Amount', `${amount} ${money}`],
            [
              'To',
              <span key="to" className="id">
                {to}
              </span>
            ],
            [
              'Transaction',
              <span key="hash" className="id">
                {transaction}
              </span>
            ]
          ]}
        />
        <Button look="first" onClick={onClose}>
          Close
        </Button>
      </Dialog>
    )
  }
  const set = (name: keyof typeof input) => ({
    value: input[name],
    onChange: ({ target }: { readonly target: { readonly value: string } }) => {
      setInput({ ...input, [name]: target.value.trim() })
      setSure(false)
    }
  })
  return (
    <Dialog title="Withdraw" onClose={onClose}>
      <Form onSubmit={() => setSure(true)}>
        <p className="quiet">
          {balance} {money} are in the wallet. What is in channels has to come back first.
        </p>
        <Field label={`Amount, ${money}`} inputMode="decimal" pattern="\d+(\.\d{1,6})?" required {...set('amount')} />
        <Field
          label="To"
          hint={`An account on the chain of ${network}.`}
          placeholder="0x…"
          pattern="0x[0-9a-fA-F]{40}"
          autoComplete="off"
          spellCheck={false}
          required
          {...set('to')}
        />
        {isSure && (
          <div className="notice warn" role="alert">
            <p>
              {input.amount} {money} go to <span className="id">{input.to}</span> on {network}. This cannot be undone.
            </p>
          </div>
        )}
        {sending.error !== null && <ErrorNotice error={sending.error} />}
        <Command>{`souk wallet withdraw ${word(input.amount || '<amount>')} --to ${word(input.to || '<address>')} --id ${id}`}</Command>
        {isSure ? (
          // Not the submit button: Enter held or pressed twice would send the money before the user has read the notice.
          <div className="row">
            <Button look="grave" isBusy={sending.isPending} onClick={() => sending.mutate(undefined)}>
              Send it
            </Button>
            <Button look="plain" disabled={sending.isPending} onClick={onClose}>
              Cancel
            </Button>
          </div>
        ) : (
          <FormButtons onClose={onClose}>Look it over</FormButtons>
        )}
      </Form>
    </Dialog>
  )
}
