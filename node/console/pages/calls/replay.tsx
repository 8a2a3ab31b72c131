import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import type { CallInput } from '../../../admin/api.ts'
import type { CaptureView } from '../../../admin/node/settings-api.ts'
import type { CallLine } from '../../../admin/events/webhook-api.ts'
import { queries } from '../../admin/queries.ts'
import { useCall } from '../../admin/use-call.ts'
import { Amount } from '../../parts/amount.tsx'
import { ResponseView } from '../../parts/response.tsx'
import { Button } from '../../parts/button.tsx'
import { Command, word } from '../../parts/code/command.tsx'
import { Form } from '../../parts/form/form.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Notice } from '../../parts/notice.tsx'
import type { Json } from '../../parts/form/schema.ts'
import { JsonField } from '../../parts/form/schema-form.tsx'
import { curlOf } from '../market/code.ts'
import { pathOf } from '../market/paths.ts'

/** Repeats a call with its captured request, or with a changed one. */
export function Replay({ call }: { readonly call: CallLine }) {
  const capture = useQuery({ ...queries.capture(call.request_id), staleTime: Infinity })
  return (
    <section className="stack">
      <h3>Make it again</h3>
      <Loaded query={capture}>
        {(view) => (view.kept ? <Again call={call} capture={view} /> : <NotKept call={call} />)}
      </Loaded>
    </section>
  )
}

function NotKept({ call: { api } }: { readonly call: CallLine }) {
  return (
    <>
      <p>
        What was sent is not kept, unless you want that: <Link href="/settings">Settings</Link>.
      </p>
      <div className="row">
        <Link href={pathOf(api, 'try')} className="button">
          Write a new request
        </Link>
      </div>
    </>
  )
}

function Again({ call: { api }, capture }: { readonly call: CallLine; readonly capture: CaptureView }) {
  const { data: listing } = useQuery(queries.listing(api))
  const { data: status } = useQuery(queries.status())
  const { answer, send } = useCall()
  const kept = capture.body as Json
  const [body, setBody] = useState<Json | undefined>(kept)
  const isChanged = JSON.stringify(body) !== JSON.stringify(kept)
  const ingress = status?.ingress ?? undefined
  if (listing === undefined) return null
  const { price } = listing
  return (
    <>
      {JSON.stringify(kept).includes('[redacted]') && (
        <Notice>
          <p>The captured request has no secrets. Replace each [redacted] by its value.</p>
        </Notice>
      )}
      <Form onSubmit={() => void send({ api, body: body as CallInput['body'], max_price: price })}>
        <JsonField label="Request" isTitled value={kept} onChange={setBody} />
        <div className="row">
          <Button
            look="first"
            icon="again"
            type="submit"
            disabled={body === undefined}
            isBusy={answer?.isOpen === true}
          >
            {isChanged ? 'Call with the changed request' : 'Replay'}
          </Button>
          <span className="quiet small">
            costs up to <Amount value={price} />
          </span>
        </div>
        {body !== undefined && (
          <>
            <Command>{`souk call ${word(api)} ${word(JSON.stringify(body))} --max-price ${price}`}</Command>
            {ingress !== undefined && <Command what="the curl command">{curlOf({ ingress, api, body })}</Command>}
          </>
        )}
      </Form>
      {answer !== undefined && <ResponseView answer={answer} />}
    </>
  )
}
