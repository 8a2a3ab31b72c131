import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Imports an entry point and prints the packages that it loads. */
const IMPORTING = (entry: string) => `
  import { registerHooks } from 'node:module'
  const packages = new Set()
  registerHooks({
    load(url, context, next) {
      const [, name] = /\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url) ?? []
      if (name !== undefined) packages.add(name)
      return next(url, context)
    }
  })
  await import('${entry}')
  console.log([...packages].join(' '))`

async function packagesOf(entry: string): Promise<string[]> {
  const given = ['--conditions=development', '--input-type=module', '--eval', IMPORTING(entry)]
  const { stdout } = await promisify(execFile)(process.execPath, given, { cwd: import.meta.dirname })
  return stdout.trim().split(' ')
}

describe('the entry point of the library', () => {
  it('does not load the chain and PostgreSQL modules', async () => {
    const packages = await packagesOf('souk')
    assert.ok(packages.includes('libp2p'))
    const heavy = packages.filter((name) => /^(viem|ox|abitype|pg|@x402\/.*|fastify|undici|graphql)$/.test(name))
    assert.deepEqual(heavy, [])
    assert.ok((await packagesOf('souk/pay')).includes('viem'))
  })

  it('is not needed for the list of protocols: the command line and the console load data only', async () => {
    assert.deepEqual(await packagesOf('../../protocols/protocol-descriptors.ts'), [''])
  })
})
