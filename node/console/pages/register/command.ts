import { word } from '../../parts/command.tsx'
import { type Making, tagsOf } from './draft.ts'

type Options = ReadonlyArray<readonly [name: string, value?: string]>

/** The same by the command line; credentials go in a file. */
export function registerCommand(making: Making): string {
  const { name, protocol, endpoint, price, description } = making.draft
  return commandOf('souk api register', [
    ['name', name],
    ['protocol', protocol],
    ['endpoint', endpoint],
    ['price', price],
    ...upstreamOptions(making),
    ...(description === '' ? [] : [['description', description] as const]),
    ...tagsOf(making.draft).map((tag) => ['tag', tag] as const)
  ])
}

/** One call of it, before it is on the market. */
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
  const { protocol, source, openapi, method, isExplicit } = draft
  const options: Array<readonly [string, string?]> = []
  if (protocol === 'REST') {
    if (source === 'url') options.push(['openapi', openapi])
    if (source === 'file') options.push(['openapi', files.openapi?.name ?? 'openapi.json'])
    if (source === 'hand' && method !== 'POST') options.push(['method', method])
    if (source === 'hand' && isExplicit) options.push(['explicit'])
  }
  if (protocol === 'SOAP' && source === 'file') options.push(['wsdl-file', files.wsdl?.name ?? 'service.wsdl'])
  if (protocol === 'GraphQL' && source === 'file') options.push(['schema-file', files.sdl?.name ?? 'schema.graphql'])
  if (auth !== undefined) options.push(['auth-file', 'auth.json'])
  return options
}

function commandOf(command: string, options: Options): string {
  return [
    command,
    ...options.map(([option, value]) => `--${option}${value === undefined ? '' : ` ${word(value)}`}`)
  ].join(' ')
}
