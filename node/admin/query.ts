/** The query of a URL; what is undefined is left out. */
export function queryOf(input: object): string {
  const given = Object.entries(input).filter(([, value]) => value !== undefined)
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
}
