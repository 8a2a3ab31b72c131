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

describe('a body that is a file', () => {
  const BODY = { body: 'YWJj' }
  const sent = async (types: readonly string[], schema: Json, call: Json = BODY) => {
    const content = Object.fromEntries(types.map((type) => [type, { schema }]))
    const { body } = await callsOf(documentOf({ requestBody: { content } }, '/x', '3.0.3')).map(call)
    return [body?.type, Buffer.from(body?.bytes ?? []).toString()]
  }
  const sentBy2 = async (consumes: readonly string[], schema: Json, call: Json = BODY) => {
    const parameters = [{ in: 'body', name: 'image', required: true, schema }]
    const { body } = await callsOf(documentOf({ consumes, parameters }, '/x', '2.0')).map(call)
    return [body?.type, Buffer.from(body?.bytes ?? []).toString()]
  }
  const LIKE_A_FILE = [
    { type: 'string', format: 'binary' },
    { type: 'object', format: 'file' },
    { type: 'object', format: 'binary' },
    { type: 'string', format: 'file' },
    { type: 'file' }
  ]

  for (const schema of LIKE_A_FILE) {
    it(`is sent as bytes, also where the document lists JSON: ${JSON.stringify(schema)}`, async () => {
      for (const send of [sent, sentBy2]) {
        assert.deepEqual(await send(['application/octet-stream'], schema), ['application/octet-stream', 'abc'])
        const types = ['application/json', 'image/png', 'application/octet-stream', 'text/plain']
        assert.deepEqual(await send(types, schema), ['application/octet-stream', 'abc'])
        assert.deepEqual(await send(['application/json', 'image/png'], schema), ['image/png', 'abc'])
      }
    })
  }

  it('may be an object in JSON where the document says so', async () => {
    const schema = { oneOf: [{ type: 'object' }, { type: 'string', format: 'binary' }] }
    const types = ['application/octet-stream', 'application/json']
    assert.deepEqual(await sent(types, schema, { body: { a: 1 } }), ['application/json', '{"a":1}'])
  })

  it('has the type of its data URL where the document lists several', async () => {
    const types = ['application/pdf', 'application/json', 'image/png']
    const body = 'data:image/png;base64,YWJj'
    assert.deepEqual(await sentBy2(types, { type: 'object', format: 'file' }, { body }), ['image/png', 'abc'])
  })

  it('is given as bytes where its type has no form for an object', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } }
    for (const send of [sent, sentBy2])
      assert.deepEqual(await send(['application/x-protobuf'], schema), ['application/x-protobuf', 'abc'])
  })
})

describe('a JSON body', () => {
  const sent = async (content: Json, call: Json = { name: 'x' }) => {
    const { body } = await callsOf(documentOf({ requestBody: { content } })).map(call)
    return body?.type
  }
  const sentBy2 = async (consumes: readonly string[]) => {
    const parameters = [{ in: 'body', name: 'body', schema: { type: 'object' } }]
    return (await callsOf(documentOf({ consumes, parameters }, '/x', '2.0')).map({ body: { a: 1 } })).body?.type
  }
  const of = (...types: string[]) =>
    Object.fromEntries(types.map((type) => [type, { schema: { type: 'object', properties: { name: {} } } }]))

  it('is sent as application/json where the document lists other types first', async () => {
    const types = ['application/json-patch+json', 'application/vnd.a+json', 'application/json', 'text/json']
    assert.equal(await sent(of(...types)), 'application/json')
    assert.equal(await sentBy2(types), 'application/json')
  })

  it('is a JSON Patch only where the document has no other JSON type', async () => {
    const kubernetes = ['application/json-patch+json', 'application/merge-patch+json', 'application/apply-patch+yaml']
    assert.equal(await sent(of(...kubernetes)), 'application/merge-patch+json')
    assert.equal(await sentBy2(kubernetes), 'application/merge-patch+json')
    assert.equal(await sent(of('application/json-patch+json')), 'application/json-patch+json')
  })

  it('keeps the parameters of its type, and no others', async () => {
    assert.equal(await sent(of('application/json; v=2.0')), 'application/json; v=2.0')
    assert.equal(await sent(of('Application/JSON;odata="a b";charset=latin1;q=0.5')), 'application/json; odata="a b"')
    assert.equal(await sentBy2(['application/vnd.a+json;version=1']), 'application/vnd.a+json; version=1')
    for (const bad of ['application/json; v', 'application/json; v=2\r\nX: 1', 'application/json; v="é"'])
      assert.equal(await sent(of(bad)), 'application/json')
    assert.equal(await sent(of('application/x-www-form-urlencoded; v=2')), 'application/x-www-form-urlencoded')
  })
})

describe('a body of text', () => {
  const sent = async (type: string, schema: Json, call: Json) => {
    const { body } = await callsOf(documentOf({ requestBody: { content: { [type]: { schema } } } })).map(call)
    return [body?.type, Buffer.from(body?.bytes ?? []).toString()]
  }

  for (const type of ['application/secevent+jwt', 'application/jwt', 'application/toml', 'application/x-pem-file']) {
    it(`is sent as it is for ${type}`, async () => {
      assert.deepEqual(await sent(type, { type: 'string' }, { body: 'a.b-c' }), [type, 'a.b-c'])
    })
  }

  it('is base64 for a type of bytes', async () => {
    await assert.rejects(sent('application/zip', { type: 'string' }, { body: 'a.b-c' }), /"body" must be base64/)
    assert.deepEqual(await sent('application/zip', { type: 'string' }, { body: 'YWJj' }), ['application/zip', 'abc'])
  })

  for (const type of ['application/yaml', 'text/x-yaml', 'application/apply-patch+yaml']) {
    it(`may be an object for ${type}, because JSON is YAML`, async () => {
      const schema = { type: 'object', properties: { a: { type: 'integer' } } }
      assert.deepEqual(await sent(type, schema, { a: 1 }), [type, '{"a":1}'])
      await assert.rejects(sent(type, schema, { a: 'x' }), { code: 'invalid_request' })
      assert.deepEqual(await sent(type, { type: 'string' }, { body: 'a: 1\n' }), [type, 'a: 1\n'])
    })
  }
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

describe('a multipart body whose schema is that of one part', () => {
  const FILE = { type: 'string', format: 'binary' }
  const multipart = 'multipart/form-data'
  const formOf = async (document: Json, call: Json) => {
    const { map, description } = callsOf(document)
    const { body } = await map(call)
    const headers = { 'content-type': body?.type ?? '' }
    const form = await new Response(new Uint8Array(body?.bytes ?? []), { headers }).formData()
    const texts = await Promise.all(
      [...form].map(async ([name, one]) => `${name}=${typeof one === 'string' ? one : await one.text()}`)
    )
    return { texts, input: description.operations[0]?.input }
  }
  const by2 = (schema: Json, consumes = [multipart]) => {
    const parameters = [{ in: 'body', name: 'image', required: true, schema }]
    return documentOf({ consumes, parameters }, '/x', '2.0')
  }
  const by3 = (schema: Json, types = [multipart]) => {
    const content = Object.fromEntries(types.map((type) => [type, { schema }]))
    return documentOf({ requestBody: { required: true, content } }, '/x', '3.0.3')
  }

  it('has one part with the name of the parameter in 2.0', async () => {
    for (const consumes of [[multipart], ['application/json', multipart]]) {
      for (const schema of [FILE, { type: 'file' }, { type: 'object', format: 'file' }]) {
        const { texts, input } = await formOf(by2(schema, consumes), { image: 'YWJj' })
        assert.deepEqual(texts, ['image=abc'])
        assert.deepEqual(input?.['properties'], { image: FILE })
        assert.deepEqual(input?.['required'], ['image'])
      }
    }
    assert.deepEqual((await formOf(by2({ type: 'string' }), { image: 'YWJj' })).texts, ['image=YWJj'])
  })

  it('has parts of any name in 3', async () => {
    for (const types of [[multipart], ['application/json', multipart]]) {
      const { texts } = await formOf(by3(FILE, types), { photo: 'YWJj' })
      assert.deepEqual(texts, ['photo=abc'])
    }
    const several = await formOf(by3({ type: 'array', items: FILE }), { photo: ['YWJj', 'ZGVm'] })
    assert.deepEqual(several.texts, ['photo=abc', 'photo=def'])
    await assert.rejects(formOf(by3(FILE), {}), { code: 'invalid_request' })
  })

  it('sends files of any name as bytes', async () => {
    const map = { type: 'object', additionalProperties: FILE }
    assert.deepEqual((await formOf(by3(map), { a: 'YWJj' })).texts, ['a=abc'])
    assert.deepEqual((await formOf(by3(map, ['application/json', multipart]), { a: 'YWJj' })).texts, ['a=abc'])
  })

  it('is the text itself in a form that is a string', async () => {
    const content = { 'application/x-www-form-urlencoded': { schema: { type: 'string' } } }
    const { body } = await callsOf(documentOf({ requestBody: { content } })).map({ body: 'a=1&b=%20' })
    assert.equal(Buffer.from(body?.bytes ?? []).toString(), 'a=1&b=%20')
  })
})
