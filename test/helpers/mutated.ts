import * as fc from 'fast-check'

/**
 * One of these byte strings with a few bytes changed, removed, inserted or repeated. Such input gets further into a parser than
 * random bytes.
 */
export function mutated(strings: readonly Uint8Array[]): fc.Arbitrary<Uint8Array> {
  const change = fc.record({
    how: fc.constantFrom('set', 'cut', 'insert', 'repeat'),
    at: fc.nat(),
    bytes: fc.uint8Array({ minLength: 1, maxLength: 4 })
  })
  return fc
    .tuple(fc.constantFrom(...strings), fc.array(change, { minLength: 1, maxLength: 4 }))
    .map(([string, changes]) => changes.reduce(changed, string))
}

function changed(string: Uint8Array, { how, at, bytes }: { how: string; at: number; bytes: Uint8Array }): Uint8Array {
  const from = at % (string.length + 1)
  const [head, tail] = [string.subarray(0, from), string.subarray(from)]
  const between = how === 'cut' ? [] : how === 'repeat' ? tail.subarray(0, 40) : bytes
  return Uint8Array.from([
    ...head,
    ...between,
    ...(how === 'set' || how === 'cut' ? tail.subarray(bytes.length) : tail)
  ])
}
