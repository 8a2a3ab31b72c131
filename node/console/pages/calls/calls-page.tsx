import { useState } from 'react'
import { useSearchParams } from 'wouter'
import type { CallLine } from '../../../admin/events/webhook-api.ts'
import { useCalls } from '../../admin/live.tsx'
import { Button } from '../../parts/button.tsx'
import { Command, word } from '../../parts/code/command.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Page } from '../../parts/page.tsx'
import { CallDetail } from './call-detail.tsx'
import { CallTable } from './call-table.tsx'
import { Filters, filtersIn, passes } from './filters.tsx'

/** Live list of calls that this node served or made. */
export function Calls() {
  const live = useCalls()
  const [held, setHeld] = useState<readonly CallLine[]>()
  const [shown, setShown] = useState<CallLine>()
  const [params] = useSearchParams()
  const filters = filtersIn(params)
  const calls = held ?? live
  const passing = calls.filter((call) => passes(call, filters))
  const missed = held === undefined ? 0 : countSince(live, held[0])
  return (
    <Page
      title="Calls"
      intro="The last calls that this node served or made, without their bodies."
      actions={
        <Button
          icon={held === undefined ? 'pause' : 'again'}
          onClick={() => setHeld(held === undefined ? live : undefined)}
        >
          {held === undefined ? 'Pause' : `Resume${missed === 0 ? '' : `, ${missed} new`}`}
        </Button>
      }
    >
      <Filters calls={calls} />
      {passing.length === 0 ? <None isFiltered={calls.length > 0} /> : <CallTable calls={passing} onShow={setShown} />}
      <Command>{`souk tail${filters.api === undefined ? '' : ` | grep ${word(filters.api)}`}`}</Command>
      {shown !== undefined && <CallDetail call={shown} onClose={() => setShown(undefined)} />}
    </Page>
  )
}

function countSince(live: readonly CallLine[], last: CallLine | undefined): number {
  const at = last === undefined ? -1 : live.indexOf(last)
  return at === -1 ? live.length : at
}

function None({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered ? (
    <Empty title="No call passes the filters">Remove a filter to see other calls.</Empty>
  ) : (
    <Empty title="No call so far" action={<Command>{"souk call <name> '{}'"}</Command>}>
      Calls show here when they end. The node keeps the last ones in memory until it stops.
    </Empty>
  )
}
