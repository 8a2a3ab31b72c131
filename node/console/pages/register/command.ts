import { word } from '../../parts/command.tsx'
import { type Making, tagsOf } from './draft.ts'

/** The same by the command line; credentials go in a file. */
export function registerCommand({ draft, files, auth }: Making): string {
  const { name, protocol, endpoint, price, description, source, openapi, method, isExplicit } = draft
  const options: Array<readonly [string, string?]> = [
    ['name', name],
    ['protocol', protocol],
    ['endpoint', endpoint],
    ['price', price]
  ]
  if (protocol === 'REST') {
    if (source === 'url') options.push(['openapi', openapi])
    if (source === 'file') options.push(['openapi', files.openapi?.name ?? 'openapi.json'])
    if (source === 'hand' && method !== 'POST') options.push(['method', method])
    if (source === 'hand' && isExplicit) options.push(['explicit'])
  }
  if (protocol === 'SOAP' && source === 'file') options.push(['wsdl-file', files.wsdl?.name ?? 'service.wsdl'])
  if (protocol === 'GraphQL' && source === 'file') options.push(['schema-file', files.sdl?.name ?? 'schema.graphql'])
  if (auth !== undefined) options.push(['auth-file', 'auth.json'])
  if (description !== '') options.push(['description', description])
  for (const tag of tagsOf(draft)) options.push(['tag', tag])
  return [
    'souk api register',
    ...options.map(([option, value]) => `--${option}${value === undefined ? '' : ` ${word(value)}`}`)
  ].join(' ')
}
