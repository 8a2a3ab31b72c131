import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import protobuf from 'protobufjs'
import { FRAME_BYTES_MAX } from '../../../lib/base/limits/link.ts'
import { decodeFrame, encodeFrame } from '../../../lib/call/frame.ts'
import type { Frame } from '../../../lib/call/frame.ts'
import { REQUEST, RESPONSE } from '../../../lib/interface/call-messages.ts'
import { fuzzRuns } from '../../helpers/fuzz-runs.ts'
import { mutated } from '../../helpers/mutated.ts'
import { assertCpuBelow } from '../../helpers/cpu-time.ts'

const U64_MAX = 2n ** 64n - 1n
const count = fc.maxSafeNat()
const status = fc.nat(999)
const text = fc.string({ unit: 'grapheme', maxLength: 40 })
const bytes = fc.uint8Array({ maxLength: 200 })
const amount = fc.bigInt({ min: 0n, max: U64_MAX })
const headers = fc.array(fc.tuple(text, text), { maxLength: 5 })
/** Absent or non-empty, because an empty text is encoded as absent. */
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const optionalText = optional(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }))

const FRAMES: { readonly [K in Frame['kind']]: fc.Arbitrary<Extract<Frame, { kind: K }>> } = {
  hello: fc.record({ kind: fc.constant('hello'), network: text, epoch: amount, agent: text, inFlightMax: count }),
  request: fc.record({
    kind: fc.constant('request'),
    id: count,
    requestId: bytes,
    api: text,
    method: text,
    path: text,
    headers,
    body: optional(bytes),
    timeoutMs: count,
    revision: count,
    maxPrice: optional(amount),
    authorization: optional(bytes),
    idempotencyKey: optionalText,
    traceparent: optionalText,
    resentFromEpoch: optional(amount),
    payment: optional(text),
    consumer: optional(bytes),
    keyFirstAt: count,
    keyAnswered: fc.boolean(),
    service: fc.nat(0xffff),
    subscription: optional(bytes),
    stream: optional(bytes),
    events: count
  }),
  response: fc.record({
    kind: fc.constant('response'),
    id: count,
    status,
    headers,
    body: optional(bytes),
    charged: amount,
    receipt: bytes,
    ownerUs: count,
    upstreamUs: count,
    payment: optional(text),
    replayed: fc.boolean(),
    rate: optional(fc.record({ policy: text, calls: count, perMs: count, remaining: count, resetMs: count })),
    quota: optional(
      fc.record({ included: count, used: count, limit: count, resetsAt: count }, { requiredKeys: ['used', 'resetsAt'] })
    ),
    eventPrice: optional(amount)
  }),
  failure: fc.record({
    kind: fc.constant('failure'),
    id: count,
    code: text,
    detail: text,
    status,
    notAccepted: fc.boolean(),
    source: text,
    retryAfterMs: count,
    members: text
  }),
  cancel: fc.record({ kind: fc.constant('cancel'), id: count }),
  ack: fc.record({ kind: fc.constant('ack'), requestIds: fc.array(bytes, { maxLength: 10 }) }),
  drain: fc.record({ kind: fc.constant('drain') })
}
const anyFrame: fc.Arbitrary<Frame> = fc.oneof(...Object.values(FRAMES))

/**
 * Normal form: numbers as texts, bytes as base64, headers as pairs, absent and empty values left out. So values of both
 * decoders can be compared.
 */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return String(value)
  const members = Object.entries(value).filter(([name, member]) => member != null && name !== 'kind')
  return Object.fromEntries(members.map(([name, member]) => [name, plain(member)]))
}

describe('docs/reference/souk-call.proto and the frame codec', () => {
  let frameType: protobuf.Type

  before(async () => {
    frameType = (await protobuf.load('docs/reference/souk-call.proto')).lookupType('souk.call.v1.Frame')
  })

  /** The bytes as protobufjs decodes them, converted to our types. */
  function theirs(encoded: Uint8Array): unknown {
    const message = frameType.decode(encoded)
    const object = frameType.toObject(message, { longs: String, defaults: true, arrays: true, oneofs: true })
    const kind = String(object['kind'])
    return { kind, ...fromTheirs(object[kind] as Record<string, unknown>) }
  }

  function fromTheirs(fields: Record<string, unknown>): Record<string, unknown> {
    const headers = fields['headers'] as Array<{ name: string; value: string }> | undefined
    const shaped =
      headers === undefined ? fields : { ...fields, headers: headers.map(({ name, value }) => [name, value]) }
    return plain(withoutEmpty(shaped)) as Record<string, unknown>
  }

  function ours(frame: Frame | undefined): unknown {
    assert.ok(frame !== undefined)
    return { kind: frame.kind, ...(plain(withoutEmpty(frame)) as object) }
  }

  /** Fields whose empty value means absent. */
  function withoutEmpty(fields: object): object {
    const tables = { ...REQUEST.fields, ...RESPONSE.fields }
    return Object.fromEntries(
      Object.entries(fields).filter(([name, value]) => {
        if (tables[name]?.presence !== 'nonEmpty') return true
        return !['', 0, '0', false].includes(value as string | number | boolean)
      })
    )
  }

  function written(frame: Frame): Uint8Array {
    const { kind, ...fields } = frame
    const shaped =
      'headers' in fields ? { ...fields, headers: fields.headers.map(([name, value]) => ({ name, value })) } : fields
    const numbers = Object.entries(shaped).map(([name, value]) => [
      name,
      typeof value === 'bigint' || typeof value === 'number' ? String(value) : value
    ])
    const present = numbers.filter(([, value]) => value !== undefined)
    return frameType.encode(frameType.fromObject({ [kind]: Object.fromEntries(present) })).finish()
  }

  for (const [kind, frames] of Object.entries(FRAMES)) {
    it(`encode and decode a ${kind} alike`, () => {
      fc.assert(
        fc.property(frames as fc.Arbitrary<Frame>, (frame) => {
          const encoded = encodeFrame(frame)
          const expected = ours(frame)
          assert.deepEqual(ours(decodeFrame(encoded)), expected)
          assert.deepEqual(theirs(encoded), expected)
          assert.deepEqual(ours(decodeFrame(written(frame))), expected)
        })
      )
    })
  }

  it('name the same kinds and fields', () => {
    const kinds = Object.values(frameType.fields).map(({ name }) => name)
    assert.deepEqual(kinds, Object.keys(FRAMES))
    for (const [kind, frames] of Object.entries(FRAMES)) {
      const type = frameType.fields[kind]?.resolve().resolvedType
      assert.ok(type instanceof protobuf.Type)
      const [frame] = fc.sample<Frame>(frames, 1)
      assert.deepEqual(
        Object.keys(type.fields).toSorted(),
        Object.keys(frame ?? {})
          .filter((name) => name !== 'kind')
          .toSorted()
      )
    }
  })
})

describe('decodeFrame', () => {
  /** A field of a later version: number 100, with a value of each wire type. */
  const laterFields = [
    Uint8Array.of(0xa0, 0x06, 0x96, 0x01),
    Uint8Array.of(0xa1, 0x06, 1, 2, 3, 4, 5, 6, 7, 8),
    Uint8Array.of(0xa2, 0x06, 3, 1, 2, 3),
    Uint8Array.of(0xa5, 0x06, 1, 2, 3, 4)
  ]

  it('ignores unknown and empty frames', () => {
    for (const field of laterFields) assert.equal(decodeFrame(field), undefined)
    assert.equal(decodeFrame(new Uint8Array(0)), undefined)
  })

  it('ignores unknown fields in frames and messages', () => {
    fc.assert(
      fc.property(anyFrame, fc.constantFrom(...laterFields), (frame, field) => {
        const encoded = encodeFrame(frame)
        assert.deepEqual(decodeFrame(Uint8Array.from([...field, ...encoded])), decodeFrame(encoded))
        assert.deepEqual(decodeFrame(withField(encoded, field)), decodeFrame(encoded))
      })
    )
  })

  it('ignores a field with a wrong wire type', () => {
    // A cancel whose id is a text.
    assert.deepEqual(decodeFrame(Uint8Array.of(0x2a, 3, 0x0a, 1, 65)), { kind: 'cancel', id: 0 })
    // A hello whose network is a number.
    assert.deepEqual(decodeFrame(Uint8Array.of(0x0a, 2, 0x08, 7)), {
      kind: 'hello',
      network: '',
      epoch: 0n,
      agent: '',
      inFlightMax: 0
    })
  })

  it('accepts numbers in longer encodings than necessary', () => {
    assert.deepEqual(decodeFrame(Uint8Array.of(0x2a, 4, 0x08, 0x85, 0x80, 0x00)), { kind: 'cancel', id: 5 })
  })

  it('throws for every truncation, and for lengths beyond the container', () => {
    fc.assert(
      fc.property(anyFrame, fc.nat(), (frame, at) => {
        const encoded = encodeFrame(frame)
        const cut = 1 + (at % Math.max(1, encoded.length - 1))
        if (cut < encoded.length) assert.throws(() => decodeFrame(encoded.subarray(0, cut)))
      })
    )
    // A text that is longer than its message, but not than the frame.
    assert.throws(() => decodeFrame(Uint8Array.of(0x0a, 3, 0x0a, 4, 65, 66, 67, 68)))
    // A header that is longer than its request.
    assert.throws(() => decodeFrame(Uint8Array.of(0x12, 2, 0x32, 3, 0x0a, 1, 65)))
    // A number over 2^53, and one without an end.
    assert.throws(() => decodeFrame(Uint8Array.of(0x2a, 9, 0x08, 255, 255, 255, 255, 255, 255, 255, 0x7f)))
    assert.throws(() => decodeFrame(Uint8Array.of(0x2a, 11, 0x08, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255)))
    // A frame kind that is not a message.
    assert.throws(() => decodeFrame(Uint8Array.of(0x28, 1)))
  })

  it('throws for groups at any depth', () => {
    assert.throws(() => decodeFrame(new Uint8Array(FRAME_BYTES_MAX).fill(0xa3)), RangeError)
    assert.throws(() => decodeFrame(withField(encodeFrame({ kind: 'drain' }), new Uint8Array(1_000).fill(0x0b))))
  })

  it('returns or throws at once for random bytes', async () => {
    const runs = fuzzRuns(10_000)
    const strings = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      // Bytes that start like a frame pass more checks.
      fc
        .tuple(fc.integer({ min: 1, max: 7 }), fc.uint8Array({ maxLength: 100 }))
        .map(([kind, rest]) => Uint8Array.of((kind << 3) | 2, rest.length, ...rest)),
      anyFrame.map(encodeFrame).chain((frame) => mutated([frame]))
    )
    const returnsOrThrows = fc.property(strings, (string) => {
      try {
        decodeFrame(string)
      } catch (error) {
        assert.ok(error instanceof Error)
      }
    })
    await assertCpuBelow(runs.numRuns, () => fc.assert(returnsOrThrows, runs))
  })

  /** The frame with one more field inside its message. */
  function withField(encoded: Uint8Array, field: Uint8Array): Uint8Array {
    const reader = protobuf.Reader.create(encoded)
    const key = reader.uint32()
    const inner = reader.bytes()
    const longer = protobuf.Writer.create()
      .uint32(key)
      .bytes(Uint8Array.from([...inner, ...field]))
      .finish()
    return Uint8Array.from(longer)
  }
})
