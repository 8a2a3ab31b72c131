import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { format } from 'node:util'
import type { ComponentLogger, Logger } from '@libp2p/interface'
import {
  asSoukError,
  type ErrorCode,
  formatRequestId,
  handler,
  LOGS,
  requestIds,
  systemClock,
  systemRandom
} from '../../lib/index.ts'
import { createTestnet, type Testnet } from '../../lib/testing/index.ts'
import { eventually } from '../helpers/eventually.ts'

const EMPTY = new TextEncoder().encode('{}')
const ROOT = resolve(import.meta.dirname, '../..')

/** Collects every line of the enabled logs. */
function recorder(isOn: (name: string) => boolean) {
  const lines: string[] = []
  const names = new Set<string>()
  const write =
    (name: string) =>
    (text: string, ...args: unknown[]): void =>
      void (isOn(name) && lines.push(`${name} ${format(text.replaceAll(/%[ptbekam]/g, '%s'), ...args)}`))
  const forComponent = (name: string): Logger => {
    names.add(name)
    return Object.assign(write(name), {
      error: write(`${name}:error`),
      trace: write(`${name}:trace`),
      enabled: isOn(name),
      newScope: (scope: string) => forComponent(`${name}:${scope}`)
    })
  }
  const logger: ComponentLogger = { forComponent }
  return { logger, lines, names }
}

describe('the logs of a node', () => {
  const [consumer, owner] = [recorder((name) => name.startsWith('souk:')), recorder((name) => name.startsWith('souk:'))]
  const ids = requestIds(systemClock, systemRandom)
  let network: Testnet
  let api: string

  before(async () => {
    const logger = (index: number) => (index === 0 ? owner.logger : consumer.logger)
    network = await createTestnet({ options: (index) => ({ logger: logger(index) }) })
    const echo = handler(({ body }) => {
      if ((body as { fail?: true }).fail) throw new Error('secret of the API')
      return { ok: true }
    })
    const [first] = network.nodes
    api = (await first?.souk.serve({ name: 'echo', price: '0' }, echo))?.signed.id ?? ''
  })
  after(() => network.stop())

  async function call(body: object, name = api): Promise<{ id: string; code?: ErrorCode }> {
    const requestId = ids.next()
    const id = formatRequestId(requestId)
    const text = new TextEncoder().encode(JSON.stringify(body))
    const headers = [['x-secret', 'header-of-the-call']] as const
    return network.nodes[1]!.souk.call({ api: name, body: text, headers, requestId })
      .then(({ status }) => ({ id, ...(status === 200 ? {} : { code: 'internal_error' as const }) }))
      .catch((error: unknown) => ({ id, code: asSoukError(error).code }))
  }
  const about = (lines: readonly string[], name: string, id: string) =>
    lines.filter((line) => line.startsWith(`${name} `) && line.includes(id))

  it('use the logger of createNode, together with those of libp2p', () => {
    assert.ok([...consumer.names].some((name) => name.startsWith('libp2p:')))
    assert.ok(consumer.names.has('souk:call') && consumer.names.has('souk:resolve'))
  })

  it('show a call by its request id, at both ends', async () => {
    const { id, code } = await call({ secret: 'body-of-the-call' })
    assert.equal(code, undefined)
    const [attempt, ...more] = about(consumer.lines, 'souk:call', id)
    assert.deepEqual(more, [])
    const first = network.nodes[0]?.souk.status().peer ?? ''
    assert.match(attempt ?? '', new RegExp(`${api} at ${first}: 200 in [\\d.]+ ms, charged 0 of 0 USDC \\(lookup`))
    assert.match(about(owner.lines, 'souk:owner', id).join('\n'), /: 200, \d+ bytes, charged 0 USDC, API [\d.]+ ms/)
    assert.ok(consumer.lines.some((line) => line.startsWith(`souk:resolve ${api}: revision 1, published, 1 owners`)))
    assert.ok(consumer.lines.some((line) => /^souk:link dialled \S+ at \/ip4\//.test(line)))
    assert.ok(owner.lines.some((line) => /^souk:link accepted \S+ at \/ip4\//.test(line)))
  })

  it('show where a call found its API: lookup or cache', async () => {
    const isCached = new RegExp(`^souk:resolve:trace ${api}: cached, \\d+ ms old\n.*tried in this order`)
    // An announcement of the API may make the cached lookup stale, which starts another one in the background.
    await eventually('a call with a cached lookup and no query', 5_000, async () => {
      const before = consumer.lines.length
      await call({})
      const lines = consumer.lines.slice(before).filter((line) => line.startsWith('souk:resolve'))
      const hasQuery = lines.some((line) => line.startsWith('souk:resolve DHT'))
      return isCached.test(lines.join('\n')) && !hasQuery ? true : undefined
    })
  })

  it('show why a call failed, by code', async () => {
    const failed = await call({ fail: true })
    assert.ok(failed.code !== undefined)
    const lines = [...about(consumer.lines, 'souk:call', failed.id), ...about(owner.lines, 'souk:owner', failed.id)]
    assert.ok(
      lines.every((line) => line.includes(failed.code ?? '') || line.includes('arrives')),
      lines.join('\n')
    )
    const unknown = await call({}, 'nobody-serves-this')
    assert.equal(unknown.code, 'api_not_found')
    assert.match(about(consumer.lines, 'souk:call', unknown.id).join('\n'), /nobody-serves-this fails: api_not_found/)
    assert.ok(consumer.lines.some((line) => line.startsWith('souk:resolve nobody-serves-this was not found in')))
  })

  it('never contain a body, a header or the text of an API’s error', () => {
    const all = [...consumer.lines, ...owner.lines].join('\n')
    assert.ok(all.length > 1_000)
    assert.doesNotMatch(all, /body-of-the-call|header-of-the-call|secret of the API/)
  })
})

describe('a node whose logs are off', () => {
  it('writes none, and formats none', async () => {
    const { logger, names } = recorder(() => false)
    let asked = 0
    const refusing: ComponentLogger = {
      forComponent(name) {
        const log = logger.forComponent(name)
        if (!name.startsWith('souk:') || name.startsWith('souk:dht')) return log
        const written = (...args: unknown[]): void => {
          asked++
          // Formatted texts would appear as arguments. While a log is off, arguments must be passed unformatted.
          for (const arg of args.slice(1)) assert.ok(!/\d ms|USDC/.test(String(arg)), String(arg))
        }
        return Object.assign(written, { error: written, trace: written, enabled: false, newScope: () => log })
      }
    }
    const network = await createTestnet({ options: () => ({ logger: refusing }) })
    try {
      const [owner, consumer] = network.nodes
      const listing = await owner?.souk.serve(
        { name: 'echo', price: '0' },
        handler(() => ({ ok: true }))
      )
      await consumer?.souk.call({ api: listing?.signed.id ?? '', body: EMPTY })
      assert.ok(names.has('souk:call'))
      const counts: number[] = []
      for (let round = 0; round < 5; round++) {
        const before = asked
        for (let i = 0; i < 10; i++) await consumer?.souk.call({ api: listing?.signed.id ?? '', body: EMPTY })
        counts.push(asked - before)
      }
      // The resolver logs at trace level whether the API was cached, with two values that exist anyway. Work in the
      // background logs in some rounds, while a log call on the path of a call appears in each.
      assert.ok(Math.min(...counts) <= 10, `${counts.join(', ')} log calls for 10 calls each`)
    } finally {
      await network.stop()
    }
  })
})

describe('the table of logs', () => {
  it('names those that components write to, and no other', async () => {
    const used = new Set<string>()
    for (const folder of ['lib', 'node', 'protocols']) {
      const files = await readdir(join(ROOT, folder), { recursive: true })
      for (const file of files.filter((name) => name.endsWith('.ts') && !name.endsWith('component-log.ts'))) {
        const source = await readFile(join(ROOT, folder, file), 'utf8')
        for (const [, name = ''] of source.matchAll(/(?:logOf\([^']*|logPrefix: )'(souk:[\w-]+)'/g)) used.add(name)
      }
    }
    assert.deepEqual([...used].toSorted(), Object.keys(LOGS).toSorted())
  })
})
