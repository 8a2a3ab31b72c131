import assert from 'node:assert/strict'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { utf8 } from '../../../lib/base/bytes.ts'
import { toHex } from '../../../lib/base/hex.ts'
import {
  DESCRIPTION_DOCUMENT_BYTES_MAX,
  DESCRIPTIONS_REQUESTS_BURST,
  INLINE_DESCRIPTION_BYTES_MAX
} from '../../../lib/base/limits/descriptions.ts'
import { DESCRIPTION_REQUEST, DESCRIPTION_REPLY } from '../../../lib/describe/description-codec.ts'
import { DESCRIPTION_PROTOCOL, serveDescriptions } from '../../../lib/describe/description-exchange.ts'
import { DescriptionReader } from '../../../lib/describe/description-reader.ts'
import { DocumentShelf } from '../../../lib/describe/document-shelf.ts'
import { merkleTree } from '../../../lib/describe/merkle.ts'
import type { ApiDescription, JsonSchema, Operation } from '../../../lib/interface/adapter.ts'
import type { PublishedApi } from '../../../lib/interface/published-api.ts'
import type { Resolution } from '../../../lib/interface/directory.ts'
import { decodeManifest, encodeManifest } from '../../../lib/resolve/manifest/manifest-codec.ts'
import { checkManifest } from '../../../lib/resolve/manifest/check-manifest.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { idOf, keyOf, LinkNetwork, manifestOf, type StubLink } from '../resolve/fixtures.ts'

const { signal } = new AbortController()
const API = 'ticker@provider' as const

/** Many operations that share types. `Node` refers to itself, and two types to each other. */
function largeApi(operations = 250): ApiDescription {
  const ref = (name: string): JsonSchema => ({ $ref: `#/$defs/${name}` })
  return {
    operations: Array.from(
      { length: operations },
      (_, at): Operation => ({
        name: `op${at}`,
        description: `Does thing ${at}.\n\nMore about thing ${at}. ${'x'.repeat(200)}`,
        input: { type: 'object', properties: { node: ref('Node'), at: { const: at } }, required: ['node'] },
        output: ref(at % 2 === 0 ? 'Left' : 'Node')
      })
    ),
    definitions: {
      Node: { type: 'object', properties: { next: ref('Node'), name: { type: 'string' } }, required: ['name'] },
      Left: { type: 'object', properties: { right: ref('Right') } },
      Right: { type: 'object', properties: { left: ref('Left'), many: { enum: ['a', 'b'] } } },
      Unused: { type: 'null' }
    }
  }
}

describe('descriptions', () => {
  let network: LinkNetwork
  let owner: StubLink
  let shelf: DocumentShelf
  let reader: DescriptionReader
  let clock: ReturnType<typeof manualClock>
  let provider: string

  before(async () => {
    provider = idOf(await keyOf('provider'))
  })

  beforeEach(() => {
    clock = manualClock()
    network = new LinkNetwork()
    owner = network.join('owner')
    shelf = new DocumentShelf(clock)
    serveDescriptions({ link: owner, shelf, clock })
    reader = readerOf(network.join('consumer'))
  })

  const readerOf = (link: StubLink, source?: string, cache = new DocumentShelf(clock)) =>
    new DescriptionReader({ link, shelf: cache, clock, sourceOf: async () => source })

  /** As a reader gets it: the manifest went over the wire. */
  const resolved = (api: PublishedApi, owners = ['owner'], protocol = 'REST'): Resolution => {
    const manifest = decodeManifest(encodeManifest(manifestOf(provider, { api, protocol })))
    checkManifest(manifest)
    return {
      signed: { id: API, manifest, envelope: encodeManifest(manifest) },
      owners: owners.map((id) => ({ id, addresses: [] }))
    }
  }

  it('stays in the manifest where it is small', async () => {
    const small = { operations: [{ name: 'get', description: 'Gets.', input: { type: 'object' } }] }
    const api = await shelf.publish(API, small)
    assert.deepEqual(api, small)
    const found = resolved(api)
    assert.deepEqual(await reader.described(found, ['get', 'other'], { signal }), small.operations)
    assert.deepEqual(await reader.operations(found, {}, signal), [{ name: 'get', summary: 'Gets.' }])
    assert.deepEqual(owner.askedBy, [])
  })

  it('is read from the owner where it is large, and then from the cache', async () => {
    const large = largeApi()
    const api = await shelf.publish(API, large)
    assert.deepEqual(await shelf.publish(API, large), api, 'the same root again')
    const found = resolved(api)
    assert.ok(found.signed.envelope.length < 32 * 1_024, String(found.signed.envelope.length))
    const names = await reader.operations(found, {}, signal)
    assert.deepEqual(
      names.map(({ name }) => name),
      large.operations.map(({ name }) => name)
    )
    assert.equal(names[7]?.summary, 'Does thing 7.')
    assert.deepEqual(await reader.operations(found, { from: 98, limit: 4 }, signal), names.slice(98, 102))
    const [two, none] = await reader.described(found, ['op2', 'absent'], { signal })
    assert.equal(none, undefined)
    assert.equal(two?.description, large.operations[2]?.description)
    assert.deepEqual(Object.keys(two?.input?.['$defs'] ?? {}), ['Node'])
    assert.deepEqual(Object.keys(two?.output?.['$defs'] ?? {}), ['Left', 'Right'])
    const check = new Ajv2020({ strict: false }).compile(two?.input ?? {})
    assert.ok(check({ node: { name: 'a', next: { name: 'b' } }, at: 2 }))
    assert.ok(!check({ node: { name: 'a', next: {} }, at: 2 }))
    const asked = owner.askedBy.length
    owner.mood = 'refuses'
    assert.deepEqual(await reader.described(found, ['op2'], { signal }), [two])
    assert.equal(owner.askedBy.length, asked)
    await assert.rejects(reader.described(found, ['op3'], { signal }), { code: 'owner_unreachable' })
  })

  it('is supplied while one of the APIs that share it is served', async () => {
    const api = await shelf.publish(API, largeApi())
    assert.deepEqual(await shelf.publish(`twin@${provider}`, largeApi()), api)
    shelf.forget(API)
    assert.equal((await reader.operations(resolved(api), { limit: 1 }, signal)).length, 1)
    shelf.forget(`twin@${provider}`)
    const late = readerOf(network.join('late'))
    await assert.rejects(late.operations(resolved(api), { limit: 1 }, signal), { code: 'owner_unreachable' })
  })

  it('reads pages one by one, without the rest', async () => {
    const found = resolved(await shelf.publish(API, largeApi()))
    assert.equal((await reader.operations(found, { from: 240, limit: 100 }, signal)).length, 10)
    assert.deepEqual(await reader.operations(found, { from: 250, limit: 5 }, signal), [])
    assert.equal(owner.askedBy.length, 1)
  })

  it('gives the whole description with each shared schema once', async () => {
    const large = largeApi()
    const whole = await reader.whole(resolved(await shelf.publish(API, large)), signal)
    assert.deepEqual(whole, large)
  })

  it('is read from the peer that sent the manifest where no owner responds', async () => {
    const api = await shelf.publish(API, largeApi())
    const found = resolved(api)
    const middle = network.join('middle')
    const cache = new DocumentShelf(clock)
    serveDescriptions({ link: middle, shelf: cache, clock })
    const before = readerOf(middle, undefined, cache)
    await before.operations(found, {}, signal)
    await before.whole(found, signal)
    owner.mood = 'refuses'
    const far = readerOf(network.join('far'), 'middle')
    assert.equal((await far.described(found, ['op7'], { signal })).length, 1)
    await assert.rejects(reader.described(found, ['op7'], { signal }), { code: 'owner_unreachable' })
  })

  it('rejects documents that do not belong to the root, and asks the next owner', async () => {
    const api = await shelf.publish(API, largeApi())
    const liar = network.join('liar')
    const forged = [utf8(JSON.stringify({ operations: [] })), utf8('{}')]
    const tree = merkleTree(forged)
    for (const reply of [
      forged.map((document, leaf) => ({ leaf, document, path: tree.path(leaf) })),
      [{ leaf: 70_000, document: utf8('{}'), path: [] }],
      [{ leaf: 0, document: new Uint8Array(DESCRIPTION_DOCUMENT_BYTES_MAX + 1), path: [] }]
    ]) {
      liar.serve(DESCRIPTION_PROTOCOL, async () => DESCRIPTION_REPLY.encode({ documents: reply }), {
        requestBytesMax: 4_096
      })
      const fresh = readerOf(network.join('fresh'))
      await assert.rejects(fresh.operations(resolved(api, ['liar']), {}, signal), { code: 'owner_unreachable' })
      assert.equal((await fresh.operations(resolved(api, ['liar', 'owner']), {}, signal)).length, 250)
    }
  })

  it('publishes an SDL of any size in parts, without cutting a character', async () => {
    const sdl = `type Query { ${'"""Grüße — 日本語 🌍""" a: Int '.repeat(20_000)} }`
    const api = await shelf.publish(API, { operations: [{ name: 'a' }], sdl })
    assert.equal(api.sdl, undefined)
    const found = resolved(api, ['owner'], 'GraphQL')
    assert.equal(await reader.sdl(found, signal), sdl)
    assert.equal(await reader.sdl(resolved(await shelf.publish(API, largeApi())), signal), undefined)
  })

  it('describes every operation, also where a schema is larger than a document', async () => {
    const huge = { enum: Array.from({ length: 100_000 }, (_, at) => `value ${at}`) }
    const api = await shelf.publish(API, {
      operations: [
        { name: 'a', input: { $ref: '#/$defs/Huge' }, output: { type: 'string' } },
        { name: 'b', input: { type: 'object' }, output: huge }
      ],
      definitions: { Huge: huge }
    })
    const [a, b] = await reader.described(resolved(api), ['a', 'b'], { signal })
    assert.deepEqual(Object.keys(a?.input?.['$defs'] ?? {}), ['Huge'], 'a reference has a target')
    assert.deepEqual(a?.output, { type: 'string' })
    assert.deepEqual(b, { name: 'b', input: { type: 'object' } })
  })

  it('bounds a schema for its reader, nearest types first', async () => {
    const definitions: Record<string, JsonSchema> = {}
    for (let at = 0; at < 500; at++) {
      definitions[`T${at}`] = { description: 'x'.repeat(400), properties: { next: { $ref: `#/$defs/T${at + 1}` } } }
    }
    definitions['T500'] = { type: 'string' }
    const api = await shelf.publish(API, { operations: [{ name: 'a', input: { $ref: '#/$defs/T0' } }], definitions })
    const found = resolved(api)
    const [bounded] = await reader.described(found, ['a'], { signal, bytesMax: 8_192, isInputOnly: true })
    const size = JSON.stringify(bounded?.input).length
    assert.ok(size > 4_096 && size < 9_000, String(size))
    new Ajv2020({ strict: false }).compile(bounded?.input ?? {})
    const [whole] = await reader.described(found, ['a'], { signal })
    assert.equal(Object.keys(whole?.input?.['$defs'] ?? {}).length, 501)
  })

  it('keeps names such as __proto__ and constructor as names', async () => {
    const definitions = Object.fromEntries(
      ['__proto__', 'constructor', 'toString'].map((name) => [name, { type: 'string', title: name }])
    )
    const filler = { name: 'filler', description: 'x'.repeat(INLINE_DESCRIPTION_BYTES_MAX) }
    const input = JSON.parse(
      '{"properties":{"__proto__":{"$ref":"#/$defs/__proto__"},"a":{"$ref":"#/$defs/constructor"}}}'
    ) as JsonSchema
    const api = await shelf.publish(API, { operations: [{ name: '__proto__', input }, filler], definitions })
    const [operation] = await reader.described(resolved(api), ['__proto__'], { signal })
    assert.deepEqual(Object.keys(operation?.input?.['$defs'] ?? {}).sort(), ['__proto__', 'constructor'])
    assert.ok(Object.hasOwn(operation?.input?.['properties'] ?? {}, '__proto__'))
    assert.equal(({} as { title?: string }).title, undefined)
  })

  it('is refused with a name of an operation that readers refuse', async () => {
    const description = 'x'.repeat(INLINE_DESCRIPTION_BYTES_MAX)
    for (const name of ['', 'two\nlines', 'a\ttab', '\u001b[31m', 'x'.repeat(501)]) {
      await assert.rejects(shelf.publish(API, { operations: [{ name, description }] }), { code: 'invalid_request' })
    }
  })

  /** Documents that the provider itself signed, but no honest node writes. */
  const hostile = (documents: readonly unknown[], operations = 1): Resolution => {
    const bytes = documents.map((each) => utf8(typeof each === 'string' ? each : JSON.stringify(each)))
    const tree = merkleTree(bytes)
    owner.serve(
      DESCRIPTION_PROTOCOL,
      async (request) => {
        const proven = bytes.map((document, leaf) => ({ leaf, document, path: tree.path(leaf) }))
        // Two of the largest documents fit a reply.
        const { leaves } = DESCRIPTION_REQUEST.decode(request)
        return DESCRIPTION_REPLY.encode({ documents: leaves.slice(0, 2).flatMap((leaf) => proven[leaf] ?? []) })
      },
      { requestBytesMax: 4_096 }
    )
    const described = { root: toHex(tree.root), documents: bytes.length, operations, sdlParts: 0 }
    return resolved({ operations: [], described })
  }
  const page = { operations: [{ name: 'a' }] }

  it('refuses documents of another form', async () => {
    const deep = `{"name":"a","input":${'{"not":'.repeat(100)}{}${'}'.repeat(101)}`
    for (const documents of [
      [{ operations: [] }, { name: 'a' }],
      [{ operations: [{ name: 'a\u001b[2J' }] }, { name: 'a' }],
      [{ operations: [{ name: 'a', summary: 'x'.repeat(10_000) }] }, { name: 'a' }],
      [page, deep],
      [page, '[]'],
      [page, 'no JSON'],
      [page, { name: 'a', input: 'text' }],
      [page, { name: 'a', parts: { input: [0] } }],
      [page, { name: 'a', parts: { input: [1e9] } }],
      [page, { name: 'a', parts: { input: [1.5] } }]
    ]) {
      const fresh = readerOf(network.join('fresh'))
      await assert.rejects(
        fresh.described(hostile(documents), ['a'], { signal }),
        { code: 'invalid_request' },
        JSON.stringify(documents)
      )
    }
  })

  /** An operation whose shared schemas have a megabyte each, of the smallest values. */
  const huge = (parts: number): Resolution => {
    const part = JSON.stringify({ name: 'T', schema: { enum: Array.from({ length: 300_000 }, () => []) } })
    const input = Array.from({ length: parts }, (_, at) => at + 2)
    return hostile([page, { name: 'a', input: {}, parts: { input } }, ...input.map(() => part)])
  }

  it('reads no more than a listing may publish', async () => {
    const found = huge(40)
    await assert.rejects(reader.described(found, ['a'], { signal }), { code: 'response_too_large' })
    await assert.rejects(reader.whole(found, signal), { code: 'response_too_large' })
    await assert.rejects(reader.whole(huge(3), signal, 2 * 2 ** 20), { code: 'response_too_large' })
    const sdl = { root: found.signed.manifest.api.described?.root ?? '0x', documents: 42, operations: 1, sdlParts: 40 }
    const graphql = resolved({ operations: [], described: sdl }, ['owner'], 'GraphQL')
    await assert.rejects(reader.sdl(graphql, signal), { code: 'response_too_large' })
  })

  it('is read in turns, so that calls are not delayed', async () => {
    let turns = 0
    const soon = (task: () => void) => {
      turns++
      clock.soon(task)
    }
    const link = network.join('patient')
    const patient = new DescriptionReader({
      link,
      shelf: new DocumentShelf(clock),
      clock: { ...clock, soon },
      sourceOf: async () => undefined
    })
    const { definitions = {} } = await patient.whole(huge(4), signal)
    assert.deepEqual(Object.keys(definitions), ['T'])
    assert.ok(turns >= 4, `${turns} turns`)
    turns = 0
    const name = 'n'.repeat(499)
    const pages = [0, 1, 2, 3, 4, 5, 6, 7].map((at) => ({
      operations: Array.from({ length: 100 }, () => ({ name: `${name}${at}`, summary: 's'.repeat(120) })),
      more: 'x'.repeat(200_000)
    }))
    const found = hostile([...pages, ...Array.from({ length: 800 }, () => '{}')], 800)
    assert.equal((await patient.operations(found, {}, signal)).length, 800)
    assert.ok(turns >= 4, `${turns} turns of pages`)
    turns = 0
    const leaves = [2, 3, 4, 5, 6, 7, 8, 9]
    const parts = leaves.map((at) => ({ name: `T${at}`, schema: { enum: Array.from({ length: 40_000 }, () => []) } }))
    const operation = { name: 'a', input: {}, output: {}, parts: { input: leaves, output: leaves } }
    const [read] = await patient.described(hostile([page, operation, ...parts]), ['a'], { signal })
    assert.deepEqual(
      [read?.input, read?.output].map((each) => Object.keys(each?.['$defs'] ?? {}).length),
      [8, 8]
    )
    assert.ok(turns >= 5, `${turns} turns of schemas`)
  })

  it('limits the requests of one peer', async () => {
    const api = await shelf.publish(API, largeApi())
    const found = resolved(api)
    let refused = 0
    for (let at = 0; at <= DESCRIPTIONS_REQUESTS_BURST; at++) {
      await readerOf(network.join('flood'))
        .operations(found, { limit: 1 }, signal)
        .catch(() => refused++)
    }
    assert.equal(refused, 1)
    assert.equal((await readerOf(network.join('other')).operations(found, { limit: 1 }, signal)).length, 1)
  })
})
