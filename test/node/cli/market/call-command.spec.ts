import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { main } from '../../../../node/cli/program.ts'
import { type SoukHome, soukHome } from '../../../helpers/souk-home.ts'
import { testTerminal } from '../../../helpers/test-terminal.ts'

/** Sets the title of the window by OSC, clears the screen by CSI in one character, and returns to the start of the line. */
const HOSTILE = '{"é": "\u001b]0;owned\u0007 \u009b2J 200 OK\rovertyped"}\r\n'

const PICTURE = Buffer.from('89504e470d0a1a0aff00', 'hex')

describe('souk call', () => {
  let home: SoukHome
  let api: Server
  let endpoint: string

  before(async () => {
    home = await soukHome()
    api = createServer((request, response) => {
      if (request.method === 'POST' && request.url === '/echo') {
        response.setHeader('content-type', 'application/json')
        request.pipe(response)
        return
      }
      if (request.url === '/picture') {
        response.setHeader('content-type', 'image/png')
        response.end(PICTURE)
        return
      }
      response.setHeader('content-type', 'text/plain; charset=utf-8')
      // A character may arrive in two parts.
      for (const byte of Buffer.from(HOSTILE)) response.write(Buffer.of(byte))
      response.end()
    }).listen(0, '127.0.0.1')
    await once(api, 'listening')
    await home.up('default', '--no-ingress')
    const { port } = api.address() as AddressInfo
    endpoint = `http://127.0.0.1:${port}`
    for (const [name, path] of [
      ['hostile', '/'],
      ['echo', '/echo'],
      ['picture', '/picture']
    ]) {
      const { code, stderr } = await home.run(
        `api register --name ${name} --protocol REST --endpoint ${endpoint}${path} --price 0`
      )
      assert.equal(code, 0, stderr)
    }
  })
  after(async () => {
    await home?.close()
    api?.close()
  })

  const call = async (isTerminal: boolean, ...flags: string[]) => {
    const terminal = testTerminal({ env: { SOUK_HOME: home.directory }, isTerminal })
    assert.equal(await main([...flags, 'call', 'hostile'], terminal), 0, terminal.stderr())
    return terminal.stdout()
  }

  it('shows a response without the controls that would command a terminal', async () => {
    assert.equal(await call(true), '{"é": "\ufffd]0;owned\ufffd \ufffd2J 200 OKovertyped"}\n')
  })

  it('gives a pipe or a file the bytes of the API', async () => {
    assert.equal(await call(false), HOSTILE)
  })

  it('escapes all controls in JSON', async () => {
    const printed = await call(true, '--json')
    assert.doesNotMatch(printed.trimEnd(), /\p{Cc}/u)
    assert.equal((JSON.parse(printed) as { body: string }).body, HOSTILE)
  })

  it('gives bytes that are no text as base64 in JSON', async () => {
    const { code, stdout } = await home.run('--json call picture')
    assert.equal(code, 0)
    const { body, body_base64 } = JSON.parse(stdout) as { body?: unknown; body_base64?: string }
    assert.deepEqual([body, Buffer.from(body_base64 ?? '', 'base64')], [undefined, PICTURE])
  })

  it('keeps the digits of numbers, in the request and in the response', async () => {
    const exact = '{"account":12345678901234567890,"amount":1.10}'
    const run = async (...words: string[]) => {
      const terminal = testTerminal({ env: { SOUK_HOME: home.directory } })
      assert.equal(await main(words, terminal), 0, terminal.stderr())
      return terminal.stdout().trimEnd()
    }
    assert.equal(await run('call', 'echo', exact), exact)
    assert.ok((await run('--json', 'call', 'echo', exact)).includes(`"body":${exact}`))
    const check = ['api', 'check', '--protocol', 'REST', '--endpoint', `${endpoint}/echo`, '--call', exact]
    assert.equal(await run(...check), exact)
  })
})
