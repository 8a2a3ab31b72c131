import { useState } from 'react'
import type { DescriptionView, UpstreamCallInput, UpstreamCallView } from '../../../admin/apis/description-api.ts'
import { request } from '../../admin/client.ts'
import { useSingle } from '../../admin/use-single.ts'
import { Button } from '../../parts/button.tsx'
import { Command } from '../../parts/code/command.tsx'
import { Text } from '../../parts/code/code.tsx'
import { Figures } from '../../parts/chart/figures.tsx'
import { Form } from '../../parts/form/form.tsx'
import type { Json } from '../../parts/form/schema.ts'
import { pretty } from '../../parts/json.ts'
import { State } from '../../parts/state.tsx'
import { Step } from '../../parts/steps.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'
import { firstBody, TryRequest } from '../../parts/try.tsx'
import { bytesText, msText } from '../../parts/units.ts'
import { checkCommand } from './command.ts'
import { type Making, upstreamOf } from './draft.ts'

interface DryRunProps {
  readonly making: Making
  readonly description: DescriptionView
  readonly onBack: () => void
  readonly onDone: () => void
}

/** Dry run: one real call before the API is published. */
export function DryRunStep({ making, description, onBack, onDone }: DryRunProps) {
  const { protocol } = making.draft
  const [body, setBody] = useState<Json | undefined>(() => firstBody(protocol, description))
  const dryRun = useSingle({
    mutationFn: () =>
      request('POST /upstreams/call', {
        body: { upstream: upstreamOf(making), body: body as UpstreamCallInput['body'] }
      })
  })
  return (
    <Step title="Does it answer?" intro="A real call, as a consumer would make it. It is free, and not counted.">
      <div className="two">
        <Form onSubmit={() => dryRun.mutate()}>
          <TryRequest protocol={protocol} description={description} body={body} onChange={setBody} />
          <div className="row">
            <Button
              look={dryRun.data === undefined ? 'first' : 'plain'}
              type="submit"
              disabled={body === undefined}
              isBusy={dryRun.isPending}
            >
              Call it
            </Button>
          </div>
          {body !== undefined && <Command>{checkCommand(making, body)}</Command>}
        </Form>
        <div className="stack">
          {dryRun.error !== null ? (
            <ErrorNotice error={dryRun.error} />
          ) : dryRun.data === undefined ? (
            <p className="quiet answer-place">The response of your API shows here.</p>
          ) : (
            <DryRunResponse answer={dryRun.data} />
          )}
        </div>
      </div>
      <div className="row">
        <Button {...(dryRun.data?.success === true ? { look: 'first' as const } : {})} onClick={onDone}>
          {dryRun.data === undefined ? 'Skip' : 'Continue'}
        </Button>
        <Button look="plain" onClick={onBack}>
          Back
        </Button>
      </div>
    </Step>
  )
}

function DryRunResponse({ answer }: { readonly answer: UpstreamCallView }) {
  const { status, success, upstream_ms, body, is_cut } = answer
  return (
    <section className="stack" aria-label="Answer">
      <p role="status" className="visually-hidden">{`Answer ${status}`}</p>
      <Figures
        figures={[
          {
            name: 'Status',
            value: status,
            note: success ? (
              <State state="would be charged" mood="good" />
            ) : (
              <State state="would not be charged" mood="warn" />
            )
          },
          { name: 'Your API took', value: msText(upstream_ms) },
          {
            name: 'Size',
            value: bytesText(new TextEncoder().encode(body).length),
            ...(is_cut ? { note: 'and more' } : {})
          }
        ]}
      />
      {body !== '' && <Text label="Body of the response">{pretty(body)}</Text>}
    </section>
  )
}
