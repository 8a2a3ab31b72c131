import assert from 'node:assert/strict'
import { isSoukError } from '../../lib/base/errors.ts'
import { protocolDescriptors, protocolFactories } from '../../protocols/index.ts'

describe('the registry of protocols', () => {
  it('has a factory for every protocol, under its own name', async () => {
    const names = protocolDescriptors.map(({ name }) => name)
    assert.deepEqual(Object.keys(protocolFactories).sort(), names.toSorted())
    for (const [name, load] of Object.entries(protocolFactories)) assert.equal((await load()).protocol, name)
  })

  it('says of a protocol only what its factory can do', async () => {
    for (const descriptor of protocolDescriptors) {
      const { mapping } = await protocolFactories[descriptor.name]()
      assert.equal('hasMapping' in descriptor, mapping !== undefined, descriptor.name)
    }
  })

  for (const [member, config] of [
    ['wsdl', { wsdl: { files: {} } }],
    ['auth.username_token', { auth: { usernameToken: { username: 'u', password: 'secret' } } }],
    ['auth.soap_headers', { auth: { soapHeaders: { Token: 'secret' } } }]
  ] as const) {
    for (const name of ['REST', 'GraphQL'] as const) {
      it(`rejects ${member} for a ${name} API, before any request`, async () => {
        const given = { endpoint: 'http://127.0.0.1:1/', ...config }
        const factory = await protocolFactories[name]()
        await assert.rejects(factory.inspect(given, new AbortController().signal), (error: Error) => {
          assert.match(error.message, new RegExp(`^${member} is only for SOAP APIs.* ${name}\\.$`))
          return isSoukError(error) && error.code === 'invalid_request'
        })
      })
    }
  }
})
