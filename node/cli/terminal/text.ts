/** Controls, and marks that reverse or hide text: a listing of somebody else must not move the cursor or disguise a name. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu
/** The same, except line ends and tabs. */
const UNSEEN_IN_LINES = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu
/** Controls except line ends and tabs. */
const CONTROLS = /(?![\n\t])\p{Cc}/gu
/** Characters that take two columns: East Asian wide and full-width ones, and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u
const JOINED = /\p{M}/u
const REPLACEMENT = '\ufffd'

/** Text of several lines for a terminal, without control characters. */
export function safeText(text: string): string {
  return text.replaceAll(UNSEEN_IN_LINES, REPLACEMENT)
}

/** JSON as ASCII where a character is invisible. `JSON.stringify` keeps the controls from U+007F on, of which U+009B starts a command. */
export function safeJson(value: object): string {
  return JSON.stringify(value).replaceAll(UNSEEN, (character) =>
    character.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
  )
}

/** A response of an API for a terminal, without control characters. */
export async function* safeBody(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder()
  const safe = (chunk?: Uint8Array) =>
    decoder
      .decode(chunk, { stream: chunk !== undefined })
      // The next chunk may have the other half of a CRLF.
      .replaceAll('\r', '')
      .replaceAll(CONTROLS, REPLACEMENT)
  for await (const chunk of body) yield Buffer.from(safe(chunk))
  yield Buffer.from(safe())
}

/** One line, without control characters and without two spaces in a row. */
export function safeLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().replaceAll(UNSEEN, REPLACEMENT)
}

/** Columns that a text takes on a terminal. */
export function columnsOf(text: string): number {
  let columns = 0
  for (const char of text) columns += widthOf(char)
  return columns
}

/** Cuts a text to a number of columns; `…` marks the cut. */
export function cutTo(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text
  let kept = ''
  let used = 1
  for (const char of text) {
    used += widthOf(char)
    if (used > columns) break
    kept += char
  }
  return `${kept.trimEnd()}…`
}

function widthOf(char: string): number {
  if (JOINED.test(char)) return 0
  return WIDE.test(char) ? 2 : 1
}
