import type { CallLine } from '../../../admin/events/webhook-api.ts'
import { ApiName } from '../../parts/api-name.tsx'
import { Amount } from '../../parts/amount.tsx'
import { State } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { TimingStrip } from '../../parts/chart/timing-strip.tsx'
import { msText } from '../../parts/units.ts'
import { errorOf } from './filters.tsx'

const SHOWN_MAX = 50
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })

interface CallTableProps {
  readonly calls: readonly CallLine[]
  readonly onShow: (call: CallLine) => void
}

export function CallTable({ calls, onShow }: CallTableProps) {
  const shown = calls.slice(0, SHOWN_MAX)
  return (
    <>
      <Table
        caption="Calls, newest first"
        rows={shown}
        keyOf={({ role, request_id, timestamp }) => `${role}${request_id}${timestamp}`}
        columns={[
          {
            title: 'API',
            cell: (call) => (
              <button type="button" className="link" onClick={() => onShow(call)}>
                <ApiName id={call.api} />
              </button>
            )
          },
          {
            title: 'At',
            cell: ({ timestamp }) => <time dateTime={timestamp}>{CLOCK.format(new Date(timestamp))}</time>
          },
          { title: 'Way', cell: ({ role }) => (role === 'owner' ? 'served' : 'made') },
          { title: 'Result', cell: (call) => <Result call={call} /> },
          {
            title: 'Time',
            cell: ({ ms, timing }) => (
              <>
                {msText(ms)}
                <TimingStrip timing={timing} />
              </>
            ),
            isNumber: true
          },
          { title: 'Charged', cell: ({ charged }) => <Amount value={charged} />, isNumber: true }
        ]}
      />
      {calls.length > SHOWN_MAX && (
        <p className="quiet small">
          {SHOWN_MAX} of {calls.length} calls that are remembered.
        </p>
      )}
    </>
  )
}

export function Result({ call }: { readonly call: CallLine }) {
  const error = errorOf(call)
  return error === undefined ? (
    <State state={String(call.status)} mood="good" />
  ) : (
    <State state={call.code === null ? error : `${call.status} ${error}`} mood={call.status < 500 ? 'warn' : 'bad'} />
  )
}
