import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { SetupCodeView } from '../../../admin/api.ts'
import type { BrowserView } from '../../../admin/node/settings-api.ts'
import { request } from '../../admin/client.ts'
import { queries } from '../../admin/queries.ts'
import { useWrite } from '../../admin/use-write.ts'
import { Button } from '../../parts/button.tsx'
import { Command } from '../../parts/code/command.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { State } from '../../parts/state.tsx'
import { Table } from '../../parts/table.tsx'
import { ErrorNotice } from '../../parts/error-notice.tsx'

/** Signed-in browsers. */
export function Browsers() {
  const browsers = useQuery(queries.browsers())
  const [leaving, setLeaving] = useState<BrowserView>()
  const coding = useWrite(() => request('POST /setup-codes'), [])
  return (
    <section className="stack">
      <div className="row between">
        <h2>Browsers and tokens</h2>
        <Button icon="key" isBusy={coding.isPending} onClick={() => coding.mutate(undefined)}>
          New setup code
        </Button>
      </div>
      {coding.error !== null && <ErrorNotice error={coding.error} />}
      <Loaded query={browsers}>
        {({ sessions }) => (
          <Table
            caption="Browsers that are signed in"
            rows={sessions}
            keyOf={({ id }) => id}
            columns={[
              { title: 'Browser', cell: ({ id }) => <span className="id">{id}</span> },
              {
                title: 'State',
                cell: ({ current }) =>
                  current ? <State state="this browser" mood="good" /> : <State state="signed in" mood="accent" />
              },
              { title: 'Since', cell: ({ since }) => <Moment at={since} /> },
              { title: 'Until', cell: ({ expires_at }) => <Moment at={expires_at} /> },
              {
                title: 'Change',
                cell: (browser) => (
                  <Button
                    look="plain"
                    aria-label={browser.current ? 'Sign out this browser' : `Sign out ${browser.id}`}
                    onClick={() => setLeaving(browser)}
                  >
                    Sign out
                  </Button>
                )
              }
            ]}
          />
        )}
      </Loaded>
      <p className="quiet small">
        A setup code signs in one browser, once. The command line uses its own token, in the file admin-token of the
        node’s profile, which only your account on this machine can read.
      </p>
      {coding.data !== undefined && <Code view={coding.data} onClose={() => coding.reset()} />}
      {leaving !== undefined && <Leaving browser={leaving} onClose={() => setLeaving(undefined)} />}
    </section>
  )
}

function Code({ view: { code, expires_at }, onClose }: { readonly view: SetupCodeView; readonly onClose: () => void }) {
  return (
    <Dialog title="Setup code" onClose={onClose}>
      <p>
        Type it in the other browser, at this address. It works once, until <Moment at={expires_at} />.
      </p>
      <Command what="the code">{code}</Command>
      <p className="quiet small">The same in a terminal:</p>
      <Command>souk console</Command>
      <div>
        <Button look="first" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  )
}

function Leaving({
  browser: { id, current },
  onClose
}: {
  readonly browser: BrowserView
  readonly onClose: () => void
}) {
  const client = useQueryClient()
  const left = () => {
    if (!current) return onClose()
    client.clear()
    location.assign('/')
  }
  return (
    <Confirm
      title={current ? 'Sign this browser out?' : 'Sign that browser out?'}
      action="Sign out"
      instead="Leave it signed in"
      isGrave={!current}
      command={`souk console sign-out ${id}`}
      write={() => (current ? request('DELETE /session') : request('DELETE /sessions/:id', { params: { id } }))}
      changes={current ? [] : ['browsers']}
      onClose={onClose}
      onDone={left}
    >
      <p>To sign in again, the browser needs a new setup code.</p>
    </Confirm>
  )
}
