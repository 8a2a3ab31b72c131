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

describe('a file', () => {
  const FILE = { type: 'string', format: 'binary' }
  const sent = async (type: string, schema: Json, call: Json, more: Json = {}) => {
    const requestBody = { content: { [type]: { schema, ...more } } }
    const { body } = await callsOf(documentOf({ requestBody }, '/x', '3.0.3')).map(call)
    return { type: body?.type, text: Buffer.from(body?.bytes ?? []).toString() }
  }
  const form = { type: 'object', properties: { file: FILE } }

  it('has the type and the name of its data URL', async () => {
    for (const encoding of [{}, { file: { contentType: 'audio/wav, audio/mpeg' } }]) {
      const file = 'data:audio/mpeg;name=a%20%22b.mp3;base64,YWJj'
      const { text } = await sent('multipart/form-data', form, { file }, { encoding })
      assert.match(text, /name="file"; filename="a %22b\.mp3"\r\nContent-Type: audio\/mpeg\r\n\r\nabc\r\n--/)
    }
    assert.deepEqual(await sent('image/*', FILE, { body: 'data:image/png;base64,YWJj' }), {
      type: 'image/png',
      text: 'abc'
    })
  })

  it('has the name of its field without one', async () => {
    const { text } = await sent('multipart/form-data', form, { file: 'YWJj' })
    assert.match(text, /name="file"; filename="file"\r\nContent-Type: application\/octet-stream\r\n\r\nabc\r\n--/)
  })

  it('is refused in another encoding, and adds no header', async () => {
    for (const file of ['data:text/plain,abc', 'data:text/plain;base64', 'data:;base64,a*b=', 'data:,YWJj'])
      await assert.rejects(sent('multipart/form-data', form, { file }), /"file" must be base64, or a data URL/)
    const { text } = await sent('multipart/form-data', form, { file: 'data:a/b\r\nX: 1;name=a%0D%0AX;base64,YWJj' })
    assert.doesNotMatch(text, /\nX/)
  })

  it('is sent as it is for a wildcard type', async () => {
    assert.deepEqual(await sent('image/*', FILE, { body: 'YWJj' }), { type: 'application/octet-stream', text: 'abc' })
    assert.deepEqual(await sent('*/*', FILE, { body: 'YWJj' }), { type: 'application/octet-stream', text: 'abc' })
    assert.deepEqual(await sent('text/*', { type: 'string' }, { body: 'abc' }), { type: 'text/plain', text: 'abc' })
    assert.deepEqual(await sent('*/*', { type: 'string' }, { body: 'abc' }), {
      type: 'application/json',
      text: '"abc"'
    })
  })
})
