import type { DoctorView, StatusView } from '../../admin/queries.ts'

export interface BundleInit {
  readonly status: StatusView
  readonly doctor: DoctorView
  readonly peers: readonly unknown[]
  readonly apis: ReadonlyArray<Readonly<Record<string, unknown>>>
}

/** Data of an API for support: state and counts, without endpoint and credentials. */
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
/** Removes account addresses, and URLs because they may contain hosts and credentials. */
const HIDDEN = [/0x[\da-f]{40,}/gi, /\b\w+:\/\/\S+/g]

/** Builds the support bundle from an explicit list of members, so that new members of a view are not included by accident. */
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
