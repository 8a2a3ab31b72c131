import { useQuery } from '@tanstack/react-query'
import type { CallLine } from '../../../admin/events/webhook-api.ts'
import { queries } from '../../admin/queries.ts'
import { Amount } from '../../parts/amount.tsx'
import { Copy } from '../../parts/code/copy.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { State } from '../../parts/state.tsx'

/** Explanations of the charging rules in receipts. */
const RULES: Readonly<Record<string, string>> = {
  success: 'it succeeded',
  'partial-data': 'it was answered with data, and errors',
  cost: 'by the cost of what was asked for',
  'stream-open': 'its stream began',
  events: 'further events of its stream',
  plan: 'on the terms of a plan'
}

/** The receipt of a call: charge, rule and proof. */
export function Receipt({ call }: { readonly call: CallLine }) {
  const found = useQuery(queries.receiptsOf(call))
  return (
    <section className="stack">
      <h3>Receipt</h3>
      <Loaded query={found}>
        {({ receipts }) => {
          const receipt = receipts.find(({ request_id }) => request_id === call.request_id)
          if (receipt === undefined) return <p className="quiet">The receipt is not stored yet.</p>
          const { charged, rule, signature, channel, proof } = receipt
          return (
            <Facts
              facts={[
                ['Charged', <Amount key="charged" value={charged} />],
                ...(rule === null ? [] : [['Why', RULES[rule] ?? rule] as const]),
                [
                  'Signature',
                  signature === 'own' ? (
                    'this node’s own'
                  ) : (
                    <State
                      key="signature"
                      state={signature}
                      {...(signature === 'invalid' ? { mood: 'bad' as const } : {})}
                    />
                  )
                ],
                ...(channel === null
                  ? []
                  : [['Channel', <Id key="channel" text={channel} what="the channel" />] as const]),
                ...(proof === null ? [] : [['Proof', <Id key="proof" text={proof} what="the proof" />] as const])
              ]}
            />
          )
        }}
      </Loaded>
    </section>
  )
}

/** Shortened id. Copying gives the full id. */
function Id({ text, what }: { readonly text: string; readonly what: string }) {
  return (
    <span className="row">
      <span className="id" title={text}>
        {text.length > 28 ? `${text.slice(0, 12)}…${text.slice(-12)}` : text}
      </span>
      <Copy text={text} what={what} />
    </span>
  )
}
