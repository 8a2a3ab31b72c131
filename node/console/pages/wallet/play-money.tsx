import { useState } from 'react'
import type { PlayMoneyInput } from '../../../admin/money/wallet-api.ts'
import { request } from '../../admin/client.ts'
import { useWrite } from '../../admin/use-write.ts'
import { Button } from '../../parts/button.tsx'
import { Command, word } from '../../parts/code/command.tsx'
import { Field } from '../../parts/form/field.tsx'
import { Form } from '../../parts/form/form.tsx'
import { Notice } from '../../parts/notice.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'

/** Adds free play money, on the networks demo and dev only. */
export function PlayMoney() {
  const [amount, setAmount] = useState('10')
  const asking = useWrite(
    (input: PlayMoneyInput) => request('POST /wallet/deposits', { body: input }),
    ['wallet', 'doctor']
  )
  return (
    <Form onSubmit={() => asking.mutate({ amount })}>
      <Field
        label="Play USDC"
        hint="Play money, without value. Includes gas."
        inputMode="decimal"
        pattern="\d+(\.\d{1,6})?"
        required
        value={amount}
        onChange={({ target }) => setAmount(target.value.trim())}
      />
      {asking.error !== null && <ErrorNotice error={asking.error} />}
      {asking.isSuccess && <Notice mood="good">It is in the wallet.</Notice>}
      <Command>{`souk wallet deposit ${word(amount)}`}</Command>
      <div>
        <Button type="submit" isBusy={asking.isPending}>
          Get play USDC
        </Button>
      </div>
    </Form>
  )
}
