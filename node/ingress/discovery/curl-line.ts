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
    `curl -s ${quoted(url)}`,
    `  -H 'Content-Type: application/json'`,
    `  -H ${key.startsWith('$') ? `"${header}"` : quoted(header)}`,
    `  -d ${quoted(ascii(JSON.stringify(body)))}`
  ]
  return lines.join(' \\\n')
}

/** Quotes any text as one word of a POSIX shell. */
function quoted(text: string): string {
  return /^[\w./:@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** The same JSON in ASCII only, so that a terminal interprets no character of it. */
function ascii(json: string): string {
  return json.replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
