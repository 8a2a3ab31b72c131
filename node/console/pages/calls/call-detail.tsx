import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { CallLine } from '../../../admin/events/webhook-api.ts'
import { queries } from '../../admin/queries.ts'
import { Amount } from '../../parts/amount.tsx'
import { Button } from '../../parts/button.tsx'
import { Copy } from '../../parts/code/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Moment } from '../../parts/moment.tsx'
import { TimingBar } from '../../parts/chart/timing-bar.tsx'
import { msText } from '../../parts/units.ts'
import { Receipt } from './receipt.tsx'
import { Replay } from './replay.tsx'
import { Result } from './call-table.tsx'

const NO_TIME = { lookup: 0, pay: 0, net: 0, owner: 0, upstream: 0 }

/** All stored data of one call. */
export function CallDetail({ call, onClose }: { readonly call: CallLine; readonly onClose: () => void }) {
  const { data: status } = useQuery(queries.status())
  const isPaid = status !== undefined && status.wallet !== null && call.charged !== '0'
  const name = call.api.split('@')[0] ?? call.api
  return (
    <Dialog title={call.role === 'owner' ? 'A call that was served' : 'A call that was made'} onClose={onClose}>
      <Facts
        facts={[
          [
            'API',
            <Link key="api" href={call.role === 'owner' ? `/apis/${name}` : `/market/${encodeURIComponent(call.api)}`}>
              {name}
            </Link>
          ],
          ['Result', <Result key="result" call={call} />],
          ['Ended', <Moment key="at" at={Date.parse(call.timestamp)} />],
          ['Took', msText(call.ms)],
          [call.role === 'owner' ? 'Charged' : 'Paid', <Amount key="charged" value={call.charged} />],
          [
            'Request',
            <span key="request" className="row">
              <span className="id">{call.request_id}</span>
              <Copy text={call.request_id} what="the request id" />
            </span>
          ]
        ]}
      />
      <TimingBar timing={{ ...NO_TIME, ...call.timing }} />
      {isPaid && <Receipt call={call} />}
      {call.role === 'payer' ? (
        <Replay call={call} />
      ) : (
        <p className="quiet">Requests of consumers and their responses are not shown here.</p>
      )}
      <div className="row">
        {call.role === 'owner' && (
          <Link href={`/apis/${name}/try`} className="button">
            Try the API
          </Link>
        )}
        <Button look="plain" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  )
}
