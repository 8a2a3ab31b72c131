/** Escaped markup. Only `html` creates it. */
class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}
export type { Html }

type Part = string | number | Html | readonly Html[] | undefined

/** Inserts texts into markup, escaped: `html\`<b>${name}</b>\``. Attribute values must be quoted. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.reduce((all, string, i) => all + rendered(parts[i - 1]) + string))
}

function rendered(part: Part): string {
  if (part === undefined) return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(({ text }) => text).join('')
  return escaped(String(part))
}

const NAMES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => NAMES[character] ?? '')
}

/** Untrusted text as one line, without control characters and without marks that change the direction of other text. */
export function plain(text: string, charsMax: number): string {
  const line = text
    .replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replaceAll(/[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g, '')
  if (line.trim().length <= charsMax) return line.trim()
  // Do not cut a surrogate pair: half of one is shown as a question mark.
  const cut = line
    .trim()
    .slice(0, charsMax - 1)
    .replace(/[\uD800-\uDBFF]$/, '')
  return `${cut.trimEnd()}…`
}
