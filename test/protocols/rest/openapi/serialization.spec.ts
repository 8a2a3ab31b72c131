import assert from 'node:assert/strict'
import { callsOf, documentOf, type Json } from './document-kit.ts'

/** What a parameter named `color` becomes: the path, the query, the header or the cookies. */
async function written(parameter: Json, value: unknown, version = '3.1.0'): Promise<string> {
  const path = parameter['in'] === 'path' ? '/a/{color}' : '/a'
  const given: Json = { name: 'color', ...(version === '2.0' ? {} : { schema: {} }), ...parameter }
  const { map } = callsOf(
    documentOf({ parameters: [{ ...given, ...(given['in'] === 'path' ? { required: true } : {}) }] }, path, version),
    { cookies: ['color'] }
  )
  const mapped = await map({ operation: 'op', color: value })
  if (given['in'] === 'header') return mapped.headers.map(([name, text]) => `${name}: ${text}`).join()
  if (given['in'] === 'cookie') return (mapped.cookies ?? []).join('; ')
  return mapped.path.replace(/^\/a/, '')
}

describe('parameters of OpenAPI', () => {
  const [text, list, object] = ['blue', ['blue', 'black', 'brown'], { R: 100, G: 200, B: 150 }]

  /** "Style Examples" of OpenAPI 3.0.4 and 3.1.1, section 4.8.12.2.4. */
  const EXAMPLES: ReadonlyArray<
    readonly [place: string, style: string, explode: boolean, ...texts: Array<string | undefined>]
  > = [
    ['path', 'matrix', false, '/;color=blue', '/;color=blue,black,brown', '/;color=R,100,G,200,B,150'],
    ['path', 'matrix', true, '/;color=blue', '/;color=blue;color=black;color=brown', '/;R=100;G=200;B=150'],
    ['path', 'label', false, '/.blue', '/.blue,black,brown', '/.R,100,G,200,B,150'],
    ['path', 'label', true, '/.blue', '/.blue.black.brown', '/.R=100.G=200.B=150'],
    ['path', 'simple', false, '/blue', '/blue,black,brown', '/R,100,G,200,B,150'],
    ['path', 'simple', true, '/blue', '/blue,black,brown', '/R=100,G=200,B=150'],
    ['header', 'simple', false, 'color: blue', 'color: blue,black,brown', 'color: R,100,G,200,B,150'],
    ['header', 'simple', true, 'color: blue', 'color: blue,black,brown', 'color: R=100,G=200,B=150'],
    ['query', 'form', false, '?color=blue', '?color=blue,black,brown', '?color=R,100,G,200,B,150'],
    ['query', 'form', true, '?color=blue', '?color=blue&color=black&color=brown', '?R=100&G=200&B=150'],
    ['query', 'spaceDelimited', false, undefined, '?color=blue%20black%20brown', '?color=R%20100%20G%20200%20B%20150'],
    ['query', 'pipeDelimited', false, undefined, '?color=blue%7Cblack%7Cbrown', '?color=R%7C100%7CG%7C200%7CB%7C150'],
    ['query', 'deepObject', true, undefined, undefined, '?color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150'],
    ['cookie', 'form', false, 'color=blue', 'color=blue,black,brown', 'color=R,100,G,200,B,150'],
    ['cookie', 'form', true, 'color=blue', 'color=blue; color=black; color=brown', 'R=100; G=200; B=150']
  ]
  for (const [place, style, explode, ...expected] of EXAMPLES) {
    for (const version of ['3.0.4', '3.1.1']) {
      it(`has ${style} in ${place}${explode ? ', exploded' : ''} as in the examples of ${version}`, async () => {
        for (const [at, value] of [text, list, object].entries()) {
          if (expected[at] === undefined) continue
          assert.equal(await written({ in: place, style, explode }, value, version), expected[at])
        }
      })
    }
  }

  const CASES: ReadonlyArray<readonly [what: string, parameter: Json, value: unknown, expected: string]> = [
    ['form, exploded, in a query by default', { in: 'query' }, list, '?color=blue&color=black&color=brown'],
    ['simple in a path by default', { in: 'path' }, object, '/R,100,G,200,B,150'],
    ['explode false for other styles by default', { in: 'query', style: 'pipeDelimited' }, ['a', 'b'], '?color=a%7Cb'],
    ['an empty string in a query', { in: 'query' }, '', '?color='],
    ['an empty string in a matrix', { in: 'path', style: 'matrix' }, '', '/;color'],
    ['null as undefined', { in: 'query' }, null, ''],
    ['an empty list as undefined', { in: 'query' }, [], ''],
    ['nulls within, left out', { in: 'query', explode: false }, ['a', null, 'b'], '?color=a,b'],
    [
      'reserved characters encoded (RFC 6570 §3.2.1)',
      { in: 'query' },
      "a/b?c=d&e !'()*",
      '?color=a%2Fb%3Fc%3Dd%26e%20%21%27%28%29%2A'
    ],
    [
      'allowReserved (RFC 6570 §3.2.3)',
      { in: 'query', allowReserved: true },
      'a/b?c=d:@é%20 "',
      '?color=a/b?c=d:@%C3%A9%20%20%22'
    ],
    [
      'allowReserved, that ends no value',
      { in: 'query', allowReserved: true },
      'a&b=1#c+d[e]',
      '?color=a%26b=1%23c%2Bd%5Be%5D'
    ],
    ['allowReserved of a list', { in: 'query', allowReserved: true, explode: false }, ['a/b', 'c'], '?color=a/b,c'],
    [
      'nested objects of deepObject',
      { in: 'query', style: 'deepObject', explode: true },
      { a: { b: { c: 1 } } },
      '?color%5Ba%5D%5Bb%5D%5Bc%5D=1'
    ],
    [
      'lists of objects in deepObject',
      { in: 'query', style: 'deepObject' },
      { i: [{ p: 1 }, { p: 2 }] },
      '?color%5Bi%5D%5B0%5D%5Bp%5D=1&color%5Bi%5D%5B1%5D%5Bp%5D=2'
    ],
    ['a list as deepObject', { in: 'query', style: 'deepObject' }, ['a', 'b'], '?color%5B0%5D=a&color%5B1%5D=b'],
    ['lists in an exploded object', { in: 'query' }, { R: [1, 2], G: 3 }, '?R=1&R=2&G=3'],
    ['objects in a list as JSON', { in: 'query' }, [{ a: 1 }], '?color=%7B%22a%22%3A1%7D'],
    [
      'content of JSON',
      { in: 'query', schema: undefined, content: { 'application/json': { schema: {} } } },
      { a: [1] },
      '?color=%7B%22a%22%3A%5B1%5D%7D'
    ],
    [
      'content of another type as text',
      { in: 'query', schema: undefined, content: { 'text/plain': { schema: {} } } },
      'a b',
      '?color=a%20b'
    ],
    [
      'content of JSON in a header',
      { in: 'header', schema: undefined, content: { 'application/json': { schema: {} } } },
      { a: 1 },
      'color: {"a":1}'
    ]
  ]
  for (const [what, parameter, value, expected] of CASES) {
    it(`has ${what}`, async () => {
      assert.equal(await written(parameter, value), expected)
    })
  }

  const LIST = { type: 'array', items: { type: 'string' } }
  const OLD: ReadonlyArray<readonly [place: string, collectionFormat: string | undefined, expected: string]> = [
    ['query', undefined, '?color=blue,black,brown'],
    ['query', 'csv', '?color=blue,black,brown'],
    ['query', 'ssv', '?color=blue%20black%20brown'],
    ['query', 'tsv', '?color=blue%09black%09brown'],
    ['query', 'pipes', '?color=blue%7Cblack%7Cbrown'],
    ['query', 'multi', '?color=blue&color=black&color=brown'],
    ['path', 'csv', '/blue,black,brown'],
    ['path', 'ssv', '/blue%20black%20brown'],
    ['path', 'tsv', '/blue%09black%09brown'],
    ['path', 'pipes', '/blue%7Cblack%7Cbrown'],
    ['header', 'csv', 'color: blue,black,brown'],
    ['header', 'ssv', 'color: blue black brown'],
    ['header', 'tsv', 'color: blue\tblack\tbrown'],
    ['header', 'pipes', 'color: blue|black|brown']
  ]
  for (const [place, collectionFormat, expected] of OLD) {
    it(`has collectionFormat ${collectionFormat} in ${place} of 2.0`, async () => {
      assert.equal(await written({ in: place, collectionFormat, ...LIST }, list, '2.0'), expected)
    })
  }

  it('sends an empty list of 2.0 as an empty value, unless it repeats the name', async () => {
    for (const collectionFormat of [undefined, 'csv', 'ssv', 'tsv', 'pipes'])
      for (const required of [false, true])
        assert.equal(await written({ in: 'query', collectionFormat, ...LIST, required }, [], '2.0'), '?color=')
    assert.equal(await written({ in: 'query', collectionFormat: 'multi', ...LIST }, [], '2.0'), '')
    assert.equal(await written({ in: 'query', ...LIST }, null, '2.0'), '')
  })

  it('nests the lists of 2.0', async () => {
    const items = { ...LIST, collectionFormat: 'csv' }
    const parameter = { in: 'query', type: 'array', collectionFormat: 'pipes', items }
    assert.equal(await written(parameter, [['a', 'b'], ['c']], '2.0'), '?color=a,b%7Cc')
  })

  it('takes a path with a query and a fragment', async () => {
    const parameters = [{ name: 'page', in: 'query', schema: {} }]
    const path = '/{a}/rides?kind={kind}&page={page}&x=1#create'
    const { map, warnings } = callsOf(documentOf({ parameters }, path))
    assert.equal((await map({ a: 'é', kind: 'k k', page: 2 })).path, '/%C3%A9/rides?kind=k%20k&x=1&page=2')
    assert.match(warnings.join('\n'), /undescribed parameter a/)
  })

  it('needs a value of a required parameter that is sent', async () => {
    const required = { required: true }
    const refused = { code: 'invalid_request', message: /"color" is required, and cannot be null or empty/ }
    const styles = [
      { in: 'query', explode: false },
      { in: 'query', style: 'deepObject' },
      { in: 'cookie', explode: false },
      { in: 'header' }
    ]
    for (const style of styles) {
      for (const empty of [[], {}, null]) await assert.rejects(written({ ...style, ...required }, empty), refused)
      assert.match(await written({ ...style }, []), /^$/)
    }
    for (const place of ['query', 'cookie']) {
      for (const empty of [[], null]) await assert.rejects(written({ in: place, ...required }, empty), refused)
      assert.equal(await written({ in: place, ...required }, {}), '', 'its members are parameters of their own')
    }
    const query = { in: 'query', ...required, schema: LIST }
    await assert.rejects(written(query, [], '3.0.3'), refused)
    assert.equal(await written({ ...query, allowEmptyValue: true }, [], '3.0.3'), '?color=')
    const repeated = { in: 'query', ...required, ...LIST, collectionFormat: 'multi' }
    await assert.rejects(written(repeated, [], '2.0'), refused)
    assert.equal(await written({ ...repeated, allowEmptyValue: true }, [], '2.0'), '?color=')
    await assert.rejects(written({ in: 'path' }, []), /"color" cannot be empty/)
    const json = { schema: undefined, content: { 'application/json': { schema: {} } } }
    assert.equal(await written({ in: 'query', ...required, ...json }, []), '?color=%5B%5D')
  })

  it('needs neither headers of the HTTP client nor what the credentials supply', async () => {
    const parameters = [
      { name: 'Content-Length', in: 'header', required: true, schema: {} },
      { name: 'X-Api-Key', in: 'header', required: true, schema: {} },
      { name: 'key', in: 'query', required: true, schema: {} },
      { name: 'sid', in: 'cookie', required: true, schema: {} }
    ]
    const supplied = { header: ['x-api-key'], query: ['key'], cookie: ['sid'] }
    const { map, description } = callsOf(documentOf({ parameters }), { supplied })
    assert.deepEqual(description.operations[0]?.input?.['properties'], {})
    const { path, headers, cookies } = await map({})
    assert.deepEqual([path, headers, cookies], ['/x', [], undefined])
    assert.throws(
      () => callsOf(documentOf({ parameters })),
      /op is left out: it needs the cookie sid.*--request-cookie/
    )
  })
})

describe('bodies of OpenAPI', () => {
  const bodyOf = async (type: string, media: Json, value: unknown, components: Json = {}) => {
    const requestBody = { required: true, content: { [type]: media } }
    const { map } = callsOf(documentOf({ requestBody }, '/x', '3.1.0', { components }))
    const { body } = await map({ operation: 'op', body: value })
    return body ?? assert.fail('no body')
  }
  const textOf = async (type: string, media: Json, value: unknown, components: Json = {}) =>
    Buffer.from((await bodyOf(type, media, value, components)).bytes).toString()
  const FORM = 'application/x-www-form-urlencoded'

  const FORMS: ReadonlyArray<readonly [what: string, encoding: Json | undefined, value: Json, expected: string]> = [
    ['repeats lists', undefined, { a: ['x y', 'z'] }, 'a=x+y&a=z'],
    ['writes objects as JSON', undefined, { a: { b: 'c d' } }, 'a=%7B%22b%22%3A%22c+d%22%7D'],
    [
      'has deepObject',
      { metadata: { style: 'deepObject', explode: true } },
      { metadata: { order: '1 2' } },
      'metadata%5Border%5D=1%202'
    ],
    [
      'has nested deepObject',
      { items: { style: 'deepObject' } },
      { items: [{ price: 'p' }] },
      'items%5B0%5D%5Bprice%5D=p'
    ],
    ['joins a list', { a: { style: 'form', explode: false } }, { a: [1, 2] }, 'a=1,2'],
    ['has pipes', { a: { style: 'pipeDelimited' } }, { a: [1, 2] }, 'a=1%7C2'],
    ['has allowReserved', { a: { allowReserved: true } }, { a: 'x/y' }, 'a=x/y'],
    ['has JSON by contentType', { a: { contentType: 'application/json' } }, { a: ['x'] }, 'a=%5B%22x%22%5D'],
    ['leaves out null', undefined, { a: null, b: '' }, 'b=']
  ]
  for (const [what, encoding, value, expected] of FORMS) {
    it(`a form ${what}`, async () => {
      const schema = { type: 'object', additionalProperties: true }
      assert.equal(await textOf(FORM, { schema, ...(encoding === undefined ? {} : { encoding }) }, value), expected)
    })
  }

  it('a form of 2.0 has its collectionFormat', async () => {
    const field = (name: string, collectionFormat?: string) => ({
      name,
      in: 'formData',
      type: 'array',
      items: { type: 'string' },
      ...(collectionFormat === undefined ? {} : { collectionFormat })
    })
    const parameters = [field('a'), field('b', 'multi'), field('c', 'pipes')]
    const { map } = callsOf(documentOf({ parameters, consumes: [FORM] }, '/x', '2.0'))
    const { body } = await map({ a: ['1', '2'], b: ['1', '2'], c: ['1', '2'] })
    assert.equal(Buffer.from(body?.bytes ?? []).toString(), 'a=1,2&b=1&b=2&c=1%7C2')
    const empty = (await map({ a: [], b: [], c: [] })).body
    assert.equal(Buffer.from(empty?.bytes ?? []).toString(), 'a=&c=')
  })

  it('multipart sends files that may be null, are composed or in lists, and parts with their type', async () => {
    const file = { type: 'string', format: 'binary' }
    const properties = {
      nullable: { anyOf: [file, { type: 'null' }] },
      composed: { allOf: [{ $ref: '#/components/schemas/File' }], description: 'd' },
      several: { type: 'array', items: { $ref: '#/components/schemas/File' } },
      image: {},
      meta: { type: 'object' },
      note: { type: 'string' }
    }
    const encoding = { image: { contentType: 'image/png, image/jpeg' }, note: { contentType: 'text/markdown' } }
    const base64 = Buffer.from([0, 255, 13]).toString('base64')
    const value = {
      nullable: base64,
      composed: base64,
      several: [base64, base64],
      image: base64,
      meta: { a: 1 },
      note: 'a\nb'
    }
    const media = { schema: { type: 'object', properties }, encoding }
    const { bytes, type } = await bodyOf('multipart/form-data', media, value, { schemas: { File: file } })
    const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData()
    for (const part of ['nullable', 'composed', 'image', 'several'].flatMap((name) => form.getAll(name))) {
      assert.deepEqual(Buffer.from(await (part as File).arrayBuffer()), Buffer.from([0, 255, 13]))
    }
    assert.equal(form.getAll('several').length, 2)
    assert.equal((form.get('image') as File).type, 'image/png')
    const text = Buffer.from(bytes).toString('latin1')
    for (const [name, part, content] of [
      ['meta', 'application/json', '{"a":1}'],
      ['note', 'text/markdown', 'a\nb']
    ]) {
      const wanted = `form-data; name="${name}"\r\nContent-Type: ${part}\r\n\r\n${content}\r\n--`
      assert.ok(text.includes(wanted), `${name} is a value, not a file`)
    }
  })

  it('multipart changes no text and takes no header from a name', async () => {
    const value = { 'a"\r\nX-Evil: 1': 'one\ntwo\r\nthree\r' }
    const { bytes, type } = await bodyOf('multipart/form-data', { schema: { type: 'object' } }, value, {})
    const [, boundary = ''] = /boundary=(\S+)$/.exec(type) ?? []
    assert.equal(
      Buffer.from(bytes).toString(),
      `--${boundary}\r\nContent-Disposition: form-data; name="a%22%0D%0AX-Evil: 1"\r\n\r\none\ntwo\r\nthree\r\r\n--${boundary}--\r\n`
    )
  })

  it('multipart of another kind has parts without names', async () => {
    const { bytes, type } = await bodyOf('multipart/mixed', { schema: { type: 'object' } }, { a: { b: 1 } }, {})
    assert.match(type, /^multipart\/mixed; boundary=/)
    assert.match(Buffer.from(bytes).toString(), /^--\S+\r\nContent-Type: application\/json\r\n\r\n\{"b":1\}\r\n--/)
  })

  it('multipart of another kind is a list of parts, each by the schema and the encoding of its position', async () => {
    const prefixItems = [{ type: 'object' }, { type: 'string', contentMediaType: 'image/png' }]
    const schema = { type: 'array', prefixItems, items: { type: 'array', items: { type: 'string' } } }
    const media = { schema, prefixEncoding: [{ contentType: 'application/merge-patch+json' }] }
    const write = async (value: unknown, more: Json = {}) => {
      const { bytes } = await bodyOf('multipart/mixed', { ...media, ...more }, value, {})
      return Buffer.from(bytes)
        .toString('latin1')
        .split(/--souk-[0-9a-f]+(?:--)?\r\n/)
        .filter((part) => part !== '')
    }
    assert.deepEqual(await write([{ a: 1 }, Buffer.from('png').toString('base64'), ['x', 'y']]), [
      'Content-Type: application/merge-patch+json\r\n\r\n{"a":1}\r\n',
      'Content-Type: image/png\r\n\r\npng\r\n',
      'Content-Type: application/json\r\n\r\n["x","y"]\r\n'
    ])
    const items = { schema: undefined, itemSchema: {}, itemEncoding: { contentType: 'text/markdown' } }
    assert.deepEqual(await write([{}, '# a', null], items), [
      'Content-Type: application/merge-patch+json\r\n\r\n{}\r\n',
      'Content-Type: text/markdown\r\n\r\n# a\r\n',
      'Content-Type: application/json\r\n\r\nnull\r\n'
    ])
    await assert.rejects(bodyOf('multipart/form-data', { schema: { type: 'array' } }, [1], {}), /must be object/)
  })

  it('XML is written by its schema', async () => {
    const schemas = {
      Pet: {
        type: 'object',
        xml: { name: 'pet', namespace: 'urn:pets', prefix: 'p' },
        properties: {
          id: { type: 'integer', xml: { attribute: true } },
          name: { type: 'string', xml: { name: 'Name' } },
          tags: {
            type: 'array',
            xml: { wrapped: true, name: 'tags' },
            items: { type: 'string', xml: { name: 'tag' } }
          },
          photo: { type: 'array', items: { type: 'string' } }
        }
      }
    }
    const schema = { $ref: '#/components/schemas/Pet' }
    const value = { id: 7, name: 'a < b', tags: ['x', 'y'], photo: ['1', '2'] }
    assert.equal(
      await textOf('application/xml', { schema }, value, { schemas }),
      '<?xml version="1.0" encoding="UTF-8"?>\n<p:pet xmlns:p="urn:pets" id="7"><Name>a &lt; b</Name>' +
        '<tags><tag>x</tag><tag>y</tag></tags><photo>1</photo><photo>2</photo></p:pet>'
    )
    await assert.rejects(textOf('application/xml', { schema: {} }, { 'a b': 1 }), /no element named/)
  })

  it('JSON lines are one text a line', async () => {
    const schema = { type: 'array', items: { type: 'object' } }
    assert.equal(await textOf('application/x-ndjson', { schema }, [{ a: 1 }, { b: 2 }]), '{"a":1}\n{"b":2}\n')
  })

  it('needs no readOnly members, and takes the branch of the discriminator', async () => {
    const schemas = {
      Dog: {
        type: 'object',
        required: ['id', 'kind', 'barks'],
        properties: { id: { type: 'integer', readOnly: true }, kind: {}, barks: { type: 'boolean' } }
      },
      Cat: {
        type: 'object',
        required: ['kind', 'lives', 'secret'],
        properties: { kind: {}, lives: { type: 'integer' }, secret: { type: 'string', writeOnly: true } }
      }
    }
    const oneOf = Object.keys(schemas).map((name) => ({ $ref: `#/components/schemas/${name}` }))
    const discriminator = { propertyName: 'kind', mapping: { dog: '#/components/schemas/Dog', cat: 'Cat' } }
    const schema = { oneOf, discriminator }
    const write = (value: Json) => textOf('application/json', { schema }, value, { schemas })
    assert.equal(await write({ kind: 'dog', barks: true, lives: 9 }), '{"kind":"dog","barks":true,"lives":9}')
    await assert.rejects(write({ kind: 'cat', barks: true }), /lives/)
    await assert.rejects(write({ kind: 'cat', lives: 9 }), /secret/)
    const responses = { 200: { description: 'ok', content: { 'application/json': { schema: oneOf[1] } } } }
    const { description } = callsOf(documentOf({ responses }, '/x', '3.1.0', { components: { schemas } }))
    const definitions = description.operations[0]?.output?.['$defs'] as Record<string, Json> | undefined
    assert.deepEqual(definitions?.['Cat']?.['required'], ['kind', 'lives'])
  })

  it('takes the branch that a discriminator maps to a name with a dot', async () => {
    const kind = { type: 'string' }
    const schemas = {
      'm.Cat': { type: 'object', required: ['kind', 'lives'], properties: { kind, lives: { type: 'integer' } } },
      'm.Dog': { type: 'object', required: ['kind', 'barks'], properties: { kind, barks: { type: 'boolean' } } }
    }
    const oneOf = Object.keys(schemas).map((name) => ({ $ref: `#/components/schemas/${name}` }))
    const schema = { oneOf, discriminator: { propertyName: 'kind', mapping: { c: 'm.Cat', d: 'm.Dog' } } }
    const write = (value: Json) => textOf('application/json', { schema }, value, { schemas })
    assert.equal(await write({ kind: 'c', lives: 9 }), '{"kind":"c","lives":9}')
    await assert.rejects(write({ kind: 'c', barks: true }), /must have the field "lives"/)
    await assert.rejects(write({ kind: 'd', lives: 9 }), /must have the field "barks"/)
  })
})
