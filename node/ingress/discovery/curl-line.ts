import { shellWord } from '../../shell-word.ts'

/** A call to render as a curl command. */
export interface CurlCall {
  readonly url: string
  /** A key, or the name of a shell variable: `$SOUK_KEY`. */
  readonly key: string
  readonly body: object
}

export function curlLine({ url, key, body }: CurlCall): string {
  const header = `X-Consumer-Key: ${key}`
  const lines = [
    `curl -s ${shellWord(url)}`,
    `  -H 'Content-Type: application/json'`,
    `  -H ${key.startsWith('$') ? `"${header}"` : shellWord(header)}`,
    `  -d ${shellWord(ascii(JSON.stringify(body)))}`
  ]
  return lines.join(' \\\n')
}

/** The same JSON in ASCII only, so that a terminal interprets no character of it. */
function ascii(json: string): string {
  return json.replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
