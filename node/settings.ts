import { multiaddr } from '@multiformats/multiaddr'
import { z } from 'zod'
import { limits } from '../lib/index.ts'
import { isWebUrl } from './network/web-url.ts'
import { SetupError } from './setup-error.ts'
import { invalidText } from '../protocols/invalid-text.ts'

export type Environment = Readonly<Record<string, string | undefined>>

const PORT_MAX = 65_535

const yes = new Set(['1', 'true', 'yes', 'on'])
const no = new Set(['0', 'false', 'no', 'off'])

/** Accepts flags (words or numbers), environment variables (words) and `profile.json` (JSON). */
const port = z.union([z.number(), z.string().regex(/^\d+$/).transform(Number)]).pipe(z.int().min(0).max(PORT_MAX))
const flag = z.union([
  z.boolean(),
  z
    .string()
    .toLowerCase()
    .refine((word) => yes.has(word) || no.has(word), 'say true or false')
    .transform((word) => yes.has(word))
])
const list = (item: z.ZodType<string>) =>
  z.preprocess(
    (given) => (typeof given === 'string' ? given.split(/[\s,]+/).filter((word) => word !== '') : given),
    z.array(item)
  )
const host = z.string().regex(/^[\w.:-]+$/, 'give an IP address or host name')
const address = z.string().refine(isMultiaddr, 'give a multiaddr such as /ip4/192.0.2.1/tcp/4402/p2p/12D3KooW…')
/** The peer id is required: an address alone does not identify a peer. A dnsaddr record contains it. */
const peerAddress = address.refine(
  (text) => text.includes('/p2p/') || text.startsWith('/dnsaddr/'),
  'the address must end in /p2p/<peer id>'
)
const evmAddress = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'give an address: 0x and 40 hex digits')
const httpUrl = z.string().refine(isHttpUrl, 'give an http or https URL')
const seconds = z.union([z.number(), z.string().regex(/^\d+$/).transform(Number)]).pipe(z.int().min(0))
const usdc = z.string().regex(/^\d+(\.\d{1,6})?$/, 'give a decimal number with at most six decimals, like 2.50')
const postgresUrl = z
  .string()
  .refine(
    isPostgresUrl,
    'give a URL like postgres://user:password@host/database, with one host. In the password write %23 for #, %25 for %, %2F for /, %3F for ? and %40 for @'
  )
const logNames = z
  .string()
  .max(limits.LOG_NAMES_CHARS_MAX)
  .regex(/^[\w:.*@/\s,-]+$/, 'give names of logs such as souk:call, or souk:* for all of them')
const origin = z.string().refine(isOrigin, 'give an origin such as https://shop.example')

/** A name, or where a network file is. `resolveNetwork` knows which. */
const networkChoice = z.string().min(1).max(limits.NETWORK_CHOICE_CHARS_MAX)

const keepDays = z.union(
  [
    z.literal('forever'),
    z.int(),
    z
      .string()
      .regex(/^\d{1,5}$/)
      .transform(Number)
  ],
  'give a number of days, or forever'
)

/** Payment schemes: through channels, or counting calls without payment. */
export const PAYMENT_SCHEME_NAMES = ['channel', 'metered'] as const
export type PaymentSchemeName = (typeof PAYMENT_SCHEME_NAMES)[number]

/** The admin API accepts loopback host names only, so other addresses would be useless. */
const ADMIN_HOSTS = ['127.0.0.1', '0.0.0.0', '::'] as const

/** All settings of a node, from any source. */
const settingsSchema = z.object({
  network: networkChoice.optional(),
  networkUrl: z.string().refine(isWebUrl, 'give an https URL').optional(),
  p2pHost: host.optional(),
  p2pPort: port.optional(),
  announce: list(address).optional(),
  bootstrap: list(peerAddress).optional(),
  relay: flag.optional(),
  mdns: flag.optional(),
  portMapping: flag.optional(),
  ingress: flag.optional(),
  ingressHost: host.optional(),
  ingressPort: port.optional(),
  tlsCert: z.string().min(1).optional(),
  tlsKey: z.string().min(1).optional(),
  trustProxy: flag.optional(),
  corsOrigin: list(origin).optional(),
  x402: flag.optional(),
  adminHost: z.enum(ADMIN_HOSTS).optional(),
  adminPort: port.optional(),
  chainRpc: httpUrl.optional(),
  treasury: evmAddress.optional(),
  till: z.enum(PAYMENT_SCHEME_NAMES).optional(),
  passphraseFile: z.string().min(1).optional(),
  payout: evmAddress.optional(),
  dailyCap: usdc.optional(),
  settleOnStop: flag.optional(),
  credit: flag.optional(),
  store: postgresUrl.optional(),
  accounts: flag.optional(),
  selfService: flag.optional(),
  demoKey: list(z.string()).optional(),
  selfReport: flag.optional(),
  probe: flag.optional(),
  watchdog: seconds.optional(),
  keepDays: keepDays.optional(),
  log: logNames.optional()
})

export type Settings = z.output<typeof settingsSchema>

/** Names of all settings, as `profile.json` has them. */
export const SETTING_NAMES = Object.keys(settingsSchema.shape)

/** Options whose name differs from the setting’s name in `profile.json` and in the environment. */
const OPTION_NAMES: Readonly<Record<string, string>> = { till: 'paymentScheme' }
const optionOf = (name: string): string => OPTION_NAMES[name] ?? name

/** @throws SetupError `config_invalid` for an invalid value or a renamed option */
export function readFlags(flags: Readonly<Record<string, unknown>>): Settings {
  for (const name of Object.keys(OPTION_NAMES)) {
    if (flags[name] === undefined) continue
    throw new SetupError('config_invalid', `${dashed(name)} was renamed: use ${flagName(name)}.`)
  }
  return read(
    only(SETTING_NAMES, (name) => flags[optionOf(name)]),
    flagName
  )
}

export function readEnvironment(env: Environment): Settings {
  return read(
    only(SETTING_NAMES, (name) => (env[variableName(name)] === '' ? undefined : env[variableName(name)])),
    variableName
  )
}

/** Reads `profile.json`; an empty object if absent. Ignores unknown members, which `souk up` warns of. */
export function readSaved(saved: unknown): Settings {
  return read(saved ?? {}, (name) => `profile.json: ${name}`)
}

function read(values: unknown, nameOf: (name: string) => string): Settings {
  const result = settingsSchema.safeParse(values, { error: invalidText })
  if (result.success) return stripUndefined(result.data)
  const issue = result.error.issues[0]
  const name = String(issue?.path[0] ?? '')
  throw new SetupError('config_invalid', `${nameOf(name)} is not valid: ${explain(name, issue?.message)}.`)
}

function explain(name: string, message = 'the value has the wrong form'): string {
  if (name === 'till') return `give one of ${PAYMENT_SCHEME_NAMES.join(', ')}`
  if (name === 'adminHost') return 'give 127.0.0.1, or inside a container 0.0.0.0 or ::'
  if (name === 'watchdog') return 'give whole seconds, or 0 for no watchdog'
  if (name.endsWith('Port')) return `give a port from 0 (any free one) to ${PORT_MAX}`
  return message
}

/** The option of a setting: `p2pPort` → `--p2p-port`. */
export function flagName(name: string): string {
  return dashed(optionOf(name))
}

function dashed(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** `p2pPort` → `SOUK_P2P_PORT` */
export function variableName(name: string): string {
  return `SOUK_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
}

function only(names: readonly string[], valueOf: (name: string) => unknown): Record<string, unknown> {
  const pairs = names.map((name): [string, unknown] => [name, valueOf(name)])
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined))
}

/** Removes undefined members, so that spreading one source over another overwrites no value with undefined. */
function stripUndefined(settings: Settings): Settings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined))
}

function isMultiaddr(text: string): boolean {
  try {
    multiaddr(text)
    return true
  } catch {
    return false
  }
}

function isHttpUrl(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '')
}

function isPostgresUrl(text: string): boolean {
  const { protocol = '', host = '' } = URL.parse(text) ?? {}
  return /^postgres(?:ql)?:$/.test(protocol) && !host.includes(',')
}

function isOrigin(text: string): boolean {
  if (text === '*') return true
  return URL.canParse(text) && new URL(text).origin === text
}
