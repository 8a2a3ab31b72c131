import assert from 'node:assert/strict'
import { asking, refusal, rpcOf } from '../../../../lib/pay/chain/rpc.ts'
import { type Behaviour, type ScriptedUpstream, scriptedUpstream } from '../../../helpers/scripted-upstream.ts'

const KEY = 'access-key-0123456789'

describe('a chain endpoint with an access key in its URL', () => {
  let endpoint: ScriptedUpstream

  before(async () => {
    endpoint = await scriptedUpstream((response) => response.end())
  })
  after(() => endpoint.close())

  const urls = () => [
    `${endpoint.url}/v2/${KEY}`,
    `${endpoint.url}/?key=${KEY}`,
    `${endpoint.url.replace('//', `//user:${KEY}@`)}/`
  ]
  const says = (status: number, text: (told: string) => string): Behaviour => {
    return (response, { target, headers }) => {
      const user = Buffer.from((headers.authorization ?? '').slice('Basic '.length), 'base64').toString()
      response.writeHead(status, { 'content-type': 'application/json' }).end(text(`${target} ${user}`))
    }
  }
  const answers: ReadonlyArray<readonly [what: string, behaviour: Behaviour]> = [
    ['fails and repeats it', says(500, (told) => JSON.stringify({ error: told }))],
    ['refuses and repeats it', says(401, (told) => `not for ${told}`)],
    ['answers with an error that repeats it', says(200, (message) => rpcError(message))],
    ['answers nonsense', says(200, (told) => `<html>${told}</html>`)],
    ['hangs up', (response) => response.destroy()]
  ]
  for (const [what, behaviour] of answers) {
    it(`reveals no key in an error if it ${what}`, async () => {
      endpoint.behave(behaviour)
      for (const url of urls()) {
        const error = await rpcOf(url)('eth_chainId', []).then(
          () => assert.fail('it answered'),
          (thrown: unknown) => thrown
        )
        assert.ok(!told(error).includes(KEY), told(error))
        const safe = await asking(() => Promise.reject(error)).catch((thrown: unknown) => thrown)
        assert.ok(!told(safe).includes(KEY), told(safe))
        assert.ok(!(refusal(error)?.message ?? '').includes(KEY))
      }
    })
  }

  const rpcError = (message: string) => JSON.stringify([{ jsonrpc: '2.0', id: 0, error: { code: -32000, message } }])
})

/** The texts of an error and its causes. */
function told(error: unknown): string {
  const texts: string[] = []
  for (let at = error; at instanceof Error; at = at.cause) {
    const { shortMessage = '', details = '' } = at as { shortMessage?: string; details?: string }
    texts.push(at.message, at.stack ?? '', shortMessage, details)
  }
  return texts.join('\n')
}
