import assert from 'node:assert/strict'
import { outlineOpenapi } from '../../../../protocols/rest/openapi/openapi-outline.ts'
import { assertCpuBelow } from '../../../helpers/cpu-time.ts'
import { callsOf, documentOf } from './document-kit.ts'

describe('a server whose address has parts in braces', () => {
  /** Two operations, one of them at a server of its own. */
  const document = (url: string) => {
    const operation = { operationId: 'far', servers: [{ url }], responses: { 200: { description: 'ok' } } }
    const whole = documentOf({}, '/x', '3.0.3', { servers: [{ url: 'https://api.example/v1' }] })
    return { ...whole, paths: { ...(whole['paths'] as object), '/far': { get: operation } } }
  }
  const serverOf = async (url: string, ...origins: string[]) =>
    (await callsOf(document(url), { origins }).map({ operation: 'far' })).server

  it('is the confirmed one that it stands for', async () => {
    const origins = ['https://other.example', 'https://eu.sentry.example', 'https://a.b.sentry.example']
    assert.equal(await serverOf('https://{region}.sentry.example/v2', ...origins), 'https://eu.sentry.example/v2')
    assert.equal(
      await serverOf('https://{r}-1.example:8443', 'https://eu-1.example:8443'),
      'https://eu-1.example:8443/'
    )
  })

  it('is left out with what to do if none or several are confirmed', () => {
    for (const origins of [
      [],
      ['https://sentry.example', 'http://eu.sentry.example', 'https://.sentry.example', 'https://eu.sentry.example:1'],
      ['https://eu.sentry.example', 'https://us.sentry.example']
    ]) {
      const { warnings } = callsOf(document('https://{region}.sentry.example'), { origins })
      assert.deepEqual(warnings, [
        'The operation far is left out: it is served at https://{region}.sentry.example, and the document has no default for the part in braces; confirm the address of exactly one such server with --server.'
      ])
    }
  })

  it('is not that of all operations if it is the only one that the document states', () => {
    const { paths, ...whole } = document('https://files.example/v1')
    const of = (some: object) => callsOf({ ...whole, servers: [], paths: some }).warnings
    assert.match(String(of(paths)), /far is left out: it is served at https:\/\/files\.example; confirm/)
    assert.deepEqual(of({ '/far': paths['/far'] }), [])
  })

  it('is no path if it is all in braces', () => {
    for (const url of ['{siteUrl}', '{{baseUrl}}/v2']) {
      const whole = documentOf({}, '/x', '3.0.3', { servers: [{ url }] })
      assert.deepEqual(callsOf(whole).warnings, [])
      assert.deepEqual(outlineOpenapi({ text: JSON.stringify(whole) }).servers, [])
    }
  })

  it('is compared in time in proportion to its length', () =>
    assertCpuBelow(2_000, () => {
      const url = `https://${'{a}'.repeat(20_000)}.${'{b}.'.repeat(20_000)}example`
      callsOf(document(url), { origins: [`https://${'a'.repeat(60)}.${'b.'.repeat(100)}example`] })
    }))
})

describe('a server without a scheme', () => {
  const document = (url: string) => {
    const whole = documentOf({}, '/x', '3.0.3', { servers: [{ url: '//api.example/v1' }] })
    const far = { operationId: 'far', servers: [{ url }], responses: { 200: { description: 'ok' } } }
    return { ...whole, paths: { ...(whole['paths'] as object), '/far': { get: far } } }
  }
  const serverOf = async (url: string, ...origins: string[]) =>
    (await callsOf(document(url), { origins }).map({ operation: 'far' })).server

  it('of a file is proposed with https', () => {
    const text = JSON.stringify(document('https://files.example'))
    const proposed = ['https://api.example/v1', 'http://api.example/v1', 'https://files.example/']
    assert.deepEqual(outlineOpenapi({ text }).servers, proposed)
  })

  it('is the confirmed one, whatever its scheme', async () => {
    for (const scheme of ['http', 'https']) {
      assert.equal(await serverOf('//files.example/v2', `${scheme}://files.example`), `${scheme}://files.example/v2`)
    }
  })

  it('is the endpoint where the document places all operations', async () => {
    assert.equal(await serverOf('//api.example/v1'), undefined)
  })
})

describe('an operation at several servers', () => {
  it('is left out with a line that names each', () => {
    const servers = ['https://eu.example/a', 'https://us.example', 'https://eu.example/b'].map((url) => ({ url }))
    const more = { servers: [{ url: 'https://api.example/v1' }] }
    const { paths, ...document } = documentOf({}, '/x', '3.0.3', more)
    const far = { get: { operationId: 'far', servers, responses: { 200: { description: 'ok' } } } }
    assert.deepEqual(callsOf({ ...document, paths: { ...(paths as object), '/far': far } }).warnings, [
      'The operation far is left out: it is served at https://eu.example or https://us.example; confirm one of these addresses with --server, so that it may get the credentials.'
    ])
  })
})
