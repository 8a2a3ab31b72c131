import { crc32, deflateRawSync } from 'node:zlib'

/** An entry of a zip. Fields other than name and content may be false. */
export interface ZipEntry {
  readonly name: string
  readonly content?: string | Uint8Array
  /** 0 stored, 8 deflated. Default 8. */
  readonly method?: number
  readonly crc?: number
  readonly size?: number
  readonly flags?: number
}

/** A zip (APPNOTE.TXT 4.3) with these entries, in this order. */
export function zipOf(entries: readonly ZipEntry[]): Buffer {
  const locals: Buffer[] = []
  const central: Buffer[] = []
  let offset = 0
  for (const { name, content = '', method = 8, crc, size, flags = 0x800 } of entries) {
    const raw = Buffer.from(content)
    const data = method === 8 ? deflateRawSync(raw) : raw
    const path = Buffer.from(name)
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(flags, 2)
    common.writeUInt16LE(method, 4)
    common.writeUInt32LE(crc ?? crc32(raw), 10)
    common.writeUInt32LE(data.length, 14)
    common.writeUInt32LE(size ?? raw.length, 18)
    common.writeUInt16LE(path.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), common, path, data])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(offset, 10)
    central.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), common, tail, path]))
    locals.push(local)
    offset += local.length
  }
  const directory = Buffer.concat(central)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 0, 'latin1')
  end.writeUInt16LE(Math.min(entries.length, 0xffff), 8)
  end.writeUInt16LE(Math.min(entries.length, 0xffff), 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, directory, end])
}
