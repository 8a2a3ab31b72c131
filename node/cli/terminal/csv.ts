/** One cell of a line. Times are ISO 8601 already, amounts decimal strings. */
export type Cell = string | number | null

/** A first character by which spreadsheets take a cell for a formula (OWASP, "CSV Injection"). */
const FORMULA = /^[=+\-@\t\r\n]/
const TO_QUOTE = /[",\r\n]/

/** One record of RFC 4180, with its line end. A text that a spreadsheet would run gets an apostrophe in front. */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`
}

function cellText(cell: Cell): string {
  if (cell === null) return ''
  const text = typeof cell === 'string' && FORMULA.test(cell) ? `'${cell}` : String(cell)
  return TO_QUOTE.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
