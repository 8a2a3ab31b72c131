import { crc32, deflateSync, inflateSync } from 'node:zlib'

/** Reduces PNGs of Chromium (8 bits, RGB or RGBA, not interlaced) to a palette. */

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')
const COLOURS_MAX = 256
/** Bits kept per channel if there are more colours than a palette has. The rare colours are shades at the edges of letters. */
const KEPT_BITS = 5

interface Pixels {
  readonly width: number
  readonly height: number
  /** One 24-bit colour per pixel. */
  readonly colours: Uint32Array
}

export function smallPng(png: Buffer): Buffer {
  const { width, height, colours } = pixelsOf(png)
  const palette = paletteOf(colours)
  const nearest = new Map<number, number>()
  const rows = Buffer.alloc(height * (width + 1))
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const colour = colours[y * width + x] ?? 0
      let index = nearest.get(colour)
      if (index === undefined) nearest.set(colour, (index = nearestIn(palette, colour)))
      rows[y * (width + 1) + 1 + x] = index
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3, 0, 0, 0], 8)
  const entries = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]))
  const parts = [
    chunk('IHDR', header),
    chunk('PLTE', entries),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0))
  ]
  return Buffer.concat([SIGNATURE, ...parts])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}

function pixelsOf(png: Buffer): Pixels {
  const width = png.readUInt32BE(16)
  const height = png.readUInt32BE(20)
  const [depth, type, , , interlace] = png.subarray(24, 29)
  if (depth !== 8 || (type !== 2 && type !== 6) || interlace !== 0) throw new Error('This is not a PNG of Chromium.')
  const data: Buffer[] = []
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)))
  }
  const bytes = type === 6 ? 4 : 3
  const raw = unfiltered(inflateSync(Buffer.concat(data)), width * bytes, bytes)
  const colours = Uint32Array.from({ length: width * height }, (_, pixel) => raw.readUIntBE(pixel * bytes, 3))
  return { width, height, colours }
}

/** The raw bytes of all rows. Each was stored as the difference from its neighbours (PNG specification, part 9). */
function unfiltered(rows: Buffer, rowBytes: number, pixelBytes: number): Buffer {
  const height = rows.length / (rowBytes + 1)
  const out = Buffer.alloc(height * rowBytes)
  for (let y = 0; y < height; y++) {
    const filter = rows[y * (rowBytes + 1)] ?? 0
    for (let x = 0; x < rowBytes; x++) {
      const at = y * rowBytes + x
      const left = x < pixelBytes ? 0 : (out[at - pixelBytes] ?? 0)
      const up = y === 0 ? 0 : (out[at - rowBytes] ?? 0)
      const corner = x < pixelBytes || y === 0 ? 0 : (out[at - rowBytes - pixelBytes] ?? 0)
      const guesses = [0, left, up, (left + up) >> 1, paeth(left, up, corner)]
      out[at] = (rows[y * (rowBytes + 1) + 1 + x] ?? 0) + (guesses[filter] ?? 0)
    }
  }
  return out
}

function paeth(left: number, up: number, corner: number): number {
  const [a, b, c] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)]
  if (a <= b && a <= c) return left
  return b <= c ? up : corner
}

/**
 * The most frequent colours. If there are too many, similar colours are counted as one and shown as the most frequent of them.
 */
function paletteOf(colours: Uint32Array): number[] {
  const counts = new Map<number, number>()
  for (const colour of colours) counts.set(colour, (counts.get(colour) ?? 0) + 1)
  const byCount = [...counts].toSorted(([, a], [, b]) => b - a)
  if (byCount.length <= COLOURS_MAX) return byCount.map(([colour]) => colour)
  const alike = new Map<number, { colour: number; count: number }>()
  const mask = (0xff << (8 - KEPT_BITS)) & 0xff
  for (const [colour, count] of byCount) {
    const group = colour & ((mask << 16) | (mask << 8) | mask)
    const known = alike.get(group)
    if (known === undefined) alike.set(group, { colour, count })
    else known.count += count
  }
  const groups = [...alike.values()].toSorted((a, b) => b.count - a.count)
  return groups.slice(0, COLOURS_MAX).map(({ colour }) => colour)
}

function nearestIn(palette: readonly number[], colour: number): number {
  let [best, distance] = [0, Infinity]
  for (const [index, entry] of palette.entries()) {
    const [r, g, b] = [16, 8, 0].map((shift) => ((entry >> shift) & 255) - ((colour >> shift) & 255))
    const squared = (r ?? 0) ** 2 + (g ?? 0) ** 2 + (b ?? 0) ** 2
    if (squared < distance) [best, distance] = [index, squared]
  }
  return best
}
