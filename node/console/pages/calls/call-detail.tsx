import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import type { CallLine } from '../../../admin/webhook-api.ts'
import { queries } from '../../admin/queries.ts'
import { Amount } from '../../parts/amount.tsx'
import { Button } from '../../parts/button.tsx'
import { Command } from '../../parts/command.tsx'
import { Copy } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Moment } from '../../parts/moment.tsx'
import { TimingBar } from '../../parts/timing-bar.tsx'
import { msText } from '../../parts/units.ts'
import { curlOf } from '../market/code.ts'
import { Result } from './call-table.tsx'

const NO_TIME = { lookup: 0, pay: 0, net: 0, owner: 0, upstream: 0 }

/** One call: everything of it that is kept. */
export function CallDetail({ call, onClose }: { readonly call: CallLine; readonly onClose: () => void }) {
  const { data: status } = useQuery(queries.status())
  const ingress = status?.ingress ?? undefined
  return (
    <Dialog title={call.role === 'owner' ? 'A call that was served' : 'A call that was made'} onClose={onClose}>
      <Facts
        facts={[
          [
            'API',
            <span key="api" className="id">
              {call.api}
            </span>
          ],
          ['Result', <Result key="result" call={call} />],
          ['Ended', <Moment key="at" at={Date.parse(call.timestamp)} />],
          ['Took', msText(call.ms)],
          [call.role === 'owner' ? 'Earned' : 'Paid', <Amount key="charged" value={call.charged} />],
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
      {call.role === 'payer' && ingress !== undefined && (
        <>
          <p className="quiet small">What was sent is not kept. A call like it, with a body of your own:</p>
          <Command what="the curl command">{curlOf({ ingress, api: call.api, body: {} })}</Command>
        </>
      )}
      <div className="row">
        {call.role === 'payer' && (
          <Link href={`/market/${encodeURIComponent(call.api)}/try`} className="button">
            Call it again
          </Link>
        )}
        <Button look="plain" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  )
}
