/** One cell. Callers format times (ISO 8601) and amounts (decimal strings). */
export type Cell = string | number | null

/** First characters that make spreadsheets run a cell as a formula (OWASP, "CSV Injection"). */
const FORMULA = /^[=+\-@\t\r\n]/
const TO_QUOTE = /[",\r\n]/

/** One record of RFC 4180 with its line end. An apostrophe before a text stops spreadsheets from running it as a formula. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`
}

function cellText(cell: Cell): string {
  if (cell === null) return ''
  const text = typeof cell === 'string' && FORMULA.test(cell) ? `'${cell}` : String(cell)
  return TO_QUOTE.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
