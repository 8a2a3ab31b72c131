import { useEffect, useRef, useState } from 'react'
import { request } from '../admin/client.ts'
import { useSingle } from '../admin/use-single.ts'
import { Button } from '../parts/button.tsx'
import { Command } from '../parts/code/command.tsx'
import { Field } from '../parts/form/field.tsx'
import { Form } from '../parts/form/form.tsx'

interface SignInProps {
  /** Setup code of the link that opened the console. It is used at once. Empty without one. */
  readonly linkCode: string
  readonly onEntered: () => void
}

/** Sign-in page. */
export function SignIn(props: SignInProps) {
  return (
    <main className="entrance">
      <SignInForm {...props} />
    </main>
  )
}

/** Covers a page whose session has ended. The page stays, with all that was typed. */
export function SignInAgain({ onEntered }: Pick<SignInProps, 'onEntered'>) {
  const dialog = useRef<HTMLDialogElement>(null)
  const show = () => {
    dialog.current?.showModal()
    dialog.current?.querySelector('input')?.focus()
  }
  useEffect(show, [])
  return (
    <dialog
      ref={dialog}
      className="again"
      aria-label="Sign in again"
      onCancel={(event) => event.preventDefault()}
      onClose={show}
    >
      <div className="stack">
        <p className="notice warn">This browser is signed out. Sign in again to continue. What you typed is kept.</p>
        <SignInForm linkCode="" onEntered={onEntered} />
      </div>
    </dialog>
  )
}

/** Asks for the code from the node's terminal, or uses that of the link. */
function SignInForm({ linkCode, onEntered }: SignInProps) {
  const [code, setCode] = useState(linkCode)
  const isTried = useRef(linkCode === '')
  const entering = useSingle({ mutationFn: () => request('POST /session', { body: { code } }), onSuccess: onEntered })
  const { mutate } = entering
  useEffect(() => {
    // Once: a code that was used or is too old is corrected by hand.
    if (isTried.current) return
    isTried.current = true
    mutate()
  }, [mutate])
  return (
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
  )
}
