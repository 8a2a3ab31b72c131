import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

interface Seen {
  readonly help: string
  readonly words: string
  readonly registered: { readonly api: { readonly protocol: string; readonly operations: readonly string[] } }
  readonly openapi: { readonly paths: Readonly<Record<string, { readonly post: { readonly requestBody: unknown } }>> }
  readonly found: { readonly listings: ReadonlyArray<{ readonly name: string; readonly protocol: string }> }
  readonly called: { readonly status: number; readonly body: unknown }
  readonly tools: string
}

const INPUT = {
  type: 'object',
  description: 'Gives a line back in capitals.',
  properties: { operation: { const: 'shout' }, line: { type: 'string' } },
  required: ['operation', 'line']
}

describe('a protocol that is a folder and a line in each list', () => {
  let seen: Seen

  before(async () => {
    const [hooks, story] = ['./register-hooks.ts', './story.ts'].map((file) => new URL(file, import.meta.url))
    const given = ['--conditions=development', '--import', hooks!.href, fileURLToPath(story!)]
    const { stdout } = await promisify(execFile)(process.execPath, given, { timeout: 50_000 })
    seen = JSON.parse(stdout) as Seen
  })

  it('is in the help and the completion of the command line', () => {
    assert.match(seen.help, /--protocol <protocol>\s+REST, SOAP, Shout or GraphQL/)
    assert.deepEqual(seen.words.split('\n').filter((word) => word.startsWith('Shout')).length, 1)
  })

  it('is registered by the admin API, found, and called', () => {
    const { protocol, operations } = seen.registered.api
    assert.deepEqual({ protocol, operations }, { protocol: 'Shout', operations: ['shout'] })
    assert.deepEqual(
      seen.found.listings.map(({ name, protocol }) => [name, protocol]),
      [['loud', 'Shout']]
    )
    assert.deepEqual([seen.called.status, seen.called.body], [200, { line: 'HELLO' }])
  })

  it('is described as OpenAPI', () => {
    const [path] = Object.values(seen.openapi.paths)
    assert.deepEqual(path?.post.requestBody, { required: true, content: { 'application/json': { schema: INPUT } } })
  })

  it('gives agents a tool for each operation', () => {
    assert.match(seen.tools, /"name":"loud_shout","title":"loud: shout"/)
    assert.match(
      seen.tools,
      /"inputSchema":\{"type":"object","properties":\{"line":\{"type":"string"\}\},"required":\["line"\]\}/
    )
  })
})
