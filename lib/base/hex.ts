import { SoukError } from './errors.ts'

/** Bytes in Ethereum's form: `0x` and two hex digits each. Souk writes lower case. */
export type Hex = `0x${string}`

export function toHex(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`
}

/** @throws SoukError `invalid_request` unless the text is `0x` and `length` bytes in hex digits of either case. */
export function fromHex(text: string, length: number): Uint8Array {
  if (!isHex(text, length)) throw new SoukError('invalid_request', `The value must be 0x and ${length * 2} hex digits.`)
  return Buffer.from(text.slice(2), 'hex')
}

export function isHex(text: unknown, length: number): text is Hex {
  return typeof text === 'string' && text.length === 2 + length * 2 && /^0x[0-9a-fA-F]*$/.test(text)
}
