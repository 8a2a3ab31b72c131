import type { DoctorView, StatusView } from '../../admin/queries.ts'

export interface BundleInit {
  readonly status: StatusView
  readonly doctor: DoctorView
  readonly peers: readonly unknown[]
  readonly apis: ReadonlyArray<Readonly<Record<string, unknown>>>
}

/** Of an API, what says how it does, and nothing of where or how it is reached. */
const API_MEMBERS = ['id', 'protocol', 'state', 'revision', 'own', 'published', 'in_flight', 'calls', 'price']
const STATUS_MEMBERS = [
  'version',
  'network',
  'money',
  'peer',
  'peers',
  'alone',
  'till',
  'listings',
  'serving',
  'calling',
  'uptime_ms'
] as const satisfies ReadonlyArray<keyof StatusView>
/** Accounts, and URLs: they may name hosts, and hold credentials. */
const HIDDEN = [/0x[\da-f]{40,}/gi, /\b\w+:\/\/\S+/g]

/** What may be shown to strangers, named one by one: what is added to a view later is not in it by itself. */
export function bundleOf({ status, doctor, peers, apis }: BundleInit): string {
  const bundle = {
    made_at: new Date().toISOString(),
    browser: navigator.userAgent,
    status: Object.fromEntries(STATUS_MEMBERS.map((name) => [name, status[name]])),
    doctor: doctor.checks.map(({ name, result, message }) => ({ name, result, message: hidden(message) })),
    peers: peers.length,
    apis: apis.map((api) => Object.fromEntries(API_MEMBERS.map((name) => [name, api[name]])))
  }
  return `${JSON.stringify(bundle, null, 2)}\n`
}

function hidden(text: string): string {
  return HIDDEN.reduce((shown, pattern) => shown.replaceAll(pattern, '…'), text)
}
