import assert from 'node:assert/strict'
import { callsOf, documentOf, type Json } from './document-kit.ts'

describe('a body of several media types', () => {
  const typeOf = async (file: Json, schemas: Json = {}) => {
    const media = { schema: { type: 'object', properties: { name: { type: 'string' }, file } } }
    const content = { 'application/json': media, 'multipart/form-data': media }
    const { map } = callsOf(documentOf({ requestBody: { content } }, '/x', '3.1.0', { components: { schemas } }))
    return (await map({ name: 'x' })).body?.type.split(';')[0]
  }
  const FILE = { type: 'string', format: 'binary' }
  const LOOP = { anyOf: [{ $ref: '#/components/schemas/Self' }] }

  it('is multipart if it has a file', async () => {
    assert.equal(await typeOf(FILE), 'multipart/form-data')
    assert.equal(await typeOf({ $ref: '#/components/schemas/File' }, { File: FILE }), 'multipart/form-data')
    assert.equal(await typeOf({ anyOf: [{ type: 'array', items: FILE }, { type: 'null' }] }), 'multipart/form-data')
  })

  it('is JSON if it has none', async () => {
    assert.equal(await typeOf({ type: 'object', properties: { inner: FILE } }), 'application/json')
    assert.equal(await typeOf({ anyOf: [{ $ref: '#/components/schemas/Self' }] }, { Self: LOOP }), 'application/json')
    assert.equal(await typeOf({ $ref: '#/components/schemas/Lost' }), 'application/json')
  })
})
