/**
 * The layer rule as data and pure functions: allowed imports between folders, no cycles, and entry points. `test/tidy.spec.ts`
 * runs these rules, and those of `seams.ts` and `habits.ts`, on the repository and on planted violations.
 */

import { posix } from 'node:path'
import { type Import, type Source, scan } from './scan.ts'

export interface Violation {
  rule: string
  file: string
  line: number
  message: string
}
export type Files = ReadonlyMap<string, string>
export type Sources = ReadonlyMap<string, Source>
export type Rule = (sources: Sources) => Violation[]

/** Folders end with `/`, files do not. */
interface Layer {
  of: string[]
  may: string[]
  mayNot?: string[]
  /** Allowed only by `import type`, which is removed at run time. */
  mayType?: string[]
  /** Allowed only by `import()`, so that commands load it only when needed. */
  mayLazily?: string[]
  why: string
}

const ENTRY_POINTS = [
  'lib/index.ts',
  'lib/interface/index.ts',
  'lib/pay/index.ts',
  'lib/testing/index.ts',
  'protocols/index.ts',
  'node/index.ts',
  'client/index.ts'
]
/** Parts of the entry point `protocols/index.ts` that do not load all adapters. */
const LIGHT_PROTOCOLS = [
  'protocols/protocol-factories.ts',
  'protocols/address-headers.ts',
  'protocols/graphql/sse-results.ts',
  'protocols/invalid-text.ts'
]
/** Checks of typed values that do not load the library. */
const LIGHT_LIB = ['lib/base/api-name.ts', 'lib/pay/signing/address.ts']
/** Reads JSON whose numbers keep their digits. It imports nothing of the library but a helper, and runs in browsers. */
const EXACT_JSON = 'lib/base/exact-json.ts'
/** Imports nothing. */
const DECODED_TEXT = 'lib/base/decoded-text.ts'
const LIB_FACE = ['lib/index.ts', 'lib/interface/index.ts', 'lib/pay/index.ts']
/** Data about protocols, without their adapters. */
const DESCRIPTORS = ['protocols/descriptor.ts', 'protocols/protocol-descriptors.ts']
const ADMIN_CLIENT = [
  'node/admin/client.ts',
  'node/admin/api.ts',
  'node/admin/apis/description-api.ts',
  'node/admin/apis/discovery-api.ts',
  'node/admin/money/earnings-columns.ts',
  'node/admin/accounts/key-api.ts',
  'node/admin/market/market-api.ts',
  'node/admin/money/money-api.ts',
  'node/admin/subscriptions/rate-api.ts',
  'node/admin/routes.ts',
  'node/admin/events/series-api.ts',
  'node/admin/node/settings-api.ts',
  'node/admin/money/wallet-api.ts',
  'node/admin/events/webhook-api.ts',
  'node/admin/subscriptions/subscription-api.ts',
  'node/config.ts',
  'node/shell-word.ts'
]
const WIRING = ['lib/service.ts', 'lib/wiring/', 'lib/create-node.ts', 'lib/options.ts']
const CLIENT_WHY = 'the CLI and the console are clients of the admin API, nothing more'

/**
 * Rooms of a folder, lowest first: each may import itself and the rooms before it. Files beside the rooms are above them, so a room
 * does not import them, unless `knowsTop` is set. Rooms that are `apart` do not import each other.
 */
const ROOMS: ReadonlyArray<{ of: string; order: string[]; knowsTop?: true }> = [
  { of: 'lib/pay/', order: ['signing', 'contracts', 'chain', 'channel', 'payee', 'payer', 'settle', 'x402'] },
  { of: 'lib/resolve/', order: ['directory', 'manifest', 'quality', 'catalogue'] },
  { of: 'lib/store/', order: ['postgres', 'sqlite', 'memory'], knowsTop: true },
  { of: 'protocols/soap/', order: ['xml', 'schema', 'wsdl', 'message', 'mapping'] },
  { of: 'node/cli/', order: ['terminal', 'options', 'api', 'market', 'money', 'ingress', 'node'], knowsTop: true }
]

// The first layer that contains a file applies. 'lib/*/' is any area of lib/; '%' is the file's own area.
const LAYERS: Layer[] = [
  { of: ['lib/index.ts'], may: ['lib/'], mayNot: ['lib/testing/'], why: 'lib/ is the reusable library' },
  {
    of: ['lib/service.ts', 'lib/wiring/', 'lib/create-node.ts'],
    may: ['lib/'],
    mayNot: ['lib/testing/', 'lib/index.ts'],
    why: 'the wiring knows every area, but neither what tests use nor the face it is exported by'
  },
  {
    of: ['lib/options.ts'],
    may: ['lib/base/', 'lib/interface/'],
    mayType: ['lib/'],
    why: 'options may name the types of areas, not run them'
  },
  { of: ['lib/base/'], may: ['lib/base/'], why: 'base/ depends on no other area' },
  { of: ['lib/interface/'], may: ['lib/interface/', 'lib/base/'], why: 'contracts know no implementation' },
  {
    of: ['lib/testing/'],
    may: ['lib/testing/', 'lib/base/', ...LIB_FACE, 'lib/interface/', ...WIRING],
    why: 'what embedders test with is built on what embedders have'
  },
  {
    of: ['lib/*/'],
    may: ['%', 'lib/base/', 'lib/interface/'],
    why: 'an area imports only itself, base/ and interface/; service.ts alone imports areas'
  },
  { of: ['lib/'], may: [], why: `only index.ts and the wiring (${WIRING.join(', ')}) stand outside an area` },
  {
    of: ['protocols/'],
    may: ['protocols/', 'lib/interface/', 'lib/base/'],
    why: 'adapters know the contracts, not the library'
  },
  {
    of: ['node/cli/node/up-command.ts', 'node/cli/node/demo-command.ts', 'node/cli/node/dev-command.ts'],
    may: ['node/cli/', ...ADMIN_CLIENT, ...DESCRIPTORS],
    mayType: [...LIB_FACE, 'node/node-info.ts'],
    mayLazily: ['node/run.ts', 'node/demo/', 'node/watchdog/'],
    why: `${CLIENT_WHY}; up, demo and dev load node/run.ts, node/demo/ and node/watchdog/ lazily`
  },
  {
    of: ['node/cli/node/network-command.ts', 'node/cli/node/join-command.ts'],
    may: ['node/cli/', ...ADMIN_CLIENT, ...DESCRIPTORS],
    mayType: [...LIB_FACE, 'node/network/network-service.ts'],
    mayLazily: ['node/network/network-service.ts', 'node/profile/saved-settings.ts'],
    why: `${CLIENT_WHY}; a network is founded and joined without a running node, by what is loaded lazily`
  },
  {
    of: ['node/cli/options/check-typed.ts'],
    may: ['node/cli/'],
    mayLazily: LIGHT_LIB,
    why: `${CLIENT_WHY}; a typed value is checked before a question by what is loaded lazily`
  },
  {
    of: ['node/cli/money/wallet-command.ts'],
    may: ['node/cli/', ...ADMIN_CLIENT, ...DESCRIPTORS],
    mayType: LIB_FACE,
    mayLazily: ['node/wallet/wallet-service.ts'],
    why: `${CLIENT_WHY}; a wallet is made and kept without a running node, by what is loaded lazily`
  },
  {
    of: ['node/cli/node/backup-command.ts'],
    may: ['node/cli/', ...ADMIN_CLIENT, ...DESCRIPTORS],
    mayType: [...LIB_FACE, 'node/profile/profile-backup.ts'],
    mayLazily: ['node/profile/profile-backup.ts'],
    why: `${CLIENT_WHY}; a profile on which no node runs is copied and restored by what is loaded lazily`
  },
  {
    of: ['node/cli/node/init-command.ts'],
    may: ['node/cli/', ...ADMIN_CLIENT, ...DESCRIPTORS],
    mayType: LIB_FACE,
    mayLazily: ['node/wallet/wallet-service.ts', 'node/profile/saved-settings.ts'],
    why: `${CLIENT_WHY}; a profile is set up before its node runs, by what is loaded lazily`
  },
  {
    of: ['node/cli/ingress/mcp-command.ts'],
    may: ['node/cli/', ...ADMIN_CLIENT, ...DESCRIPTORS],
    mayType: LIB_FACE,
    mayLazily: ['node/mcp/stdio.ts', 'node/mcp/post-to-ingress.ts', 'node/mcp/remote-agent.ts'],
    why: `${CLIENT_WHY}; how an agent is spoken to on stdio is loaded lazily`
  },
  {
    of: ['node/cli/market/receipts-verify-command.ts'],
    may: ['node/cli/', ...ADMIN_CLIENT, ...DESCRIPTORS],
    mayType: [...LIB_FACE, 'node/receipts/verify-receipts.ts'],
    mayLazily: ['node/receipts/verify-receipts.ts'],
    why: `${CLIENT_WHY}; receipts are checked without a running node, by what is loaded lazily`
  },
  {
    of: ['node/cli/market/types-command.ts'],
    may: ['node/cli/', ...ADMIN_CLIENT, ...DESCRIPTORS],
    mayType: [...LIB_FACE, 'node/types/declarations.ts'],
    mayLazily: ['node/types/declarations.ts'],
    why: `${CLIENT_WHY}; the types of an API are written here, because a node would be busy with a large one`
  },
  {
    of: ['node/cli/node/conformance-command.ts'],
    may: ['node/cli/', ...ADMIN_CLIENT, ...DESCRIPTORS],
    mayType: [...LIB_FACE, 'node/conformance/finding.ts'],
    mayLazily: ['node/conformance/judge-peer.ts', 'node/conformance/judge-consumer.ts'],
    why: `${CLIENT_WHY}; a peer is judged without a running node, by what is loaded lazily`
  },
  {
    of: ['node/cli/'],
    may: ['node/cli/', EXACT_JSON, DECODED_TEXT, ...ADMIN_CLIENT, ...DESCRIPTORS],
    mayType: LIB_FACE,
    why: CLIENT_WHY
  },
  {
    of: ['node/console/'],
    // Tables and JSON that do not depend on Node.js.
    may: [
      'node/console/',
      'node/admin/money/earnings-columns.ts',
      'node/http/route-request.ts',
      'node/shell-word.ts',
      EXACT_JSON,
      ...DESCRIPTORS
    ],
    mayType: [...ADMIN_CLIENT, 'node/http/route.ts', ...LIB_FACE],
    why: CLIENT_WHY
  },
  {
    of: ['node/main.ts'],
    may: ['node/cli/', 'node/config.ts'],
    mayType: ['node/', ...LIB_FACE],
    mayLazily: ['node/'],
    why: 'main.ts only reads argv; what runs a node is loaded lazily'
  },
  {
    of: ['node/'],
    may: ['node/', ...LIB_FACE, ...LIGHT_PROTOCOLS, ...DESCRIPTORS],
    mayType: ['protocols/index.ts'],
    mayLazily: ['protocols/index.ts'],
    mayNot: ['node/main.ts'],
    why: 'the node is an embedder: it uses the public faces'
  },
  {
    of: ['client/'],
    may: ['client/'],
    mayType: ['lib/base/errors.ts'],
    why: 'the client runs in browsers, and takes only the types of errors from lib/'
  },
  { of: ['docs/'], may: ['docs/', ...ENTRY_POINTS], why: 'examples use what users can use' },
  {
    of: ['test/', '.ci/'],
    may: ['test/', 'lib/', 'protocols/', 'node/', 'client/', 'docs/', '.ci/', 'package.json'],
    why: 'tests see everything of the repository, by its folders'
  }
]

/** The package's own name, as in imports of docs and tests. */
const SELF = new Map([
  ['souk', 'lib/index.ts'],
  ['souk/protocols', 'protocols/index.ts'],
  ['souk/node', 'node/index.ts'],
  ['souk/interface', 'lib/interface/index.ts'],
  ['souk/pay', 'lib/pay/index.ts'],
  ['souk/testing', 'lib/testing/index.ts'],
  ['souk/client', 'client/index.ts']
])

export function read(files: Files): Sources {
  const sources = new Map<string, Source>()
  for (const [path, text] of files) if (/\.[cm]?[jt]sx?$/.test(path)) sources.set(path, scan(path, text))
  return sources
}

/** The repository path of an import; undefined for a package, a `node:` module or a computed import. */
export function target(from: string, { specifier }: Import): string | undefined {
  if (specifier === undefined) return undefined
  if (/^\.\.?(\/|$)/.test(specifier)) return posix.join(posix.dirname(from), specifier.replace(/[?#].*$/, ''))
  return SELF.get(specifier)
}

export function under(path: string, places: string[]): boolean {
  return places.some((place) => path === place || (place.endsWith('/') && path.startsWith(place)) || place === '')
}

function layerOf(path: string): { layer: Layer; area: string } | undefined {
  const area = /^lib\/[^/]+\//.exec(path)?.[0] ?? ''
  const layer = LAYERS.find(({ of }) => under(path, of) || (of.includes('lib/*/') && area !== ''))
  return layer && { layer, area }
}

export const layers: Rule = (sources) => {
  const violations: Violation[] = []
  for (const source of sources.values()) {
    const found = layerOf(source.path)
    const add = (line: number, message: string) => violations.push({ rule: 'layers', file: source.path, line, message })
    if (found === undefined) {
      add(1, 'stands in no layer: source files live in lib/, protocols/, node/, client/, test/ or docs/')
      continue
    }
    const { layer, area } = found
    if (layer.may.length === 0) add(1, layer.why)
    const shipped = under(source.path, ['lib/', 'protocols/', 'node/', 'client/'])
    for (const imported of source.imports) {
      const to = target(source.path, imported)
      if (to === undefined) {
        if (imported.specifier === undefined && shipped)
          add(imported.line, 'imports a computed path, which no rule can follow')
        if (/^[#/]|^file:|^souk(\/(?!package\.json$)|$)/.test(imported.specifier ?? '')) {
          add(imported.line, `imports '${imported.specifier}': write a relative path or a package's name`)
        }
        continue
      }
      if (shipped && SELF.has(imported.specifier ?? '')) add(imported.line, `imports itself as '${imported.specifier}'`)
      if (!permits(layer, area, imported, to)) add(imported.line, `imports ${to}, but ${layer.why}`)
    }
  }
  return violations
}

function permits(layer: Layer, area: string, imported: Import, to: string): boolean {
  if (layer.mayNot !== undefined && under(to, layer.mayNot)) return false
  const may = layer.may.map((place) => (place === '%' ? area : place))
  if (may.length > 0 && under(to, may)) return true
  if (imported.typeOnly && under(to, layer.mayType ?? [])) return true
  return imported.kind === 'dynamic' && under(to, layer.mayLazily ?? [])
}

export const rooms: Rule = (sources) => {
  const violations: Violation[] = []
  for (const { path, imports } of sources.values()) {
    for (const { of, order, knowsTop } of ROOMS) {
      const from = roomOf(path, of, order)
      if (from < 0) continue
      for (const imported of imports) {
        const to = target(path, imported)
        if (to === undefined || !to.startsWith(of)) continue
        const room = roomOf(to, of, order)
        const isKnown = room === from || (room < 0 ? knowsTop === true : room < from)
        if (isKnown) continue
        const why = `${of} is built in this order: ${order.join(', ')}`
        violations.push({ rule: 'rooms', file: path, line: imported.line, message: `imports ${to}, but ${why}` })
      }
    }
  }
  return violations
}

/** The place of a file's room in the order of its folder; -1 where it stands in none of them. */
function roomOf(path: string, of: string, order: readonly string[]): number {
  return path.startsWith(of) ? order.findIndex((room) => path.startsWith(`${of}${room}/`)) : -1
}

export const cycles: Rule = (sources) => {
  const violations: Violation[] = []
  const done = new Set<string>()
  const path: string[] = []
  const visit = (file: string): void => {
    const start = path.indexOf(file)
    if (start >= 0) {
      const cycle = [...path.slice(start), file]
      const next = cycle[1] as string
      const line = sources.get(file)?.imports.find((imported) => target(file, imported) === next)?.line ?? 1
      violations.push({ rule: 'cycles', file, line, message: `import cycle: ${cycle.join(' → ')}` })
      return
    }
    if (done.has(file)) return
    path.push(file)
    for (const imported of sources.get(file)?.imports ?? []) {
      const to = target(file, imported)
      if (to !== undefined && sources.has(to) && imported.kind !== 'url') visit(to)
    }
    path.pop()
    done.add(file)
  }
  for (const file of sources.keys()) visit(file)
  return violations
}

export const barrels: Rule = (sources) => {
  const violations: Violation[] = []
  for (const { path, tokens, imports } of sources.values()) {
    const add = (line: number, message: string) => violations.push({ rule: 'barrels', file: path, line, message })
    const shipped = under(path, ['lib/', 'protocols/', 'node/', 'client/'])
    if (shipped && /(^|\/)index\.[cm]?[jt]s$/.test(path) && !ENTRY_POINTS.includes(path)) {
      add(1, `is a barrel; only the package's entry points are: ${ENTRY_POINTS.join(', ')}`)
    }
    if (path !== 'lib/index.ts') continue
    const reexports = imports.filter(({ kind }) => kind === 'export')
    const other = tokens.find(({ text }, i) => text !== ';' && !reexports.some(({ from, to }) => from <= i && i <= to))
    if (other !== undefined) add(other.line, `holds '${other.text}'; lib/index.ts only re-exports`)
  }
  return violations
}
