import assert from 'node:assert/strict'
import { callsOf, documentOf } from './document-kit.ts'

describe('a path as routers write it', () => {
  const called = async (path: string, value: unknown, name = 'rest') => {
    const parameters = [{ in: 'path', name, required: true, schema: { type: 'string' } }]
    const { map, warnings } = callsOf(documentOf({ parameters }, path))
    assert.deepEqual(warnings, [])
    return (await map({ [name]: value })).path
  }

  for (const path of ['/a/{rest+}', '/a/{+rest}', '/a/{*rest}', '/a/{**rest}', '/a/{rest*}', '/a/{*rest:nonfile}']) {
    it(`lets the parameter of ${path} have several segments`, async () => {
      assert.equal(await called(path, 'b c/d?e'), '/a/b%20c/d%3Fe')
      assert.equal(await called(path, 'b'), '/a/b')
    })
  }

  for (const [version, mark] of [
    ['2.0', 'x-ms-skip-url-encoding'],
    ['3.2.0', 'allowReserved']
  ] as const) {
    it(`lets a parameter with ${mark} have several segments, and reserved characters in a query`, async () => {
      const parameters = ['path', 'query'].map((place) => {
        const type = version === '2.0' ? { type: 'string' } : { schema: { type: 'string' } }
        return { in: place, name: place, required: true, ...type, [mark]: true }
      })
      const { map } = callsOf(documentOf({ parameters }, '/{path}/b', version))
      assert.equal((await map({ path: 'subscriptions/1', query: 'a/b?c' })).path, '/subscriptions/1/b?query=a/b?c')
      await assert.rejects(map({ path: '../1', query: '' }), /cannot be empty or consist of dots/)
    })
  }

  it('keeps dot segments and empty segments out of them', async () => {
    for (const value of ['', '/', '/b', 'b/', 'b//c', '../b', 'b/./c', 'b/..'])
      await assert.rejects(called('/a/{rest+}', value), /"rest" cannot be empty or consist of dots/)
    assert.equal(await called('/a/{rest+}', '%2e%2e/b'), '/a/%252e%252e/b')
    await assert.rejects(called('/a/{rest+}', 'b/'.repeat(100_000) + 'c'), { code: 'request_too_large' })
  })

  it('knows a parameter with a pattern or a question mark by its name', async () => {
    assert.equal(await called('/a/{id:[0-9]+}/b', '7/8', 'id'), '/a/7%2F8/b')
    assert.equal(await called('/a/{id?}', '7', 'id'), '/a/7')
  })

  it('keeps the name that the document describes, or that nothing describes', async () => {
    assert.equal(await called('/a/{rest+}', 'b/c', 'rest+'), '/a/b%2Fc')
    const { map, warnings } = callsOf(documentOf({}, '/a/{rest+}'))
    assert.match(warnings.join(), /undescribed parameter rest\+/)
    assert.equal((await map({ 'rest+': 'b' })).path, '/a/b')
  })
})
