import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { IssuedKeyView, IssueKeyInput, KeyView } from '../../admin/key-api.ts'
import { send } from '../admin/client.ts'
import { queries } from '../admin/queries.ts'
import { Amount } from '../parts/amount.tsx'
import { Button } from '../parts/button.tsx'
import { Command, word } from '../parts/command.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Empty } from '../parts/empty.tsx'
import { Field } from '../parts/field.tsx'
import { Form } from '../parts/form.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { Moment } from '../parts/moment.tsx'
import { Page } from '../parts/page.tsx'
import { State } from '../parts/state.tsx'
import { Table } from '../parts/table.tsx'
import { Trouble } from '../parts/trouble.tsx'

export function Keys() {
  const keys = useQuery(queries.keys())
  const [isIssuing, setIssuing] = useState(false)
  const [revoking, setRevoking] = useState<KeyView>()
  const issue = (
    <Button look="first" icon="plus" onClick={() => setIssuing(true)}>
      Issue a key
    </Button>
  )
  return (
    <Page
      title="Consumers & keys"
      intro="Whoever calls through this node’s ingress sends a key. Each has a dearest price and a daily cap."
      actions={issue}
    >
      <Loaded query={keys}>
        {({ keys }) =>
          keys.length === 0 ? (
            <Empty title="No key was issued">
              A key lets a program call any API on the market, at this node’s cost.
            </Empty>
          ) : (
            <Table
              caption="Consumer keys"
              rows={keys}
              keyOf={({ id }) => id}
              columns={[
                { title: 'Key', cell: ({ hint, label }) => (label === '' ? <code>{hint}</code> : label) },
                { title: 'State', cell: ({ state }) => <State state={state} /> },
                { title: 'Dearest call', cell: ({ max_price }) => <Amount value={max_price} />, isNumber: true },
                { title: 'A day', cell: ({ daily_cap }) => <Amount value={daily_cap} />, isNumber: true },
                { title: 'Last used', cell: ({ last_used_at }) => <Moment at={last_used_at} /> },
                {
                  title: 'Change',
                  cell: (key) =>
                    key.state === 'active' ? (
                      <Button
                        look="plain"
                        onClick={() => setRevoking(key)}
                        aria-label={`Revoke ${key.label || key.hint}`}
                      >
                        Revoke
                      </Button>
                    ) : null
                }
              ]}
            />
          )
        }
      </Loaded>
      {isIssuing && <Issue onClose={() => setIssuing(false)} />}
      {revoking !== undefined && <Revoke of={revoking} onClose={() => setRevoking(undefined)} />}
    </Page>
  )
}

function Issue({ onClose }: { readonly onClose: () => void }) {
  const client = useQueryClient()
  const [input, setInput] = useState({ label: '', max_price: '0.05', daily_cap: '1' })
  const issuing = useMutation({
    mutationFn: (wish: IssueKeyInput) => send<IssuedKeyView>('POST', '/keys', wish),
    onSuccess: () => client.invalidateQueries({ queryKey: ['keys'] })
  })
  const set = (name: keyof typeof input) => (event: { target: { value: string } }) =>
    setInput({ ...input, [name]: event.target.value })
  if (issuing.data !== undefined) {
    return (
      <Dialog title="The key, this once" onClose={onClose}>
        <p>Keep it now: it is not shown again. Send it as the header X-Consumer-Key.</p>
        <Command what="the key">{issuing.data.key}</Command>
        <Button look="first" onClick={onClose}>
          I have it
        </Button>
      </Dialog>
    )
  }
  const label = input.label === '' ? '' : ` --label ${word(input.label)}`
  return (
    <Dialog title="Issue a key" onClose={onClose}>
      <Form onSubmit={() => issuing.mutate(input)}>
        <Field
          label="Whose it is"
          value={input.label}
          onChange={set('label')}
          hint="A label for you; nobody else sees it."
        />
        <Field
          label="Dearest call, USDC"
          value={input.max_price}
          onChange={set('max_price')}
          inputMode="decimal"
          required
        />
        <Field
          label="All calls of a day (UTC), USDC"
          value={input.daily_cap}
          onChange={set('daily_cap')}
          inputMode="decimal"
          required
        />
        {issuing.error !== null && <Trouble error={issuing.error} />}
        <Command>{`souk key issue --max-price ${word(input.max_price)} --daily-cap ${word(input.daily_cap)}${label}`}</Command>
        <div className="row">
          <Button look="first" type="submit" isBusy={issuing.isPending}>
            Issue
          </Button>
          <Button look="plain" onClick={onClose}>
            Cancel
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

function Revoke({ of: key, onClose }: { readonly of: KeyView; readonly onClose: () => void }) {
  const client = useQueryClient()
  const revoking = useMutation({
    mutationFn: () => send('DELETE', `/keys/${encodeURIComponent(key.id)}`),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['keys'] })
      onClose()
    }
  })
  return (
    <Dialog title={`Revoke ${key.label || key.hint}?`} onClose={onClose}>
      <p>Calls with it are refused from now on. It cannot be taken back.</p>
      {revoking.error !== null && <Trouble error={revoking.error} />}
      <Command>{`souk key revoke ${key.id}`}</Command>
      <div className="row">
        <Button look="grave" isBusy={revoking.isPending} onClick={() => revoking.mutate()}>
          Revoke
        </Button>
        <Button look="plain" onClick={onClose}>
          Keep it
        </Button>
      </div>
    </Dialog>
  )
}
