import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { request } from '../admin/client.ts'
import { Button } from '../parts/button.tsx'
import { Command } from '../parts/code/command.tsx'
import { Field } from '../parts/form/field.tsx'
import { Form } from '../parts/form/form.tsx'

/** Sign-in page. It asks for the code from the node's terminal. */
export function SignIn({ onEntered }: { readonly onEntered: () => void }) {
  const [code, setCode] = useState('')
  const entering = useMutation({ mutationFn: () => request('POST /session', { body: { code } }), onSuccess: onEntered })
  return (
    <main className="entrance">
      <Form className="card" onSubmit={() => entering.mutate()}>
        <div className="row">
          <img src="/icon.svg" alt="" width="36" height="36" />
          <h1>Your Souk node</h1>
        </div>
        <p className="quiet">
          The terminal that runs the node shows a setup code. It signs in one browser, once. For a new one, run this
          there:
        </p>
        <Command>souk console</Command>
        <Field
          label="Setup code"
          name="code"
          value={code}
          onChange={(event) => setCode(event.target.value)}
          placeholder="K7QF-9M2X"
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          required
          fault={entering.error?.message}
        />
        <Button look="first" type="submit" isBusy={entering.isPending}>
          Enter
        </Button>
      </Form>
    </main>
  )
}
