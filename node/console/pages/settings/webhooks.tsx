import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { AddWebhookInput, WebhookView } from '../../../admin/events/webhook-api.ts'
import { request } from '../../admin/client.ts'
import { queries } from '../../admin/queries.ts'
import { useWrite } from '../../admin/use-write.ts'
import { Button } from '../../parts/button.tsx'
import { Command, word } from '../../parts/code/command.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Empty } from '../../parts/empty.tsx'
import { CheckField, Field } from '../../parts/form/field.tsx'
import { Form } from '../../parts/form/form.tsx'
import { FormButtons } from '../../parts/form/form-buttons.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Notice } from '../../parts/notice.tsx'
import { State } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'

/** Webhooks: URLs that receive events. */
export function Webhooks() {
  const webhooks = useQuery(queries.webhooks())
  const [isAdding, setAdding] = useState(false)
  return (
    <section className="stack">
      <div className="row between">
        <h2>Webhooks</h2>
        <Button icon="plus" onClick={() => setAdding(true)}>
          Add a webhook
        </Button>
      </div>
      <Loaded query={webhooks}>
        {({ webhooks }) =>
          webhooks.length === 0 ? (
            <Empty title="No webhooks yet">
              A webhook is a URL that receives signed events, such as a reached cap, a failing API or a settlement. The
              node retries until the URL accepts them.
            </Empty>
          ) : (
            <Table
              caption="Webhooks"
              rows={webhooks}
              keyOf={({ id }) => id}
              columns={[
                { title: 'URL', cell: ({ url }) => <span className="id address">{url}</span> },
                { title: 'Events', cell: ({ events }) => (events.length === 0 ? 'all' : events.join(', ')) },
                {
                  title: 'State',
                  cell: ({ state, note }) => (
                    <>
                      <State state={state} />
                      {note !== null && <p className="quiet small">{note}</p>}
                    </>
                  )
                },
                { title: 'Last taken', cell: ({ delivered_at }) => <Moment at={delivered_at} /> },
                { title: 'Action', cell: (webhook) => <Actions webhook={webhook} /> }
              ]}
            />
          )
        }
      </Loaded>
      {isAdding && <Add onClose={() => setAdding(false)} />}
    </section>
  )
}

function Actions({ webhook: { id, url, state } }: { readonly webhook: WebhookView }) {
  const [isRemoving, setRemoving] = useState(false)
  const params = { id }
  const testing = useWrite(() => request('POST /webhooks/:id/test', { params }), ['webhooks'])
  const enabling = useWrite(() => request('POST /webhooks/:id/enable', { params }), ['webhooks'])
  return (
    <>
      <div className="row">
        <Button
          className="small"
          isBusy={testing.isPending}
          onClick={() => testing.mutate(undefined)}
          aria-label={`Test ${url}`}
        >
          Test
        </Button>
        {state === 'disabled' && (
          <Button
            className="small"
            isBusy={enabling.isPending}
            onClick={() => enabling.mutate(undefined)}
            aria-label={`Enable ${url}`}
          >
            Enable
          </Button>
        )}
        <Button className="small" look="plain" onClick={() => setRemoving(true)} aria-label={`Remove ${url}`}>
          Remove
        </Button>
      </div>
      <span role="status" className="small">
        {testing.data !== undefined && (testing.data.taken ? 'It took a test.' : `Not taken: ${testing.data.why}`)}
        {testing.error?.message ?? enabling.error?.message}
      </span>
      {isRemoving && (
        <Confirm
          title="Remove the webhook?"
          action="Remove it"
          instead="Keep it"
          isGrave
          command={`souk webhook rm ${id}`}
          write={() => request('DELETE /webhooks/:id', { params })}
          changes={['webhooks']}
          onClose={() => setRemoving(false)}
        >
          <p>
            <span className="id">{url}</span> receives no more events. Its pending deliveries are dropped.
          </p>
        </Confirm>
      )}
    </>
  )
}

function Add({ onClose }: { readonly onClose: () => void }) {
  const [input, setInput] = useState({ url: '', events: '' })
  const [isPrivate, setPrivate] = useState(false)
  const adding = useWrite((wish: AddWebhookInput) => request('POST /webhooks', { body: wish }), ['webhooks'])
  if (adding.data !== undefined) {
    return (
      <Dialog title="The secret, this once" onClose={onClose}>
        <p>This secret signs deliveries according to Standard Webhooks. It is not shown again.</p>
        <Command what="the secret">{adding.data.secret}</Command>
        <Button look="first" onClick={onClose}>
          I have it
        </Button>
      </Dialog>
    )
  }
  const events = input.events.split(/[\s,]+/).filter(Boolean)
  const flags = [
    ...(events.length === 0 ? [] : [`--events ${word(events.join(','))}`]),
    ...(isPrivate ? ['--allow-private'] : [])
  ]
  return (
    <Dialog title="Add a webhook" onClose={onClose}>
      <Form
        onSubmit={() =>
          adding.mutate({
            url: input.url,
            ...(events.length === 0 ? {} : { events }),
            ...(isPrivate ? { allow_private: true } : {})
          })
        }
      >
        <Field
          label="URL"
          type="url"
          required
          placeholder="https://"
          value={input.url}
          onChange={({ target }) => setInput({ ...input, url: target.value })}
        />
        <Field
          label="Events"
          placeholder="listing.*, cap.reached"
          hint="Empty: all of them."
          value={input.events}
          onChange={({ target }) => setInput({ ...input, events: target.value })}
        />
        <CheckField
          label="It is on this machine or its network"
          hint="Plain http and private addresses are refused otherwise."
          checked={isPrivate}
          onChange={({ target }) => setPrivate(target.checked)}
        />
        {adding.error !== null && <ErrorNotice error={adding.error} />}
        {input.url.startsWith('http:') && !isPrivate && (
          <Notice>
            <p>With plain http, others on the network path can read the events.</p>
          </Notice>
        )}
        <Command>{['souk webhook add', word(input.url || '<url>'), ...flags].join(' ')}</Command>
        <FormButtons isBusy={adding.isPending} onClose={onClose}>
          Add
        </FormButtons>
      </Form>
    </Dialog>
  )
}
