import assert from 'node:assert/strict'
import { SoukError } from '../../../lib/index.ts'
import { eventually } from '../../helpers/eventually.ts'
import { manifestOf } from '../../lib/resolve/fixtures.ts'
import { PROVIDER, RawClient, type Running, startIngress } from './harness.ts'

const MIB = 2 ** 20
/** More than the system buffers. */
const SCHEMA = `# ${'x'.repeat(8 * MIB)}`
const PATH = '/v1/apis/counts/schema.graphql'

describe('ingress: requests that need no key', () => {
  let ingress: Running
  const clients: RawClient[] = []
  const start = async (options: Parameters<typeof startIngress>[0] = {}) => {
    ingress = await startIngress({ trustProxy: true, ...options })
    const manifest = manifestOf(PROVIDER, {
      name: 'counts',
      protocol: 'GraphQL',
      api: { operations: [], sdl: SCHEMA }
    })
    const signed = { id: `counts@${PROVIDER}`, envelope: new Uint8Array(0), manifest } as const
    ingress.onResolve = async () => ({ signed, owners: [] })
  }
  afterEach(async () => {
    for (const each of clients.splice(0)) each.destroy()
    await ingress.close()
  })

  const get = (path: string, host = '192.0.2.1') =>
    fetch(ingress.url + path, { headers: { 'x-forwarded-for': host }, signal: AbortSignal.timeout(30_000) })
  const codeOf = async (path: string, host?: string) => {
    const response = await get(path, host)
    const body = await response.text()
    return response.ok ? 'ok' : (JSON.parse(body) as { readonly code: string }).code
  }
  /** Asks, and reads nothing. */
  const leaveUnread = (path: string, times: number, host = '192.0.2.1') => {
    const client = new RawClient(ingress.port)
    clients.push(client)
    client.socket.pause()
    return client.send(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: ${host}\r\n\r\n`.repeat(times))
  }

  it('hold only so much memory for a host that reads nothing', async () => {
    await start()
    assert.equal(await codeOf(PATH), 'ok')
    const client = leaveUnread(PATH, 10)
    await eventually('the refusal', 10_000, async () => ((await codeOf(PATH)) === 'overloaded' ? true : undefined))
    assert.equal(await codeOf('/v1/apis'), 'ok')
    assert.equal(await codeOf(PATH, '192.0.2.2'), 'ok')
    client.destroy()
    await eventually('the schema', 10_000, async () => ((await codeOf(PATH)) === 'ok' ? true : undefined))
  })

  it('are limited in number for one host', async () => {
    await start()
    const asked: Array<() => void> = []
    ingress.onSearch = () =>
      new Promise((_resolve, reject) => asked.push(() => reject(new SoukError('lookup_timeout'))))
    for (let at = 0; at < 8; at++) leaveUnread('/v1/apis', 32)
    await eventually('256 searches', 10_000, () => (asked.length === 256 ? true : undefined))
    assert.equal(await codeOf('/v1/apis'), 'overloaded')
    assert.equal(await codeOf(PATH), 'overloaded')
    assert.deepEqual([await codeOf('/livez'), await codeOf('/readyz')], ['ok', 'ok'])
    assert.equal(await codeOf(PATH, '192.0.2.2'), 'ok')
    for (const fail of asked) fail()
    await eventually('the schema', 10_000, async () => ((await codeOf(PATH)) === 'ok' ? true : undefined))
  })
})
