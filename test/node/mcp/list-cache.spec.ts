import assert from 'node:assert/strict'
import { formatApiRef, SoukError } from '../../../lib/index.ts'
import type { Resolution } from '../../../lib/interface/index.ts'
import { ListCache } from '../../../node/mcp/list-cache.ts'
import { eventually } from '../../helpers/eventually.ts'
import { type Running, startIngress } from '../ingress/harness.ts'
import { signed } from './signed.ts'

const api = (description: string): Resolution => ({
  signed: signed('plain', { operations: [{ name: 'call' }] }, { protocol: 'REST', description }),
  owners: []
})
const toolsNamed = (...names: string[]) => names.map((name) => ({ name, inputSchema: { type: 'object' as const } }))

describe('lists of tools', () => {
  it('are made once for agents with the same selection, until a manifest changes', async () => {
    const cache = new ListCache()
    let made = 0
    const list = (selection: string, found = api('one')) =>
      cache.get([selection], [found], async () => ({ tools: toolsNamed(`${selection}${++made}`), isWhole: true }))
    const [first, concurrent] = await Promise.all([list('a'), list('a')])
    assert.equal(first, concurrent)
    assert.equal(await list('a'), first)
    assert.deepEqual(await list('b'), toolsNamed('b2'))
    assert.deepEqual(await list('a', api('two')), toolsNamed('a3'))
    assert.equal(await list('a'), first)
  })

  it('are made again if an API could not be read', async () => {
    const cache = new ListCache()
    const list = (isWhole: boolean, ...names: string[]) =>
      cache.get([], [], async () => ({ tools: toolsNamed(...names), isWhole }))
    assert.deepEqual(await list(false), [])
    assert.deepEqual(await list(true, 'a'), toolsNamed('a'))
    assert.deepEqual(await list(true, 'b'), toolsNamed('a'))
    const failing = new ListCache()
    const fails = async () => failing.get([], [], () => Promise.reject(new SoukError('lookup_timeout')))
    await assert.rejects(fails(), { code: 'lookup_timeout' })
    assert.deepEqual(await failing.get([], [], async () => ({ tools: [], isWhole: true })), [])
  })

  describe('of an ingress', () => {
    let ingress: Running
    let resolved: string[]
    beforeEach(async () => {
      resolved = []
      ingress = await startIngress({}, undefined, ['plain'])
      ingress.onResolve = async (ref) => {
        resolved.push(typeof ref === 'string' ? ref : formatApiRef(ref))
        return api('one')
      }
    })
    afterEach(() => ingress.close())

    for (const method of ['initialize', 'server/discover']) {
      it(`are prepared while an agent connects by ${method}`, async () => {
        const clientInfo = { name: 'raw', version: '1' }
        const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo }
        const response = await fetch(`${ingress.url}/mcp?api=plain`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-consumer-key': ingress.key },
          body: JSON.stringify({ jsonrpc: '2.0', id: 0, method, params })
        })
        await response.text()
        await eventually('a lookup of the API', 5_000, () => (resolved.length > 0 ? true : undefined))
      })
    }
  })
})
