/** A call as it is pasted into a shell. */
export interface CurlCall {
  readonly url: string
  /** Sent as it is, or the name of a variable of the shell: `$SOUK_KEY`. */
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

/** One word of a POSIX shell, whatever is in it. */
function quoted(text: string): string {
  return /^[\w./:@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** JSON of the same meaning, without a character that a terminal could take for something else. */
function ascii(json: string): string {
  return json.replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
