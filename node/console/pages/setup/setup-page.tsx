import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { request } from '../../admin/client.ts'
import { queries, type StatusView } from '../../admin/queries.ts'
import { useWrite } from '../../admin/use-write.ts'
import { Button } from '../../parts/button.tsx'
import { Choice } from '../../parts/form/choice.tsx'
import { Command, word } from '../../parts/code/command.tsx'
import { Field } from '../../parts/form/field.tsx'
import { Form } from '../../parts/form/form.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { Step } from './step.tsx'
import { WalletStep } from './wallet-step.tsx'

const ROLES = [
  { value: 'sell', name: 'Sell', hint: 'put an API of yours on the market' },
  { value: 'call', name: 'Call', hint: 'use APIs of others' },
  { value: 'both', name: 'Both', hint: 'one node does it' }
] as const

type Role = (typeof ROLES)[number]['value']

/** Setup steps of a new node: completed and next. */
export function Setup() {
  const [role, setRole] = useState<Role>('both')
  const status = useQuery(queries.status())
  return (
    <Page title="Set up" intro="A few steps, in any order. Completed steps are marked as done.">
      <Choice label="What is this node for?" options={ROLES} value={role} onChange={setRole} />
      <Loaded query={status}>
        {(view) => (
          <ol className="setup">
            <WalletStep status={view} />
            {role !== 'call' && <Payout status={view} />}
            <Reach status={view} />
            {role !== 'call' && <FirstApi />}
            {role !== 'sell' && <FirstCall />}
          </ol>
        )}
      </Loaded>
    </Page>
  )
}

function Payout({ status: { payout } }: { readonly status: StatusView }) {
  const [address, setAddress] = useState(payout ?? '')
  const setting = useWrite(() => request('PUT /payout', { body: { address } }), ['status', 'doctor'])
  return (
    <Step title="Where your APIs are paid" isDone={payout !== null}>
      <Form onSubmit={() => setting.mutate(undefined)}>
        <p>
          95% of every call goes to this account, and to no other. Best one whose key is not on this machine. It is
          signed into your listings.
        </p>
        <Field
          label="Payout address"
          placeholder="0x…"
          pattern="0x[0-9a-fA-F]{40}"
          autoComplete="off"
          spellCheck={false}
          required
          value={address}
          onChange={({ target }) => setAddress(target.value.trim())}
        />
        {setting.error !== null && <ErrorNotice error={setting.error} />}
        <Command>{`souk payout set ${word(address === '' ? '<address>' : address)}`}</Command>
        <div>
          <Button type="submit" isBusy={setting.isPending} disabled={address === payout}>
            {payout === null ? 'Set it' : 'Change it'}
          </Button>
        </div>
      </Form>
    </Step>
  )
}

function Reach({ status: { alone, peers } }: { readonly status: StatusView }) {
  return (
    <Step title="Peers" isDone={!alone}>
      {alone ? (
        <>
          <p>No peer is connected. A node needs one peer to start, and then finds the others.</p>
          <Command>{'souk up --bootstrap <address of a peer>'}</Command>
        </>
      ) : (
        <p>
          {peers} {peers === 1 ? 'peer is' : 'peers are'} connected.{' '}
          <Link href="/network">Who, and who reaches this node</Link>
        </p>
      )}
    </Step>
  )
}

function FirstApi() {
  const { data } = useQuery(queries.apis())
  const isDone = (data?.apis.length ?? 0) > 0
  return (
    <Step title="Your first API" isDone={isDone}>
      {isDone ? (
        <p>
          <Link href="/apis">What is served here</Link>
        </p>
      ) : (
        <>
          <p>
            A REST, SOAP or GraphQL API that this machine can reach. Its endpoint is read and checked, and you set a
            price.
          </p>
          <div className="row">
            <Link href="/register" className="button first">
              Register an API
            </Link>
          </div>
          <p className="quiet small">Or try a demo marketplace on this machine first:</p>
          <Command isElsewhere>souk demo</Command>
        </>
      )}
    </Step>
  )
}

function FirstCall() {
  const { data } = useQuery(queries.today('payer'))
  return (
    <Step title="Your first call" isDone={(data?.total.calls ?? 0) > 0}>
      <p>Find an API, try it on its page, and copy the code for your program. A program needs a key.</p>
      <div className="row">
        <Link href="/market" className="button">
          To the marketplace
        </Link>
        <Link href="/keys" className="button">
          Issue a key
        </Link>
      </div>
    </Step>
  )
}
