import { isRawNumber } from '../../parts/json.ts'
import { shellWord } from '../../../shell-word.ts'

/** Sample code that calls an API through this node's ingress. */
export interface CodeInit {
  readonly ingress: string
  /** Full id, `name@provider`. */
  readonly api: string
  readonly body: unknown
  readonly isStream?: boolean
}

const KEY = '$SOUK_KEY'

/** URL of an API at the ingress. */
function urlOf({ ingress, api }: Pick<CodeInit, 'ingress' | 'api'>): string {
  const [name = '', provider] = api.split('@')
  return `${ingress}/api/${provider ?? 'demo'}/api/${name}`
}

export function curlOf(init: CodeInit): string {
  return [
    `curl ${init.isStream === true ? '-N ' : ''}${urlOf(init)}`,
    `  -H "X-Consumer-Key: ${KEY}" -H 'Content-Type: application/json'${init.isStream === true ? " -H 'Accept: text/event-stream'" : ''}`,
    `  -d ${shellWord(JSON.stringify(init.body))}`
  ].join(' \\\n')
}

export function typescriptOf(init: CodeInit): string {
  const accept = init.isStream === true ? `\n    accept: 'text/event-stream',` : ''
  const reading =
    init.isStream === true
      ? 'for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) console.log(chunk)'
      : 'console.log(await response.json())'
  return `const response = await fetch('${urlOf(init)}', {
  method: 'POST',
  headers: {
    'content-type': 'application/json',${accept}
    'x-consumer-key': process.env.SOUK_KEY!
  },
  body: ${typescriptBody(init.body)}
})
if (!response.ok) throw new Error(await response.text())
${reading}
`
}

export function pythonOf(init: CodeInit): string {
  const accept = init.isStream === true ? `\n        "Accept": "text/event-stream",` : ''
  const reading =
    init.isStream === true
      ? 'for line in response:\n        print(line.decode(), end="")'
      : 'print(json.load(response))'
  return `import json, os, urllib.request

request = urllib.request.Request(
    "${urlOf(init)}",
    data=json.dumps(${pythonLiteral(init.body, 4)}).encode(),
    headers={
        "Content-Type": "application/json",${accept}
        "X-Consumer-Key": os.environ["SOUK_KEY"],
    },
)
with urllib.request.urlopen(request) as response:
    ${reading}
`
}

/** A number in the source of a program would be rounded: then the body is given as text. */
function typescriptBody(body: unknown): string {
  const json = JSON.stringify(body) ?? 'null'
  const isExact = JSON.stringify(JSON.parse(json)) === json
  return isExact ? `JSON.stringify(${indented(body, 2)})` : JSON.stringify(json)
}

const indented = (value: unknown, spaces: number) =>
  (JSON.stringify(value, null, 2) ?? 'null').replaceAll('\n', `\n${' '.repeat(spaces)}`)

/** Writes a JSON value as Python. Strings have the same syntax. */
function pythonLiteral(value: unknown, spaces: number): string {
  if (value === null || value === undefined) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (typeof value !== 'object' || isRawNumber(value)) return JSON.stringify(value)
  const isArray = Array.isArray(value)
  const members = isArray
    ? value.map((member) => pythonLiteral(member, spaces + 4))
    : Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${pythonLiteral(member, spaces + 4)}`)
  const [open, close] = isArray ? '[]' : '{}'
  if (members.length === 0) return `${open}${close}`
  const gap = ' '.repeat(spaces)
  return `${open}\n${members.map((member) => `${gap}    ${member},\n`).join('')}${gap}${close}`
}
