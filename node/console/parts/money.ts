/** Exact arithmetic on decimal strings. */

const AMOUNT = /^(\d+)(?:\.(\d{1,6}))?$/

/** Parses an amount to millionths. Returns undefined for invalid text. */
function atomsOf(text: string): bigint | undefined {
  const [, whole, part = ''] = AMOUNT.exec(text) ?? []
  return whole === undefined ? undefined : BigInt(whole) * 1_000_000n + BigInt(part.padEnd(6, '0'))
}

function decimal(units: bigint, places: number): string {
  const text = units.toString().padStart(places + 1, '0')
  return `${text.slice(0, -places)}.${text.slice(-places)}`.replace(/\.?0+$/, '')
}

/** The provider's 95% of `count` times an amount. */
export function providerShare(price: string, count = 1n): string | undefined {
  const atoms = atomsOf(price)
  return atoms === undefined ? undefined : decimal(atoms * 95n * count, 8)
}
