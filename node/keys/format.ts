import { crc32 } from 'node:zlib'
import type { Random } from '../../lib/interface/index.ts'

/**
 * A consumer key: `souk_live_` or `souk_test_`, 32 random characters, then six characters of CRC-32 over all before. The prefix lets secret
 * scanners find leaked keys. The checksum detects a mistyped key without a query.
 */
export const KEY_PREFIXES = { live: 'souk_live_', test: 'souk_test_' } as const
export type KeyKind = keyof typeof KEY_PREFIXES

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 190 bits, which cannot be guessed. */
const SECRET_CHARS = 32
/** 62⁶ > 2³² */
const CHECKSUM_CHARS = 6
const PREFIX_CHARS = KEY_PREFIXES.live.length
const KEY_CHARS = PREFIX_CHARS + SECRET_CHARS + CHECKSUM_CHARS
const KEY = /^souk_(?:live|test)_[0-9A-Za-z]+$/

export function makeKey(kind: KeyKind, random: Random): string {
  return sealKey(kind, randomBase62(SECRET_CHARS, random))
}

/** Builds the key from a secret of 32 characters. */
export function sealKey(kind: KeyKind, secret: string): string {
  const body = KEY_PREFIXES[kind] + secret
  return body + checksum(body)
}

/** The kind of keys on a network, with real money or without. */
export function kindOf(isLive: boolean): KeyKind {
  return isLive ? 'live' : 'test'
}

/** The kind of a well-formed key; undefined if the format or the checksum is wrong. */
export function keyKind(key: string): KeyKind | undefined {
  if (key.length !== KEY_CHARS || !KEY.test(key)) return undefined
  const body = key.slice(0, -CHECKSUM_CHARS)
  if (checksum(body) !== key.slice(-CHECKSUM_CHARS)) return undefined
  return key.startsWith(KEY_PREFIXES.live) ? 'live' : 'test'
}

function checksum(body: string): string {
  let rest = crc32(body)
  let text = ''
  for (let i = 0; i < CHECKSUM_CHARS; i++) {
    text = BASE62.charAt(rest % 62) + text
    rest = Math.floor(rest / 62)
  }
  return text
}

/** Discards bytes from 248 up: 248 = 4 × 62, so every character is equally likely. */
function randomBase62(chars: number, random: Random): string {
  let text = ''
  while (text.length < chars) {
    for (const byte of random.fill(new Uint8Array(chars))) {
      if (byte < 248 && text.length < chars) text += BASE62.charAt(byte % 62)
    }
  }
  return text
}
