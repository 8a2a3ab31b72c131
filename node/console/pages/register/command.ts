import { word } from '../../parts/code/command.tsx'
import { type Making, sourceOf, tagsOf } from './draft.ts'

type Options = ReadonlyArray<readonly [name: string, value?: string]>

/** The equivalent `souk api register`. Credentials are in a file. */
export function registerCommand(making: Making): string {
  const { name, protocol, endpoint, price, description } = making.draft
  return commandOf('souk api register', [
    ['name', name],
    ['protocol', protocol],
    ['endpoint', endpoint],
    ['price', price],
    ...upstreamOptions(making),
    ...(making.isIncomplete ? [['wsdl-incomplete'] as const] : []),
    ...(description === '' ? [] : [['description', description] as const]),
    ...tagsOf(making.draft).map((tag) => ['tag', tag] as const)
  ])
}

/** The equivalent `souk api check --call`. */
export function checkCommand(making: Making, body: unknown): string {
  const { protocol, endpoint } = making.draft
  return commandOf('souk api check', [
    ['protocol', protocol],
    ['endpoint', endpoint],
    ...upstreamOptions(making),
    ...(body === undefined ? [] : [['call', JSON.stringify(body)] as const])
  ])
}

function upstreamOptions({ draft, files, auth }: Making): Options {
  const { source, openapi, method, isExplicit } = draft
  const options: Array<readonly [string, string?]> = []
  const chosen = sourceOf(draft)
  if (chosen.document !== undefined) options.push(['openapi', openapi])
  if (chosen.file !== undefined) {
    options.push([chosen.file.option, files[chosen.file.member]?.name ?? chosen.file.example])
  }
  if (source === 'hand' && method !== 'POST') options.push(['method', method])
  if (source === 'hand' && isExplicit) options.push(['explicit'])
  if (auth !== undefined) options.push(['auth-file', 'auth.json'])
  return options
}

function commandOf(command: string, options: Options): string {
  return [
    command,
    ...options.map(([option, value]) => `--${option}${value === undefined ? '' : ` ${word(value)}`}`)
  ].join(' ')
}
