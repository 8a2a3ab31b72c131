import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { limits, SoukError } from '../../../lib/index.ts'
import { answer, eventually, type Running, startIngress } from '../ingress/harness.ts'
import { type AgentClient, CLIENTS } from './clients.ts'
import { signed } from './signed.ts'

interface Report {
  readonly progress: number
  readonly message?: string | undefined
}

describe('progress and cancellation for agents', () => {
  let ingress: Running
  let agents: AgentClient[]
  before(async () => {
    ingress = await startIngress()
    const plain = signed('plain', { operations: [{ name: 'call' }] }, { protocol: 'REST' })
    const strict = signed('strict', {
      operations: [{ name: 'get', output: { type: 'object', properties: { a: { type: 'string' } } } }]
    })
    const users = signed('users', { operations: [], sdl: 'type Query { a: Int }' }, { protocol: 'GraphQL' })
    const known = [plain, strict, users]
    ingress.onResolve = async (api) => {
      const name = typeof api === 'string' ? api.split('@')[0] : api.name
      const found = known.find(({ manifest }) => manifest.name === name)
      if (found === undefined) throw new SoukError('api_not_found')
      return { signed: found, owners: [] }
    }
  })
  beforeEach(() => {
    agents = []
    ingress.calls.length = 0
    ingress.onCall = () => answer()
  })
  afterEach(() => Promise.all(agents.map((agent) => agent.close())))
  after(() => ingress.close())

  const url = () => `${ingress.url}/mcp?api=plain&api=strict&api=users`
  async function connect(open: (typeof CLIENTS)[number][1]) {
    const agent = await open({ url: url(), headers: { 'x-consumer-key': ingress.key } })
    agents.push(agent)
    return agent
  }
  const streams = (type: string, ...parts: string[]) => {
    ingress.onCall = () => answer({ headers: [['content-type', type]], body: slowly(parts) })
  }
  /** Each part waits until the agent has the one before. */
  let reports: Report[] = []
  async function* slowly(parts: readonly string[]) {
    for (const [at, part] of parts.entries()) {
      await eventually(() => reports.length >= at)
      yield Buffer.from(part)
    }
  }
  const reported = () => {
    reports = []
    return { onProgress: ({ progress, message }: Report) => void reports.push({ progress, message }) }
  }

  for (const [revision, open] of CLIENTS) {
    describe(`by ${revision}`, () => {
      it('report each event of a stream as it comes, and the result has all', async () => {
        const agent = await connect(open)
        const parts = ['data: one\n\n', ':\nevent: x\nid: 1\ndata: two\r\ndata: 2\r\n\r\n', 'data: three\n\n']
        streams('text/event-stream', ...parts)
        const result = await agent.call('plain_call', {}, reported())
        assert.deepEqual(reports, [
          { progress: 1, message: 'one' },
          { progress: 2, message: 'two\n2' },
          { progress: 3, message: 'three' }
        ])
        assert.equal(result.content[0]?.['text'], parts.join(''))
        assert.match(ingress.calls[0]?.headers?.find(([name]) => name === 'accept')?.[1] ?? '', /text\/event-stream/)
      })

      it('report each line of NDJSON, also the last one without an end', async () => {
        const agent = await connect(open)
        streams('application/x-ndjson; charset=utf-8', '{"a":1}\n', '\n{"a":2}\n{"a"', ':3}')
        const result = await agent.call('plain_call', {}, reported())
        assert.deepEqual(reports.at(-1)?.progress, 3)
        assert.equal(reports.map(({ message }) => message).join('\n'), '{"a":1}\n{"a":2}\n{"a":3}')
        assert.equal(result.content[0]?.['text'], '{"a":1}\n\n{"a":2}\n{"a":3}')
      })

      it('bound the rate and the size of reports', async () => {
        const agent = await connect(open)
        async function* fast() {
          for (let at = 0; at < 400; at++) yield Buffer.from(`data: ${'x'.repeat(500)}\n\n`)
        }
        ingress.onCall = () => answer({ headers: [['content-type', 'text/event-stream']], body: fast() })
        const startedAt = performance.now()
        const result = await agent.call('plain_call', {}, reported())
        const periods = Math.ceil((performance.now() - startedAt) / limits.MCP_PROGRESS_MS)
        assert.equal(reports.at(-1)?.progress, 400)
        // The first report is sent at once, and the last one with the result.
        assert.ok(reports.length <= periods + 2, `${reports.length} reports in ${periods} periods`)
        for (const { message = '' } of reports) assert.ok(message.length <= 4_001)
        assert.ok(String(result.content[0]?.['text']).length > 200_000)
      })

      it('report nothing about other responses, or without being asked', async () => {
        const agent = await connect(open)
        const result = await agent.call('plain_call', {}, reported())
        assert.deepEqual([reports, result.structuredContent], [[], { ok: true }])
        reports = [{ progress: 0 }, { progress: 0 }]
        streams('text/event-stream', 'data: one\n\n', 'data: two\n\n')
        const silent = await agent.call('plain_call')
        assert.equal(silent.content[0]?.['text'], 'data: one\n\ndata: two\n\n')
        assert.equal(ingress.calls[1]?.headers, undefined)
      })

      it('do not ask for a stream where the tool promises an object', async () => {
        const agent = await connect(open)
        await agent.tools()
        ingress.onCall = () => answer({ body: Buffer.from('{"a":"b"}') })
        const result = await agent.call('strict_get', {}, reported())
        assert.deepEqual([result.structuredContent, ingress.calls[0]?.headers], [{ a: 'b' }, undefined])
      })

      it('get the results of a GraphQL subscription', async () => {
        const agent = await connect(open)
        streams('text/event-stream; charset=utf-8', 'event: next\ndata: {"data":{"a":1}}\n\nevent: complete\ndata:\n\n')
        const result = await agent.call('users_query', { query: 'subscription { a }' })
        assert.match(String(result.content[0]?.['text']), /"a":1/)
        assert.match(ingress.calls[0]?.headers?.find(([name]) => name === 'accept')?.[1] ?? '', /text\/event-stream/)
      })

      it('cancel a call at the provider', async () => {
        const agent = await connect(open)
        const started = Promise.withResolvers<void>()
        let isEnded = false
        async function* endless() {
          try {
            for (;;) {
              yield Buffer.from('data: x\n\n')
              started.resolve()
              await wait(5)
            }
          } finally {
            isEnded = true
          }
        }
        ingress.onCall = () => answer({ headers: [['content-type', 'text/event-stream']], body: endless() })
        const end = new AbortController()
        const called = agent.call('plain_call', {}, { signal: end.signal, ...reported() })
        await started.promise
        end.abort()
        await assert.rejects(called)
        await eventually(() => isEnded)
        ingress.onCall = () => answer()
        assert.deepEqual((await agent.call('plain_call')).structuredContent, { ok: true })
      })
    })
  }

  describe('from agents without a session', () => {
    const post = (message: object, headers: Record<string, string> = {}) =>
      fetch(url(), {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-consumer-key': ingress.key, ...headers },
        body: JSON.stringify({ jsonrpc: '2.0', ...message })
      })
    const hangs = () => {
      const ended: number[] = []
      const released = Promise.withResolvers<ReturnType<typeof answer>>()
      ingress.onCall = ({ signal }) => {
        const at = ingress.calls.length
        const cancelled = new Promise<never>((_, reject) => {
          signal?.addEventListener('abort', () => {
            ended.push(at)
            reject(new SoukError('call_interrupted'))
          })
        })
        return Promise.race([released.promise, cancelled])
      }
      return { ended, release: () => released.resolve(answer()) }
    }
    const call = { method: 'tools/call', params: { name: 'plain_call' } }
    const cancel = { method: 'notifications/cancelled', params: { requestId: 7 } }

    for (const accept of ['application/json, text/event-stream', 'application/json']) {
      it(`end a call by its id, with Accept: ${accept}`, async () => {
        const { ended } = hangs()
        const called = post({ id: 7, ...call }, { accept })
        await eventually(() => ingress.calls.length === 1)
        assert.equal((await post({ ...cancel, params: { requestId: '7' } })).status, 202)
        assert.equal((await post(cancel, { 'mcp-session-id': 'other' })).status, 202)
        const other = await ingress.keys.issue()
        await post(cancel, { 'x-consumer-key': other.key })
        assert.deepEqual(ended, [], 'another id, session or key is another call')
        await post(cancel)
        assert.equal(await (await called).text(), '', 'a cancelled request gets no response')
        assert.deepEqual(ended, [1])
      })
    }

    it('end no call if several have the id', async () => {
      const { ended, release } = hangs()
      const calls = [1, 2].map(() => post({ id: 7, ...call }).then((response) => response.text()))
      await eventually(() => ingress.calls.length === 2)
      await post(cancel)
      release()
      await Promise.all(calls)
      assert.deepEqual(ended, [])
    })
  })
})
