import { useQuery } from '@tanstack/react-query'
import { request } from '../../admin/client.ts'
import { type DoctorView, queries, type StatusView } from '../../admin/queries.ts'
import { Button } from '../../parts/button.tsx'
import { Command } from '../../parts/code/command.tsx'
import { Download } from '../../parts/download.tsx'
import { Facts } from '../../parts/facts.tsx'
import { Hint } from '../../parts/hint.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { State } from '../../parts/state.tsx'
import { useTheme } from '../../theme.ts'
import { Browsers } from './browsers.tsx'
import { bundleOf } from './bundle.ts'
import { Retention } from './retention.tsx'
import { Webhooks } from './webhooks.tsx'

/** Problems of the node, webhooks, browsers and retention. */
export function Settings() {
  const status = useQuery(queries.status())
  const doctor = useQuery(queries.doctor())
  return (
    <Page
      title="Settings & diagnostics"
      intro="Problems of the node, webhooks, and browsers that may use this console."
    >
      <section className="card">
        <div className="row between">
          <h2>Doctor</h2>
          <Button icon="again" isBusy={doctor.isFetching} onClick={() => void doctor.refetch()}>
            Check again
          </Button>
        </div>
        <Loaded query={doctor}>{(view) => <Checks view={view} />}</Loaded>
        <Command>souk doctor</Command>
      </section>
      <Browsers />
      <Retention />
      <Webhooks />
      <div className="two">
        <Theme />
        <Support />
      </div>
      <Loaded query={status}>{(view) => <About status={view} />}</Loaded>
    </Page>
  )
}

function Checks({ view }: { readonly view: DoctorView }) {
  return (
    <ul className="rows checks">
      {view.checks.map(({ name, result, message, hint }) => (
        <li key={name}>
          <div>
            <p>
              <strong>{name}</strong> <span className="quiet">{message}</span>
            </p>
            {result !== 'ok' && hint !== undefined && <Hint>{hint}</Hint>}
          </div>
          <State state={result} />
        </li>
      ))}
    </ul>
  )
}

function Theme() {
  const { theme, next } = useTheme()
  return (
    <section className="card">
      <h2>Theme</h2>
      <p>Colours in this browser only: the system’s, light or dark.</p>
      <div>
        <Button icon="theme" onClick={next}>
          Theme: {theme}
        </Button>
      </div>
    </section>
  )
}

function Support() {
  const gather = async () => {
    const [status, doctor, peers, apis] = await Promise.all([
      request('GET /status'),
      request('GET /doctor'),
      request('GET /peers'),
      request('GET /apis')
    ])
    return bundleOf({ status, doctor, peers: peers.peers, apis: apis.apis })
  }
  return (
    <section className="card">
      <h2>Support bundle</h2>
      <p>
        A JSON file for support: versions, the doctor’s findings, states of APIs. No secret, no key, no address of an
        upstream or of the wallet is in it. Nothing is sent anywhere: look at it, then decide.
      </p>
      <div>
        <Download name="souk-support.json" type="application/json" content={gather}>
          Download the bundle
        </Download>
      </div>
    </section>
  )
}

function About({ status: { version, profile, network, uptime_ms, admin } }: { readonly status: StatusView }) {
  return (
    <section className="card">
      <h2>About</h2>
      <Facts
        facts={[
          ['Souk', version],
          ['Profile', profile],
          ['Network', network],
          ['Console', admin],
          ['Running for', durationText(uptime_ms)],
          ['Telemetry', 'none: the node reports nothing, and this console sends requests to your node only']
        ]}
      />
    </section>
  )
}

function durationText(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`
}
