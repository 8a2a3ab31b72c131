import assert from 'node:assert/strict'
import { formatApiRef, SoukError } from '../../../lib/index.ts'
import { RemoteAgent } from '../../../node/mcp/remote-agent.ts'
import { answer, type Running, startIngress } from '../ingress/harness.ts'
import { signed } from './signed.ts'

const { signal } = new AbortController()

/** `souk mcp` without its process. */
describe('an agent at a remote node', () => {
  let ingress: Running
  let agent: RemoteAgent
  before(async () => {
    ingress = await startIngress()
    const plain = signed('plain', { operations: [{ name: 'call' }] }, { protocol: 'REST' })
    ingress.onResolve = async (api) => {
      const ref = typeof api === 'string' ? api : formatApiRef(api)
      if (!ref.startsWith('plain')) throw new SoukError('api_not_found', `No provider serves ${ref}.`)
      return { signed: plain, owners: [] }
    }
    agent = new RemoteAgent((body, headers, cancelled) =>
      fetch(`${ingress.url}/mcp?api=plain`, {
        method: 'POST',
        body,
        headers: { ...headers, 'x-consumer-key': ingress.key },
        signal: cancelled
      })
    )
  })
  after(() => ingress.close())

  it('gets the progress of a stream, and its result', async () => {
    async function* events() {
      for (const n of [1, 2, 3]) yield Buffer.from(`data: ${n}\n\n`)
    }
    ingress.onCall = () => answer({ headers: [['content-type', 'text/event-stream']], body: events() })
    const reports: Array<[items: number, newest: string]> = []
    const call = { name: 'plain_call', arguments: {}, meta: { progressToken: 'of the other connection' } }
    const result = await agent.tools.call(call, signal, async (items, newest) => void reports.push([items, newest]))
    assert.equal(reports.at(-1)?.[0], 3)
    assert.equal(reports.map(([, newest]) => newest).join('\n'), '1\n2\n3')
    assert.deepEqual(result.content, [{ type: 'text', text: 'data: 1\n\ndata: 2\n\ndata: 3\n\n' }])
  })

  it('is told what a repeat may cost if the response is lost, and what its user can do', async () => {
    const failing = (error: Error) =>
      new RemoteAgent(async () => {
        throw error
      })
    const textOf = async (remote: RemoteAgent) => {
      const { isError, content } = await remote.tools.call({ name: 'plain_call', arguments: {}, meta: {} }, signal)
      assert.equal(isError, true)
      return JSON.stringify(content)
    }
    const unsent = Object.assign(new Error('No node runs.'), { code: 'node_not_running', hint: 'souk up' })
    assert.equal(
      await textOf(failing(unsent)),
      '[{"type":"text","text":"No node runs. Ask your user to try: souk up."}]'
    )
    assert.match(
      await textOf(failing(new Error('It failed.'))),
      /It failed\. A paid call may have been made and charged\./
    )
    await assert.rejects(failing(new Error('It failed.')).tools.list(signal), /: It failed\.$|^It failed\.$/)
    const cut = new RemoteAgent(async () => {
      const body = new ReadableStream({ pull: (controller) => controller.error(new TypeError('terminated')) })
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
    })
    assert.match(await textOf(cut), /ended before its response\. A paid call may have been made/)
  })

  it('reads documents and prompts, and gets the node’s errors', async () => {
    const { resources } = await agent.resources.list(undefined, signal)
    const [first] = resources
    const { contents } = await agent.resources.read(first?.uri ?? '', signal)
    assert.match(JSON.stringify(contents), /# plain/)
    const missing = { uri: 'souk://apis/nowhere' }
    await assert.rejects(agent.resources.read(missing.uri, signal), { code: -32_602, data: missing })
    await assert.rejects(agent.resources.read('file:///ä', signal), { code: -32_602 })
    const prompt = await agent.prompts.get('use-an-api', { api: 'plain', task: 'try' }, signal)
    assert.equal(prompt.messages.length, 2)
    const ref = { type: 'ref/resource' as const, uri: 'souk://apis/{api}/operations/{operation}' }
    const asked = { ref, argument: { name: 'operation', value: 'c' }, context: { arguments: { api: 'plain' } } }
    assert.deepEqual((await agent.prompts.complete(asked, signal)).values, ['call'])
  })
})
