import type { CallHead } from '../../admin/api.ts'
import type { CallResult } from '../admin/use-call.ts'
import { Amount } from './amount.tsx'
import { Text } from './code/code.tsx'
import { Figures } from './chart/figures.tsx'
import { State } from './state.tsx'
import { TimingBar } from './chart/timing-bar.tsx'
import { ErrorNotice } from './error-notice.tsx'
import { pretty } from './json.ts'
import { bytesText, msText } from './units.ts'

/** Result of a call: status, duration by part, cost and body. */
export function ResponseView({ answer: { head, text, bytes, error, isOpen } }: { readonly answer: CallResult }) {
  return (
    <section className="stack" aria-label="Answer" aria-busy={isOpen}>
      <p role="status" className="visually-hidden">
        {head === undefined ? '' : `Answer ${head.status} in ${msText(head.ms)}`}
      </p>
      {head !== undefined && <Head head={head} bytes={bytes} isOpen={isOpen} />}
      {text !== '' && <Text label="Body of the response">{isOpen ? text : pretty(text)}</Text>}
      {error !== undefined && <ErrorNotice error={error} />}
      {head === undefined && isOpen && <p className="quiet">Waiting for the response…</p>}
      {head !== undefined && <Headers head={head} />}
    </section>
  )
}

function Head({ head, bytes, isOpen }: { readonly head: CallHead; readonly bytes: number; readonly isOpen: boolean }) {
  const isGood = head.status < 400 && !head.has_errors_only
  const result = head.has_errors_only ? 'errors, no data' : isGood ? 'answered' : 'refused'
  return (
    <>
      <Figures
        figures={[
          {
            name: 'Status',
            value: head.status,
            note: isOpen ? (
              <State state="coming in" mood="accent" />
            ) : (
              <State state={result} mood={isGood ? 'good' : 'bad'} />
            )
          },
          { name: 'Latency', value: msText(head.ms), note: 'to the first byte' },
          { name: 'Size', value: bytesText(bytes) },
          {
            name: 'Cost',
            value: <Amount value={head.charged} />,
            note: head.charged === head.price ? 'charged' : `of ${head.price} at most`
          }
        ]}
      />
      <TimingBar timing={head.timing} />
    </>
  )
}

function Headers({ head }: { readonly head: CallHead }) {
  return (
    <details>
      <summary>Headers and request id</summary>
      <Text label="Headers of the response">
        {[
          `request ${head.request_id}`,
          `from ${head.api}`,
          ...head.headers.map(([name, value]) => `${name}: ${value}`)
        ].join('\n')}
      </Text>
    </details>
  )
}
