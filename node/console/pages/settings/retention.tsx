import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { SettingsView } from '../../../admin/node/settings-api.ts'
import { request } from '../../admin/client.ts'
import { queries } from '../../admin/queries.ts'
import { useWrite } from '../../admin/use-write.ts'
import { Command } from '../../parts/code/command.tsx'
import { Facts } from '../../parts/facts.tsx'
import { CheckField } from '../../parts/form/field.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'

/** Which data of calls is stored, and for how long. */
export function Retention() {
  const settings = useQuery(queries.settings())
  return (
    <section className="card">
      <h2>Retention</h2>
      <Loaded query={settings}>{(view) => <Kept view={view} />}</Loaded>
    </section>
  )
}

function Kept({ view: { capture, captured, captured_max, retention } }: { readonly view: SettingsView }) {
  const [wanted, setWanted] = useState<boolean>()
  const setting = useWrite(
    (isOn: boolean) => request('PUT /settings', { body: { capture: isOn } }),
    ['settings', 'captures']
  )
  return (
    <>
      <CheckField
        label="Keep the requests of calls made from here, to replay them"
        hint={`Only in memory, the last ${captured_max}, without fields whose names suggest secrets. Off after a restart. ${captured} kept now.`}
        checked={setting.error === null ? (wanted ?? capture) : capture}
        onChange={({ target }) => {
          setWanted(target.checked)
          setting.mutate(target.checked)
        }}
      />
      {setting.error !== null && <ErrorNotice error={setting.error} />}
      <Command>{`souk settings --capture ${capture ? 'off' : 'on'}`}</Command>
      <Facts
        facts={[
          ['Responses', `${daysText(retention.answers_ms)}, for a repeat of the same call`],
          ['Charts', `${daysText(retention.series_ms)}, in memory`],
          ['Browsers', `${daysText(retention.sessions_ms)} after sign-in`],
          ['Receipts and ledger', 'see souk up --keep-days']
        ]}
      />
    </>
  )
}

const DAY_MS = 24 * 60 * 60_000

function daysText(ms: number): string {
  const days = Math.round(ms / DAY_MS)
  return days === 1 ? 'a day' : `${days} days`
}
